package pdf

import (
	"strconv"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
)

// Bounds on a structure tree: a damaged one may be deep or go in a circle.
const (
	maxElements = 20_000
	maxDepth    = 60
)

// role is what a tagged document says that a piece of its content is.
type role uint8

const (
	plain role = iota // it is shown as it looks
	heading
	entry // of a list
	cell
)

// tag is the role of marked content and the element that it is part of
// (ISO 32000-1, 14.8.4): pieces of one
// heading, entry or cell share the number.
type tag struct {
	role         role
	element      int // from 1; 0 means that there is no tag
	level        int // of a heading from 1, of a list from 0
	table        int // number of the cell's table from 1
	row, column  int // of the cell
	across, down int
	alt          string // of a figure
}

// tags are those of a page by the number of the marked content.
type tags struct {
	of       map[int]tag
	headings bool // some content is tagged as a heading
	tables   int
	figures  bool // some content is a picture with an alternate text
}

// tags reads the roles that a page's structure tree gives to its content.
func (d *document) tags(page requests.Page) tags {
	t := tags{of: map[int]tag{}}
	if !d.tagged {
		return t
	}
	tree, err := d.FPDF_StructTree_GetForPage(&requests.FPDF_StructTree_GetForPage{Page: page})
	if err != nil {
		return t
	}
	defer func() {
		_, _ = d.FPDF_StructTree_Close(&requests.FPDF_StructTree_Close{StructTree: tree.StructTree})
	}()
	n, err := d.FPDF_StructTree_CountChildren(&requests.FPDF_StructTree_CountChildren{StructTree: tree.StructTree})
	if err != nil {
		return t
	}
	w := walk{document: d, tags: &t}
	for i := range n.Count {
		child, err := d.FPDF_StructTree_GetChildAtIndex(&requests.FPDF_StructTree_GetChildAtIndex{StructTree: tree.StructTree, Index: i})
		if err == nil {
			w.element(child.StructElement, tag{}, 0)
		}
	}
	return t
}

// walk goes through a structure tree. row and column are those of the table
// it stands in, section how deep in sections it is.
type walk struct {
	*document
	tags        *tags
	seen        int
	lists       int
	section     int
	row, column int
	filled      map[[2]int]bool // places in the table taken by cells from above
}

// element notes what stands below an element; in is the tag of what it
// stands in.
func (w *walk) element(e references.FPDF_STRUCTELEMENT, in tag, depth int) {
	w.seen++
	if e == "" || depth > maxDepth || w.seen > maxElements {
		return
	}
	kind := ""
	if t, err := w.FPDF_StructElement_GetType(&requests.FPDF_StructElement_GetType{StructElement: e}); err == nil {
		kind = t.Type
	}
	switch kind {
	case "H", "H1", "H2", "H3", "H4", "H5", "H6":
		level := min(max(w.section, 1), 6)
		if len(kind) > 1 {
			level, _ = strconv.Atoi(kind[1:])
		}
		w.tags.headings = true
		in = tag{role: heading, element: w.seen, level: level, table: in.table, row: in.row, column: in.column}
		if in.table > 0 {
			in.role = cell
		}
	case "Sect":
		w.section++
		defer func() { w.section-- }()
	case "L":
		w.lists++
		defer func() { w.lists-- }()
	case "LI":
		if in.role != cell {
			in = tag{role: entry, element: w.seen, level: max(w.lists-1, 0)}
		}
	case "Table":
		if in.role == cell {
			break // a table in a cell is text of the cell
		}
		row, column, filled := w.row, w.column, w.filled
		defer func() { w.row, w.column, w.filled = row, column, filled }()
		w.tags.tables++
		w.row, w.filled = -1, map[[2]int]bool{}
		in = tag{table: w.tags.tables}
	case "TR":
		if in.role != cell {
			w.row, w.column = w.row+1, 0
		}
	case "TH", "TD":
		if in.role != cell && in.table > 0 && w.row >= 0 {
			in = w.cell(e, in.table)
		}
	case "Figure":
		if alt, err := w.FPDF_StructElement_GetAltText(&requests.FPDF_StructElement_GetAltText{StructElement: e}); err == nil && alt.AltText != "" {
			in.alt, in.element, w.tags.figures = alt.AltText, w.seen, true
		}
	}
	w.children(e, in, depth)
}

func (w *walk) children(e references.FPDF_STRUCTELEMENT, in tag, depth int) {
	n, err := w.FPDF_StructElement_CountChildren(&requests.FPDF_StructElement_CountChildren{StructElement: e})
	if err != nil {
		return
	}
	for i := range n.Count {
		if id, err := w.FPDF_StructElement_GetChildMarkedContentID(&requests.FPDF_StructElement_GetChildMarkedContentID{StructElement: e, Index: i}); err == nil {
			if in.role != plain || in.alt != "" {
				w.tags.of[id.ChildMarkedContentID] = in
			}
			continue
		}
		child, err := w.FPDF_StructElement_GetChildAtIndex(&requests.FPDF_StructElement_GetChildAtIndex{StructElement: e, Index: i})
		if err == nil {
			w.element(child.StructElement, in, depth+1)
		}
	}
}

// cell returns the tag of the next cell of a row, past those that reach into
// the row from above.
func (w *walk) cell(e references.FPDF_STRUCTELEMENT, table int) tag {
	for w.filled[[2]int{w.row, w.column}] {
		w.column++
	}
	across, down := w.spans(e)
	for r := range down {
		for c := range across {
			w.filled[[2]int{w.row + r, w.column + c}] = true
		}
	}
	t := tag{role: cell, element: w.seen, table: table, row: w.row, column: w.column, across: across, down: down}
	w.column += across
	return t
}

// spans reads how many columns and rows a cell covers.
func (w *walk) spans(e references.FPDF_STRUCTELEMENT) (across, down int) {
	across, down = 1, 1
	n, err := w.FPDF_StructElement_GetAttributeCount(&requests.FPDF_StructElement_GetAttributeCount{StructElement: e})
	if err != nil {
		return across, down
	}
	for i := range min(n.Count, 8) {
		a, err := w.FPDF_StructElement_GetAttributeAtIndex(&requests.FPDF_StructElement_GetAttributeAtIndex{StructElement: e, Index: i})
		if err != nil {
			continue
		}
		number := func(name string, into *int) {
			v, err := w.FPDF_StructElement_Attr_GetValue(&requests.FPDF_StructElement_Attr_GetValue{StructElementAttribute: a.StructElementAttribute, Name: name})
			if err != nil {
				return
			}
			f, err := w.FPDF_StructElement_Attr_GetNumberValue(&requests.FPDF_StructElement_Attr_GetNumberValue{StructElementAttributeValue: v.StructElementAttributeValue})
			if err == nil && f.Value >= 1 && f.Value <= 100 {
				*into = int(f.Value)
			}
		}
		number("ColSpan", &across)
		number("RowSpan", &down)
	}
	return across, down
}

// tagAt returns the tag of the content that a character is part of.
func (d *document) tagAt(page references.FPDF_TEXTPAGE, index int, t tags) tag {
	if len(t.of) == 0 {
		return tag{}
	}
	obj, err := d.FPDFText_GetTextObject(&requests.FPDFText_GetTextObject{TextPage: page, Index: index})
	if err != nil {
		return tag{}
	}
	id, err := d.FPDFPageObj_GetMarkedContentID(&requests.FPDFPageObj_GetMarkedContentID{PageObject: obj.TextObject})
	if err != nil {
		return tag{}
	}
	return t.of[id.MarkedContentID]
}

// figures returns the pictures of a page that have an alternate text.
func (d *document) figures(page requests.Page, degrees int, t tags) []segment {
	if !t.figures {
		return nil
	}
	n, err := d.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return nil
	}
	seen := map[int]bool{}
	var out []segment
	for i := range min(n.Count, maxObjects) {
		obj, err := d.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			continue
		}
		id, err := d.FPDFPageObj_GetMarkedContentID(&requests.FPDFPageObj_GetMarkedContentID{PageObject: obj.PageObject})
		if err != nil {
			continue
		}
		in := t.of[id.MarkedContentID]
		b, err := d.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: obj.PageObject})
		if err != nil || in.alt == "" || seen[in.element] {
			continue
		}
		seen[in.element] = true
		c := turned(responses.CharPosition{Left: float64(b.Left), Right: float64(b.Right), Top: float64(b.Top), Bottom: float64(b.Bottom)}, degrees, 0, 0)
		out = append(out, segment{
			grid: &grid{alt: in.alt}, left: c.left, right: c.right, top: c.top, bottom: c.bottom, base: c.top + 1, size: 1, chars: 1,
		})
	}
	return out
}
