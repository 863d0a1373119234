package office

import (
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/drawing"
	"github.com/holodeck-run/holodeck/parse/internal/math"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
)

// para is one paragraph in the reading.
type para struct {
	*walker
	style   string
	num     string // list of its own, "" for the style's
	lvl     int
	outline int
	text    block.Text
	after   []block.Block // what stands in a box or picture in it

	displayed bool // it holds an equation meant for a line of its own

	link   string // of the hyperlink element around
	fields []field
}

// field is a complex field: an instruction, then the result that is shown.
type field struct {
	instruction strings.Builder
	result      bool
}

// read reads the content of the element whose start tag was just given: the
// paragraph, or an inline one.
func (p *para) read() error { return p.s.Each(p.element) }

func (p *para) element() error {
	switch p.s.Name() {
	case "pPr":
		return p.properties()
	case "r":
		return p.run()
	case "del", "moveFrom", "Fallback", "sdtPr", "rPr":
		return p.s.Skip()
	case "hyperlink":
		outer := p.link
		p.link = p.target(p.s.Attr("id"), p.s.Attr("anchor"))
		err := p.read()
		p.link = outer
		return err
	case "fldSimple":
		outer := p.link
		if to := hyperlink(p.s.Attr("instr")); to != "" {
			p.link = to
		}
		err := p.read()
		p.link = outer
		return err
	case "txbxContent":
		return p.box()
	case "oMath":
		latex, err := math.Read(p.s)
		p.add(latex, block.Math)
		return err
	case "oMathPara":
		p.displayed = true
	}
	return nil // what it holds is read on
}

func (p *para) target(id, anchor string) string {
	if rel, ok := p.links[id]; ok && rel.External {
		if anchor != "" && !strings.Contains(rel.Target, "#") {
			return rel.Target + "#" + anchor
		}
		return rel.Target
	}
	return "" // a place in this document: markdown has no name for it
}

// hyperlink returns where a field's instruction leads, "" if it is no link.
func hyperlink(instruction string) string {
	f := strings.TrimSpace(instruction)
	if len(f) < 10 || !strings.EqualFold(f[:10], "HYPERLINK ") {
		return ""
	}
	f = strings.TrimSpace(f[10:])
	if strings.HasPrefix(f, `"`) {
		to, _, _ := strings.Cut(f[1:], `"`)
		return to
	}
	if strings.HasPrefix(f, `\`) {
		return ""
	}
	to, _, _ := strings.Cut(f, " ")
	return to
}

// box reads the blocks of a text box; they follow the paragraph it hangs on.
func (p *para) box() error {
	var c collector
	if err := p.inner(&c); err != nil {
		return err
	}
	p.after = append(p.after, c.blocks...)
	return nil
}

func (p *para) properties() error {
	return p.s.Each(func() error {
		switch p.s.Name() {
		case "pStyle":
			p.style = p.s.Attr("val")
		case "numId":
			p.num = p.s.Attr("val")
		case "ilvl":
			p.lvl = level(p.s.Attr("val"))
		case "outlineLvl":
			if n, err := strconv.Atoi(p.s.Attr("val")); err == nil && n >= 0 && n < 9 {
				p.outline = n + 1
			}
		case "rPr", "pPrChange", "sectPr":
			return p.s.Skip()
		}
		return nil
	})
}

// run reads one run: its looks, then its text, breaks, notes and pictures.
func (p *para) run() error {
	var set, off block.Style
	hidden := false
	return p.s.Each(func() (err error) {
		if !p.s.Is("rPr") {
			return p.piece(set, hidden)
		}
		set, off, hidden, err = p.looks()
		set |= p.styles[p.style].set &^ off
		return err
	})
}

func (p *para) looks() (set, off block.Style, hidden bool, err error) {
	err = p.s.Each(func() error {
		switch {
		case p.s.Is("rStyle"):
			set |= p.styles[p.s.Attr("val")].set
		case p.s.Is("vanish"):
			hidden = on(p.s)
		case p.s.Is("rPrChange"):
			return p.s.Skip()
		default:
			look(p.s, &set, &off)
		}
		return nil
	})
	return set, off, hidden, err
}

// piece reads one element of a run.
func (p *para) piece(set block.Style, hidden bool) error {
	switch p.s.Name() {
	case "t":
		s, err := p.s.Content()
		if !hidden {
			p.add(s, set)
		}
		return err
	case "tab", "ptab":
		p.add("\t", set)
	case "br", "cr":
		if kind := p.s.Attr("type"); kind == "" || kind == "textWrapping" {
			p.add("\n", set)
		}
	case "noBreakHyphen":
		p.add("-", set)
	case "sym":
		p.add(symbol(p.s.Attr("font"), p.s.Attr("char")), set)
	case "fldChar":
		p.fieldChar(p.s.Attr("fldCharType"))
	case "instrText":
		s, err := p.s.Content()
		if n := len(p.fields); n > 0 {
			p.fields[n-1].instruction.WriteString(s)
		}
		return err
	case "footnoteReference", "endnoteReference", "commentReference":
		kind := strings.TrimSuffix(p.s.Name(), "Reference") + "s"
		p.text = append(p.text, block.Run{Note: p.refer(kind, p.s.Attr("id"))})
	case "docPr":
		if alt := p.s.Attr("descr"); alt != "" {
			p.after = append(p.after, block.Image{Alt: alt})
		}
	case "chart":
		return p.drawn(p.s.Prefixed("id"), drawing.Chart)
	case "relIds":
		return p.drawn(p.s.Attr("dm"), drawing.Diagram)
	case "txbxContent":
		return p.box()
	case "delText", "Fallback", "rt":
		return p.s.Skip()
	}
	return nil
}

// drawn reads a chart or diagram; it follows the paragraph it hangs on.
func (p *para) drawn(id string, read func(*pack.Package, string) ([]block.Block, error)) error {
	rel, ok := p.links[id]
	if !ok || rel.External || !p.pkg.Has(rel.Target) {
		return nil
	}
	blocks, err := read(p.pkg, rel.Target)
	p.after = append(p.after, blocks...)
	return err
}

func (p *para) fieldChar(kind string) {
	n := len(p.fields)
	switch {
	case kind == "begin":
		p.fields = append(p.fields, field{})
	case n == 0:
	case kind == "separate":
		p.fields[n-1].result = true
	case kind == "end":
		p.fields = p.fields[:n-1]
	}
}

// add appends text, unless it belongs to a field's instruction.
func (p *para) add(s string, set block.Style) {
	link := p.link
	for i := range p.fields {
		if !p.fields[i].result {
			return
		}
		if to := hyperlink(p.fields[i].instruction.String()); to != "" {
			link = to
		}
	}
	if s != "" {
		p.text = append(p.text, block.Run{Text: s, Style: set, Link: link})
	}
}
