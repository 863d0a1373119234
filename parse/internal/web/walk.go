package web

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/holodeck-run/holodeck/parse/internal/block"
)

// walker puts the blocks of a tree at a sink.
type walker struct {
	ctx   context.Context
	sink  block.Sink
	base  *url.URL
	nodes int

	line  line   // of the block being read
	lists []list // open, outermost first
	quote int    // open quotations
	as    func(block.Text) block.Block
}

func newWalker(ctx context.Context, sink block.Sink) *walker {
	return &walker{ctx: ctx, sink: sink}
}

// inside returns a walker for what stands in a cell.
func (w *walker) inside(sink block.Sink) *walker {
	return &walker{ctx: w.ctx, sink: sink, base: w.base}
}

func (w *walker) run(root *html.Node, l look) error {
	if err := w.children(root, l); err != nil {
		return err
	}
	return w.flush()
}

// look is what the elements around a text give it.
type look struct {
	style block.Style
	link  string
}

func (w *walker) children(n *html.Node, l look) error {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if err := w.node(c, l); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) node(n *html.Node, l look) error {
	if w.nodes++; w.nodes%1024 == 0 && w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	switch n.Type {
	case html.TextNode:
		w.line.add(n.Data, l)
		return nil
	case html.DocumentNode:
		return w.children(n, l)
	case html.ElementNode:
		if skipped(n) {
			return nil
		}
		return w.element(n, l)
	}
	return nil
}

// skipped says whether an element is no part of what a reader of the page sees.
func skipped(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Head, atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Iframe, atom.Noframes,
		atom.Canvas, atom.Audio, atom.Video, atom.Datalist, atom.Colgroup, atom.Title:
		return true
	}
	if _, hidden := lookup(n, "hidden"); hidden {
		return true
	}
	style := strings.ToLower(strings.ReplaceAll(attr(n, "style"), " ", ""))
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

func (w *walker) element(n *html.Node, l look) error {
	switch n.DataAtom {
	case atom.Br:
		return w.breakLine()
	case atom.Img:
		w.line.picture(n, l)
		return nil
	case atom.Input:
		w.line.box(n)
		return nil
	case atom.Math:
		w.line.add(formula(n), l)
		return nil
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		level := int(n.Data[1] - '0')
		return w.special(n, l, func(t block.Text) block.Block { return block.Heading{Level: level, Text: t} })
	case atom.Pre, atom.Listing, atom.Xmp:
		return w.code(n)
	case atom.Blockquote:
		return w.quotation(n, l)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		return w.list(n, l)
	case atom.Li:
		return w.item(n, l)
	case atom.Dt:
		l.style |= block.Bold
		return w.around(n, l)
	case atom.Dd:
		return w.definition(n, l)
	case atom.Table:
		return w.table(n, l)
	case atom.Summary, atom.Legend:
		l.style |= block.Bold
		return w.around(n, l)
	case atom.Hr:
		return w.flush()
	}
	if breaks(n.DataAtom) {
		return w.around(n, l)
	}
	return w.children(n, w.looks(n, l))
}

// breaks says whether an element stands on lines of its own.
func breaks(a atom.Atom) bool {
	switch a {
	case atom.Html, atom.Body, atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Nav,
		atom.Aside, atom.Address, atom.Figure, atom.Figcaption, atom.Caption, atom.Details, atom.Fieldset, atom.Form, atom.Dl,
		atom.Center, atom.Hgroup, atom.Optgroup, atom.Option, atom.Tr, atom.Td, atom.Th, atom.Frameset, atom.Dialog, atom.Search:
		return true
	}
	return false
}

// around reads an element that begins and ends a block.
func (w *walker) around(n *html.Node, l look) error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.children(n, l); err != nil {
		return err
	}
	return w.flush()
}

// special reads an element whose text is a block of its own kind.
func (w *walker) special(n *html.Node, l look, as func(block.Text) block.Block) error {
	if err := w.putItem(); err != nil {
		return err
	}
	outer := w.as
	w.as = as
	err := w.around(n, l)
	w.as = outer
	return err
}

func (w *walker) quotation(n *html.Node, l look) error {
	if err := w.putItem(); err != nil {
		return err
	}
	w.quote++
	err := w.sink.Put(block.Quote{Depth: w.quote})
	if err == nil {
		err = w.around(n, l)
	}
	if err == nil {
		err = w.putItem()
	}
	w.quote--
	if err == nil {
		err = w.sink.Put(block.Quote{Depth: w.quote})
	}
	return err
}

func (w *walker) code(n *html.Node) error {
	if err := w.putItem(); err != nil {
		return err
	}
	s := strings.TrimRight(content(n), " \t\n")
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return w.sink.Put(block.Code{Language: language(n), Text: strings.TrimLeft(s, "\n")})
}

// language returns the language that the classes of a code block name.
func language(n *html.Node) string {
	around := []*html.Node{n, n.Parent}
	for d := range n.ChildNodes() {
		if d.DataAtom == atom.Code {
			around = append(around, d)
		}
	}
	for _, n := range around {
		if n == nil {
			continue
		}
		for _, class := range strings.Fields(strings.ToLower(attr(n, "class"))) {
			for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-"} {
				if lang, ok := strings.CutPrefix(class, prefix); ok && plainName(lang) {
					return lang
				}
			}
		}
	}
	return ""
}

func plainName(s string) bool {
	return s != "" && len(s) < 24 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+#-") == ""
}

// breakLine ends a line; a second time it ends the paragraph, as an empty line
// does in print.
func (w *walker) breakLine() error {
	if w.as == nil && w.line.broken() {
		return w.flush()
	}
	w.line.breakLine()
	return nil
}

// flush ends the block being read.
func (w *walker) flush() error {
	t, pictures := w.line.take()
	switch {
	case w.as != nil:
		if t.Blank() {
			return nil
		}
		return w.sink.Put(w.as(t))
	case t.Blank():
		return nil
	}
	if i := len(w.lists) - 1; i >= 0 && w.lists[i].open {
		return w.lists[i].append(w, t)
	}
	if len(pictures) > 0 {
		return w.pictures(pictures)
	}
	return w.sink.Put(block.Paragraph{Text: t})
}

func (w *walker) pictures(alts []string) error {
	for _, alt := range alts {
		if err := w.sink.Put(block.Image{Alt: alt}); err != nil {
			return err
		}
	}
	return nil
}
