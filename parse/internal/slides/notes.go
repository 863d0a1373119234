package slides

import (
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// notes writes what the speaker has noted below the slide.
func (w *page) notes() error {
	part := w.related("notesSlide")
	if part == "" {
		return nil
	}
	rels, err := w.pkg.Relations(part)
	if err != nil {
		return err
	}
	shapes, err := w.shapes(part, rels)
	if err != nil {
		return err
	}
	inside := page{deck: w.deck, rels: rels}
	for _, s := range shapes {
		if s.holder.role() == "body" && s.holder.kind != "sldImg" && (s.holder.is || !s.blank()) {
			inside.body(s)
		}
	}
	w.quote("Notes:", inside.out)
	return nil
}

// quote writes blocks as a quotation below a word that says what it is.
func (w *page) quote(label string, blocks []block.Block) {
	if len(blocks) == 0 {
		return
	}
	w.put(block.Quote{Depth: 1})
	name := block.Run{Text: label, Style: block.Bold}
	if p, ok := blocks[0].(block.Paragraph); ok {
		w.put(block.Paragraph{Text: append(block.Text{name, {Text: " "}}, p.Text...)})
		blocks = blocks[1:]
	} else {
		w.put(block.Paragraph{Text: block.Text{name}})
	}
	w.put(blocks...)
	w.put(block.Quote{})
}

func (w *page) related(kind string) string {
	for _, rel := range w.rels {
		if rel.Type == kind && !rel.External && w.pkg.Has(rel.Target) {
			return rel.Target
		}
	}
	return ""
}

// comments writes what reviewers have said of the slide.
func (w *page) comments() error {
	part := w.related("comments")
	if part == "" {
		return nil
	}
	r := &reader{}
	return w.pkg.Scan(part, func(s *xmlscan.Scanner) error {
		r.s = s
		if !s.Is("cm") && !s.Is("reply") {
			return nil
		}
		return w.comment(r)
	})
}

// comment writes a comment and, below it, the answers inside of it.
func (w *page) comment(r *reader) error {
	author := w.authors[r.s.Attr("authorId")]
	var said []block.Block
	said, err := w.said(r)
	if err != nil {
		return err
	}
	label := "Comment:"
	if author != "" {
		label = "Comment (" + author + "):"
	}
	w.quote(label, said)
	return nil
}

// said reads the text of a comment: plain in older files, paragraphs in newer.
func (w *page) said(r *reader) ([]block.Block, error) {
	var out []block.Block
	err := r.s.Each(func() error {
		switch r.s.Name() {
		case "text":
			t, err := r.s.Content()
			if t = strings.TrimSpace(t); t != "" {
				out = append(out, block.Paragraph{Text: block.Plain(t)})
			}
			return err
		case "p":
			p, err := r.para()
			if !p.text.Blank() {
				out = append(out, block.Paragraph{Text: p.text})
			}
			return err
		case "reply":
			author := w.authors[r.s.Attr("authorId")]
			inner, err := w.said(r)
			if author != "" && len(inner) > 0 {
				out = append(out, block.Paragraph{Text: block.Text{{Text: author + ":", Style: block.Bold}}})
			}
			out = append(out, inner...)
			return err
		case "extLst":
			return r.s.Skip()
		}
		return nil
	})
	return out, err
}

// readAuthors reads who has commented.
func (d *deck) readAuthors(rels map[string]pack.Relation) error {
	d.authors = map[string]string{}
	for _, rel := range rels {
		if rel.Type != "commentAuthors" && rel.Type != "authors" || rel.External {
			continue
		}
		err := d.pkg.Scan(rel.Target, func(s *xmlscan.Scanner) error {
			if s.Is("cmAuthor") || s.Is("author") {
				d.authors[s.Attr("id")] = s.Attr("name")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
