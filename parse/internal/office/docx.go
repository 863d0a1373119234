// Package office reads word-processing documents (docx).
//
// In goes the file; out come, at a sink, its headings, paragraphs, lists with
// their numbering, tables, links and notes in reading order. Insertions that
// are tracked are read, deletions are not. Pictures stand as their
// description. The body is streamed: what is held is one paragraph or table
// row, the styles and the notes.
package office

import (
	"context"
	"io"
	"path"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// Document puts a word-processing document at sink.
func Document(ctx context.Context, r io.ReaderAt, size int64, sink block.Sink) error {
	if err := pack.RefuseOLE(r, ".docx"); err != nil {
		return err
	}
	pkg, err := pack.Open(r, size)
	if err != nil {
		return err
	}
	if path.Ext(pkg.Main()) != ".xml" {
		return fault.New(fault.UnsupportedFileType, "", "Save it as .docx.", "there is no reader for its main part %s", pkg.Main())
	}
	d := &docx{pkg: pkg, counters: map[string]*[9]int{}, started: map[string]bool{}}
	if err := d.prepare(); err != nil {
		return err
	}
	part, err := pkg.Open(pkg.Main())
	if err != nil {
		return err
	}
	defer func() { _ = part.Close() }()
	w := &walker{docx: d, s: xmlscan.New(part), ctx: ctx, sink: sink}
	if d.links, err = pkg.Relations(pkg.Main()); err != nil {
		return err
	}
	if err := w.blocks(); err != nil {
		return pack.Explain(err)
	}
	return d.notes(sink)
}

// docx is what the parts of a document share.
type docx struct {
	pkg      *pack.Package
	styles   map[string]style
	numbers  numbering
	links    map[string]pack.Relation
	counters map[string]*[9]int // by abstract list
	started  map[string]bool    // lists whose start was applied
	refs     []noteRef          // notes in the order they are referred to
}

func (d *docx) prepare() error {
	for kind, read := range map[string]func(string) error{
		"styles":    d.readStyles,
		"numbering": d.readNumbering,
	} {
		part, err := d.pkg.Related(d.pkg.Main(), kind)
		if err != nil {
			return err
		}
		if part != "" {
			if err := read(part); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteRef is a footnote, endnote or comment that the text refers to.
type noteRef struct{ kind, id, label string }

// refer returns the label of a note, giving it one at its first mention.
func (d *docx) refer(kind, id string) string {
	for _, r := range d.refs {
		if r.kind == kind && r.id == id {
			return r.label
		}
	}
	n := 1
	for _, r := range d.refs {
		if r.kind == kind {
			n++
		}
	}
	prefix := map[string]string{"footnotes": "", "endnotes": "e", "comments": "c"}[kind]
	label := prefix + itoa(n)
	d.refs = append(d.refs, noteRef{kind, id, label})
	return label
}

// notes puts the notes referred to at sink, in the order of their mention.
func (d *docx) notes(sink block.Sink) error {
	for _, kind := range []string{"footnotes", "endnotes", "comments"} {
		texts, err := d.noteTexts(kind)
		if err != nil {
			return err
		}
		for _, r := range d.refs {
			if r.kind != kind || texts[r.id].Blank() {
				continue
			}
			if err := sink.Put(block.Note{Label: r.label, Text: texts[r.id]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// collector is a sink that keeps what it is given.
type collector struct{ blocks []block.Block }

func (c *collector) Put(b block.Block) error {
	c.blocks = append(c.blocks, b)
	return nil
}

func (d *docx) noteTexts(kind string) (map[string]block.Text, error) {
	used := false
	for _, r := range d.refs {
		used = used || r.kind == kind
	}
	part, err := d.pkg.Related(d.pkg.Main(), kind)
	if err != nil || part == "" || !used || !d.pkg.Has(part) {
		return nil, err
	}
	outer := d.links
	defer func() { d.links = outer }()
	if d.links, err = d.pkg.Relations(part); err != nil {
		return nil, err
	}
	texts := map[string]block.Text{}
	err = d.pkg.Scan(part, func(s *xmlscan.Scanner) error {
		switch s.Name() {
		case "footnote", "endnote", "comment":
		default:
			return nil
		}
		id, author := s.Attr("id"), ""
		if s.Is("comment") {
			author = s.Attr("author")
		}
		var c collector
		w := &walker{docx: d, s: s, ctx: context.Background(), sink: &c, until: s.Depth()}
		if err := w.blocks(); err != nil {
			return pack.Explain(err)
		}
		texts[id] = oneText(c.blocks)
		if author != "" && !texts[id].Blank() {
			texts[id] = append(block.Text{{Text: author + ": "}}, texts[id]...)
		}
		return nil
	})
	return texts, err
}

// oneText joins the blocks of a note to one text.
func oneText(blocks []block.Block) block.Text {
	var out block.Text
	for _, b := range blocks {
		var t block.Text
		switch b := b.(type) {
		case block.Paragraph:
			t = b.Text
		case block.Heading:
			t = b.Text
		case block.Item:
			t = b.Text
		case block.Equation:
			t = block.Text{{Text: b.LaTeX, Style: block.Math}}
		case block.TableRow:
			for _, c := range b.Cells {
				t = append(append(t, oneText(c.Blocks)...), block.Run{Text: " "})
			}
		}
		if len(out) > 0 && len(t) > 0 {
			out = append(out, block.Run{Text: "\n"})
		}
		out = append(out, t...)
	}
	return out
}

// on returns the value of an on/off property; without one it is on.
func on(s *xmlscan.Scanner) bool {
	v, ok := s.Lookup("val")
	return !ok || v == "1" || v == "true" || v == "on" || v == "single"
}

func trimmed(s string) string { return strings.TrimSpace(s) }
