package web

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/numeral"
)

// list is one open list and the entry of it that is being read.
type list struct {
	ordered bool
	kind    string // a, A, i or I: letters or Roman numbers
	next    int
	step    int

	open bool // an entry is being read
	done bool // it was put: what comes is not on its first line
	item block.Item
}

func (w *walker) list(n *html.Node, l look) error {
	if err := w.putItem(); err != nil {
		return err
	}
	in := list{ordered: n.DataAtom == atom.Ol, kind: attr(n, "type"), next: 1, step: 1}
	if _, reversed := lookup(n, "reversed"); reversed && in.ordered {
		in.step, in.next = -1, entries(n)
	}
	if start, err := strconv.Atoi(strings.TrimSpace(attr(n, "start"))); err == nil {
		in.next = start
	}
	w.lists = append(w.lists, in)
	err := w.around(n, l)
	if err == nil {
		err = w.putItem()
	}
	w.lists = w.lists[:len(w.lists)-1]
	return err
}

func entries(n *html.Node) int {
	count := 0
	for c := range n.ChildNodes() {
		if c.DataAtom == atom.Li {
			count++
		}
	}
	return count
}

func (w *walker) item(n *html.Node, l look) error {
	if err := w.flush(); err != nil {
		return err
	}
	outside := len(w.lists) == 0
	if outside {
		w.lists = append(w.lists, list{next: 1, step: 1})
	}
	in := &w.lists[len(w.lists)-1]
	if v, err := strconv.Atoi(strings.TrimSpace(attr(n, "value"))); err == nil && in.ordered {
		in.next = v
	}
	in.open, in.done, in.item = true, false, in.mark(len(w.lists)-1)
	in.next += in.step
	err := w.around(n, l)
	if err == nil {
		err = w.putItem()
	}
	if outside {
		w.lists = w.lists[:len(w.lists)-1]
	} else {
		w.lists[len(w.lists)-1].open = false
	}
	return err
}

func (in *list) mark(level int) block.Item {
	if !in.ordered {
		return block.Item{Level: level}
	}
	label := ""
	switch in.kind {
	case "a", "A":
		label = letters(in.next)
	case "i", "I":
		if in.next > 0 && in.next < 4000 {
			label = strings.ToLower(numeral.Roman(in.next))
		}
	}
	if label == "" {
		return block.Item{Level: level, Ordered: true, Number: max(in.next, 0)}
	}
	if in.kind == "A" || in.kind == "I" {
		label = strings.ToUpper(label)
	}
	return block.Item{Level: level, Label: label + "."}
}

// letters counts a, b, … z, aa.
func letters(n int) string {
	s := ""
	for ; n > 0; n = (n - 1) / 26 {
		s = string(rune('a'+(n-1)%26)) + s
	}
	return s
}

// append gives the entry being read one more paragraph.
func (in *list) append(w *walker, t block.Text) error {
	if in.done { // behind a list or a table inside of it
		return w.sink.Put(block.Paragraph{Text: t})
	}
	if len(in.item.Text) > 0 {
		in.item.Text = append(in.item.Text, block.Run{Text: "\n"})
	}
	in.item.Text = append(in.item.Text, t...)
	return nil
}

// putItem puts the entry being read, if it has any text yet: what comes is a
// block that no entry can hold.
func (w *walker) putItem() error {
	if err := w.flush(); err != nil {
		return err
	}
	if len(w.lists) == 0 {
		return nil
	}
	in := &w.lists[len(w.lists)-1]
	if !in.open || in.done || in.item.Text.Blank() {
		return nil
	}
	in.done = true
	return w.sink.Put(in.item)
}

// definition reads what a term means, as an entry below it.
func (w *walker) definition(n *html.Node, l look) error {
	if err := w.flush(); err != nil {
		return err
	}
	w.lists = append(w.lists, list{open: true, item: block.Item{Level: len(w.lists)}})
	err := w.around(n, l)
	if err == nil {
		err = w.putItem()
	}
	w.lists = w.lists[:len(w.lists)-1]
	return err
}
