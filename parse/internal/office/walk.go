package office

import (
	"context"
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// walker reads the blocks of one element.
type walker struct {
	*docx
	s     *xmlscan.Scanner
	ctx   context.Context
	sink  block.Sink
	until int // the depth of the element read; 0 reads the whole part
	paras int
}

// blocks reads paragraphs and tables to the end of the element.
func (w *walker) blocks() error {
	choice := 0 // the depth of an alternative that was taken
	for {
		k, err := w.s.Next()
		if err != nil {
			return err
		}
		switch k {
		case xmlscan.EOF:
			if w.until > 0 {
				return xmlscan.ErrTruncated
			}
			return nil
		case xmlscan.End:
			if w.until > 0 && w.s.Depth() < w.until {
				return nil
			}
		case xmlscan.Start:
			if w.s.Is("Choice") {
				choice = w.s.Depth()
			}
			if err := w.start(choice); err != nil {
				return err
			}
		}
	}
}

func (w *walker) start(choice int) error {
	switch w.s.Name() {
	case "p":
		return w.paragraph()
	case "tbl":
		return w.table()
	case "Fallback":
		if choice == w.s.Depth() {
			return w.s.Skip()
		}
	case "del", "moveFrom", "sectPr", "sdtPr", "tblPr", "background":
		return w.s.Skip()
	}
	return nil
}

// inner reads the blocks of the element just begun with another sink.
func (w *walker) inner(sink block.Sink) error {
	in := &walker{docx: w.docx, s: w.s, ctx: w.ctx, sink: sink, until: w.s.Depth()}
	return in.blocks()
}

func (w *walker) paragraph() error {
	if w.paras++; w.paras%256 == 0 && w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	p := para{walker: w}
	if err := p.read(); err != nil {
		return err
	}
	if !p.text.Blank() {
		if err := w.sink.Put(p.block()); err != nil {
			return err
		}
	}
	for _, b := range p.after {
		if err := w.sink.Put(b); err != nil {
			return err
		}
	}
	return nil
}

// table reads a table row by row. Cells that continue a merged one above are
// blank: what is merged is read once.
func (w *walker) table() error {
	if err := w.sink.Put(block.TableStart{}); err != nil {
		return err
	}
	err := w.s.Each(func() error {
		switch w.s.Name() {
		case "tr":
			row, deleted, err := w.row()
			if err != nil || deleted || len(row) == 0 {
				return err
			}
			return w.sink.Put(block.TableRow{Cells: row})
		case "tblPr", "tblGrid", "sdtPr":
			return w.s.Skip()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.sink.Put(block.TableEnd{})
}

func (w *walker) row() (cells []block.Cell, deleted bool, err error) {
	depth := w.s.Depth()
	err = w.s.Each(func() error {
		switch w.s.Name() {
		case "tc":
			c, err := w.cell()
			cells = append(cells, c)
			return err
		case "gridBefore", "gridAfter":
			if n, _ := strconv.Atoi(w.s.Attr("val")); n > 0 {
				cells = append(cells, block.Cell{Across: min(n, 64)})
			}
		case "del":
			deleted = deleted || depth+2 == w.s.Depth() // in the row's properties
		case "sdtPr", "tblPrEx":
			return w.s.Skip()
		}
		return nil
	})
	return cells, deleted, err
}

func (w *walker) cell() (block.Cell, error) {
	var c block.Cell
	var content collector
	in := &walker{docx: w.docx, s: w.s, ctx: w.ctx, sink: &content, until: w.s.Depth()}
	continued := false
	for {
		k, err := w.s.Next()
		switch {
		case err != nil:
			return c, err
		case k == xmlscan.EOF:
			return c, xmlscan.ErrTruncated
		case k == xmlscan.End:
			if w.s.Depth() < in.until {
				if !continued {
					c.Blocks = content.blocks
				}
				return c, nil
			}
		case k != xmlscan.Start:
		case w.s.Is("gridSpan"):
			n, _ := strconv.Atoi(w.s.Attr("val"))
			c.Across = min(n, 64)
		case w.s.Is("vMerge"), w.s.Is("hMerge"):
			continued = continued || w.s.Attr("val") != "restart"
		default:
			if err := in.start(0); err != nil {
				return c, err
			}
		}
	}
}

// block returns the paragraph as what it is.
func (p *para) block() block.Block {
	st := p.styles[p.style]
	num, lvl := st.num, st.level
	if p.num != "" {
		num, lvl = p.num, p.lvl
	}
	heading := st.heading
	if p.outline > 0 && heading == 0 {
		heading = p.outline
	}
	var ordered bool
	var number int
	var label string
	listed := num != "" && num != "0"
	if listed {
		ordered, number, label = p.count(num, p.depth(num, lvl))
	}
	switch {
	case heading > 0:
		if ordered {
			label = itoa(number) + "."
		}
		if label != "" {
			p.text = append(block.Text{{Text: label + " "}}, p.text...)
		}
		return block.Heading{Level: heading, Text: p.text}
	case listed:
		return block.Item{Level: lvl, Ordered: ordered, Number: number, Label: label, Text: p.text}
	case st.code:
		return block.Code{Text: p.text.String()}
	case p.displayed && p.onlyMath():
		return block.Equation{LaTeX: trimmed(p.text.String())}
	}
	return block.Paragraph{Text: p.text}
}

func (p *para) onlyMath() bool {
	for _, r := range p.text {
		if r.Style&block.Math == 0 && trimmed(r.Text) != "" || r.Note != "" {
			return false
		}
	}
	return true
}

// depth returns the level of a list that an entry counts on: one that is only
// indented by its style counts on the list's first.
func (p *para) depth(num string, lvl int) int {
	a := p.numbers.abstracts[p.numbers.lists[num].abstract]
	if a != nil && lvl > 0 && a[lvl].format == "" && a[lvl].text == "" {
		return 0
	}
	return lvl
}

// symbol returns the character that a symbol font shows.
func symbol(font, code string) string {
	n, err := strconv.ParseUint(code, 16, 32)
	if err != nil {
		return ""
	}
	n &^= 0xF000
	switch strings.ToLower(font) {
	case "symbol", "wingdings", "wingdings 2", "webdings":
		switch n {
		case 0xB7, 0xA7, 0x6C, 0x6E:
			return "•"
		case 0xE0:
			return "→"
		case 0xFC, 0x50:
			return "✓"
		case 0xFB, 0x4F:
			return "✗"
		case 0xA8, 0x6F:
			return "☐"
		case 0xFE:
			return "☑"
		}
		if n < 0x20 || n > 0x7E {
			return ""
		}
	}
	return string(rune(n))
}
