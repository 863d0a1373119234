// Package web reads HTML: a page, or a fragment that stands in another
// document (the body of a mail, an entry of a feed, an output of a notebook).
//
// In goes the markup; out come, at a sink, its headings, paragraphs, lists,
// quotations, code, tables and links in reading order, as a browser without
// scripts or style sheets would show them. What the page itself hides is left
// out. A table that only places things on the page is read as what it places.
// It loads nothing, runs nothing, and keeps no picture but its description.
package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/text"
)

// maxSize bounds what a tree is built of: a tree takes many times its markup.
const maxSize = 64 << 20

// Read puts a page at sink. Its title is the first heading if the page has
// none of the first level.
func Read(ctx context.Context, data []byte, sink block.Sink) error {
	s, err := text.DecodeAs(data, Charset(data))
	if err != nil {
		return err
	}
	root, err := tree(ctx, s)
	if err != nil {
		return err
	}
	w := newWalker(ctx, sink)
	title := ""
	for n := range root.Descendants() {
		switch {
		case n.DataAtom == atom.Base && w.base == nil:
			w.base = base(n)
		case n.DataAtom == atom.Title && title == "" && n.Namespace == "":
			title = strings.Join(strings.Fields(content(n)), " ")
		}
	}
	if title != "" && !hasTop(root) {
		if err := sink.Put(block.Heading{Level: 1, Text: block.Plain(title)}); err != nil {
			return err
		}
	}
	return w.run(root, look{})
}

// Fragment puts markup that is part of another document at sink.
func Fragment(ctx context.Context, markup string, sink block.Sink) error {
	root, err := tree(ctx, text.Lines(markup))
	if err != nil {
		return err
	}
	return newWalker(ctx, sink).run(root, look{})
}

func tree(ctx context.Context, s string) (*html.Node, error) {
	if len(s) > maxSize {
		return nil, fault.New(fault.Document, "", "Split the page.", "the page has %d MiB, more than the %d that can be read", len(s)>>20, maxSize>>20)
	}
	root, err := html.Parse(&checked{strings.NewReader(s), ctx})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &fault.Error{Kind: fault.Document, Err: errors.New("its markup is nested too deeply"), Hint: "Save the page again with a browser, or give another copy."}
	}
	return root, nil
}

// checked ends the reading of a long page with the context.
type checked struct {
	r   io.Reader
	ctx interface{ Err() error }
}

func (c *checked) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// Charset returns the character set that a page names at its head, "" if it
// names none.
func Charset(data []byte) string {
	head := bytes.ToLower(data[:min(len(data), 4096)])
	if m := regexp.MustCompile(`<meta[^>]*charset\s*=\s*["']?\s*([-\w:]+)`).FindSubmatch(head); m != nil {
		return string(m[1])
	}
	if m := regexp.MustCompile(`^\s*<\?xml[^>]*encoding\s*=\s*["']([-\w:]+)`).FindSubmatch(head); m != nil {
		return string(m[1])
	}
	return ""
}

func base(n *html.Node) *url.URL {
	u, err := url.Parse(strings.TrimSpace(attr(n, "href")))
	if err != nil || !u.IsAbs() {
		return nil
	}
	return u
}

func hasTop(root *html.Node) bool {
	for n := range root.Descendants() {
		if n.DataAtom == atom.H1 && strings.TrimSpace(content(n)) != "" && !within(n, skipped) {
			return true
		}
	}
	return false
}

func within(n *html.Node, is func(*html.Node) bool) bool {
	for ; n != nil; n = n.Parent {
		if n.Type == html.ElementNode && is(n) {
			return true
		}
	}
	return false
}

// content returns the text inside a node as it stands.
func content(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func lookup(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

func attr(n *html.Node, name string) string {
	v, _ := lookup(n, name)
	return v
}
