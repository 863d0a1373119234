package slides

import (
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/drawing"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
)

// page is a slide being written.
type page struct {
	*deck
	rels           map[string]pack.Relation
	layout, master *sheet
	out            []block.Block
}

func (w *page) put(b ...block.Block) { w.out = append(w.out, b...) }

func (w *page) title(s *shape) {
	text := plainText(s.paras)
	for i := range text {
		text[i].Text = strings.ReplaceAll(text[i].Text, "\n", " ")
	}
	w.put(block.Heading{Level: 1, Text: text})
}

func (w *page) shape(s *shape) error {
	if s.furniture() {
		return nil
	}
	if s.titled() {
		w.title(s)
		return nil
	}
	w.body(s)
	if len(s.rows) > 0 {
		w.table(s)
	}
	for _, part := range []struct {
		id   string
		read func(*pack.Package, string) ([]block.Block, error)
	}{{s.chart, drawing.Chart}, {s.diagram, drawing.Diagram}} {
		rel, ok := w.rels[part.id]
		if part.id == "" || !ok || rel.External || !w.pkg.Has(rel.Target) {
			continue
		}
		blocks, err := part.read(w.pkg, rel.Target)
		if err != nil {
			return err
		}
		w.put(blocks...)
	}
	if s.alt != "" {
		w.put(block.Image{Alt: s.alt})
	}
	return nil
}

// body writes a shape's paragraphs, each as its bullet says.
func (w *page) body(s *shape) {
	var counts [9]int
	var schemes [9]bullet // that is counted by
	for _, p := range s.paras {
		if p.text.Blank() {
			continue
		}
		b := w.bullet(s, p)
		for i := p.level + 1; i < len(counts); i++ {
			counts[i] = 0
		}
		switch b.kind {
		case dot:
			counts[p.level] = 0
			w.put(block.Item{Level: p.level, Text: p.text})
		case numbered:
			if schemes[p.level] != b {
				schemes[p.level], counts[p.level] = b, 0
			}
			counts[p.level]++
			w.put(b.mark(counts[p.level], block.Item{Level: p.level, Text: p.text}))
		default:
			counts[p.level] = 0
			if latex, ok := displayed(p.text); ok {
				w.put(block.Equation{LaTeX: latex})
				continue
			}
			w.put(block.Paragraph{Text: p.text})
		}
	}
}

// displayed returns the equation that is all there is in a paragraph.
func displayed(t block.Text) (string, bool) {
	latex := ""
	for _, r := range t {
		switch {
		case r.Style&block.Math != 0 && latex == "":
			latex = r.Text
		case strings.TrimSpace(r.Text) != "":
			return "", false
		}
	}
	return latex, latex != ""
}

// bullet finds how a paragraph is marked: by itself, its shape, the place on
// the layout, that on the master, or the master's style (ECMA-376 part 1,
// 19.3.1.36).
func (w *page) bullet(s *shape, p para) bullet {
	chain := []bullet{p.bullet, s.levels[p.level]}
	if s.holder.is {
		if l := w.layout.find(s.holder); l != nil {
			chain = append(chain, l.levels[p.level])
		}
		if m := w.master.find(holder{is: true, kind: s.holder.kind}); m != nil {
			chain = append(chain, m.levels[p.level])
		}
		if style := w.master.style(s.holder); style != nil {
			chain = append(chain, style[p.level])
		}
	}
	for _, b := range chain {
		if b.kind != unset {
			return b
		}
	}
	return bullet{}
}

func (w *page) table(s *shape) {
	w.put(block.TableStart{})
	for _, row := range s.rows {
		cells := make([]block.Cell, len(row))
		for i, paras := range row {
			inside := page{deck: w.deck, rels: w.rels}
			inside.body(&shape{paras: paras})
			cells[i] = block.Cell{Blocks: inside.out}
		}
		w.put(block.TableRow{Cells: cells})
	}
	w.put(block.TableEnd{})
}
