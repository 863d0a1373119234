package slides

import (
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// maxShapes bounds the objects of a slide.
const maxShapes = 20_000

// shape is an object on a slide: a text, a table, a picture, or a frame around
// a chart or diagram.
type shape struct {
	holder  holder
	levels  levels // how it lists its texts
	paras   []para
	rows    [][][]para // of a table
	alt     string     // of a picture
	chart   string     // relation to its part
	diagram string
}

// holder is the place of a layout that a shape fills.
type holder struct {
	is         bool
	kind, slot string
}

func (s *shape) titled() bool { return s.holder.kind == "title" || s.holder.kind == "ctrTitle" }

func (s *shape) blank() bool {
	for _, p := range s.paras {
		if !p.text.Blank() {
			return false
		}
	}
	return true
}

// furniture says whether a shape is what every slide repeats.
func (s *shape) furniture() bool {
	switch s.holder.kind {
	case "dt", "ftr", "hdr", "sldNum":
		return true
	}
	return false
}

// shapes reads the objects of a part. Those of groups stand in their order.
func (d *deck) shapes(part string, rels map[string]pack.Relation) ([]*shape, error) {
	r := &reader{rels: rels}
	err := d.pkg.Scan(part, func(s *xmlscan.Scanner) error {
		r.s = s
		if err := d.ctx.Err(); err != nil {
			return err
		}
		if len(r.shapes) > maxShapes {
			return pack.Damaged(errShapes)
		}
		return r.object()
	})
	return r.shapes, err
}

// reader reads shapes and what is in them.
type reader struct {
	s      *xmlscan.Scanner
	rels   map[string]pack.Relation
	shapes []*shape
	taken  []taken // alternatives that were chosen
}

// taken is an alternative by the depth it stands at, and how many shapes there
// were before it.
type taken struct{ depth, shapes int }

// object reads the element whose start tag was just given if it is an object;
// what it does not know is read into.
func (r *reader) object() error {
	switch r.s.Name() {
	case "sp", "pic", "graphicFrame", "cxnSp":
		return r.shape()
	case "Choice":
		r.taken = append(r.taken, taken{r.s.Depth(), len(r.shapes)})
	case "Fallback":
		// Only if the alternative before it held nothing that is known.
		for i := len(r.taken) - 1; i >= 0; i-- {
			if r.taken[i].depth == r.s.Depth() {
				if r.taken[i].shapes < len(r.shapes) {
					return r.s.Skip()
				}
				break
			}
		}
	case "timing", "transition", "extLst", "bg", "clrMapOvr", "custDataLst":
		return r.s.Skip()
	}
	return nil
}

func (r *reader) shape() error {
	s := &shape{}
	picture := r.s.Is("pic")
	hidden := false
	err := r.s.Each(func() error {
		switch r.s.Name() {
		case "cNvPr":
			hidden = hidden || r.s.Attr("hidden") == "1" || r.s.Attr("hidden") == "true"
			if picture {
				s.alt = strings.TrimSpace(r.s.Attr("descr"))
			}
		case "ph":
			s.holder = holder{true, r.s.Attr("type"), r.s.Attr("idx")}
		case "lstStyle":
			return r.levels(&s.levels)
		case "p":
			p, err := r.para()
			s.paras = append(s.paras, p)
			return err
		case "tbl":
			return r.table(s)
		case "chart":
			s.chart = r.s.Prefixed("id")
		case "relIds":
			s.diagram = r.s.Attr("dm")
		case "pic": // the picture of an embedded object
			picture = true
		case "spPr", "style", "xfrm", "bodyPr", "extLst", "tblPr", "tblGrid":
			return r.s.Skip()
		}
		return nil
	})
	if !hidden {
		r.shapes = append(r.shapes, s)
	}
	return err
}

// table reads rows of cells. Cells that a merged one covers are blank.
func (r *reader) table(s *shape) error {
	return r.s.Each(func() error {
		switch r.s.Name() {
		case "tr":
			var row [][]para
			err := r.s.Each(func() error {
				switch r.s.Name() {
				case "tc":
					c, err := r.cell()
					row = append(row, c)
					return err
				case "extLst":
					return r.s.Skip()
				}
				return nil
			})
			s.rows = append(s.rows, row)
			return err
		case "tblPr", "tblGrid", "extLst":
			return r.s.Skip()
		}
		return nil
	})
}

func (r *reader) cell() ([]para, error) {
	covered := set(r.s.Attr("hMerge")) || set(r.s.Attr("vMerge"))
	var paras []para
	err := r.s.Each(func() error {
		switch r.s.Name() {
		case "p":
			p, err := r.para()
			paras = append(paras, p)
			return err
		case "tcPr", "lstStyle", "bodyPr":
			return r.s.Skip()
		}
		return nil
	})
	if covered {
		paras = nil
	}
	return paras, err
}

func set(v string) bool { return v == "1" || v == "true" }

// sheet is a layout or master: how the places on it list their texts.
type sheet struct {
	shapes                 []*shape
	titles, bodies, others levels // of a master
}

func (d *deck) sheet(part string) *sheet {
	if s, ok := d.sheets[part]; ok {
		return s
	}
	out := &sheet{}
	r := &reader{}
	err := d.pkg.Scan(part, func(s *xmlscan.Scanner) error {
		r.s = s
		switch s.Name() {
		case "titleStyle":
			return r.levels(&out.titles)
		case "bodyStyle":
			return r.levels(&out.bodies)
		case "otherStyle":
			return r.levels(&out.others)
		}
		return r.object()
	})
	out.shapes = r.shapes
	if err != nil {
		out = nil
	}
	d.sheets[part] = out
	return out
}

// find returns the place that a holder names, by its slot, else by its kind.
func (s *sheet) find(h holder) *shape {
	if s == nil || !h.is {
		return nil
	}
	for _, c := range s.shapes {
		if c.holder.is && h.slot != "" && c.holder.slot == h.slot {
			return c
		}
	}
	for _, c := range s.shapes {
		if c.holder.is && c.holder.role() == h.role() {
			return c
		}
	}
	return nil
}

// role is the kind of place that a master has one of.
func (h holder) role() string {
	switch h.kind {
	case "title", "ctrTitle":
		return "title"
	case "dt", "ftr", "sldNum", "hdr":
		return h.kind
	}
	return "body"
}

// style is a master's way to list the texts of a kind of place.
func (s *sheet) style(h holder) *levels {
	switch {
	case s == nil:
		return nil
	case h.role() == "title":
		return &s.titles
	case h.role() == "body" && h.is:
		return &s.bodies
	}
	return &s.others
}

// plainText joins paragraphs to one text of several lines.
func plainText(paras []para) block.Text {
	var out block.Text
	for _, p := range paras {
		if p.text.Blank() {
			continue
		}
		if len(out) > 0 {
			out = append(out, block.Run{Text: "\n"})
		}
		out = append(out, p.text...)
	}
	return out
}
