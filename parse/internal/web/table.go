package web

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/holodeck-run/holodeck/parse/internal/block"
)

// Limits of what a cell may span.
const (
	maxAcross = 1_000
	maxDown   = 65_534
)

// table reads a table as one if it holds data, else as what it places.
func (w *walker) table(n *html.Node, l look) error {
	if err := w.putItem(); err != nil {
		return err
	}
	rows, caption := parts(n)
	if caption != nil {
		if err := w.around(caption, l); err != nil {
			return err
		}
	}
	if !data(n, rows) {
		for _, r := range rows {
			if err := w.around(r, l); err != nil {
				return err
			}
		}
		return nil
	}
	if err := w.sink.Put(block.TableStart{}); err != nil {
		return err
	}
	for _, r := range rows {
		cells, err := w.row(r, l)
		if err != nil {
			return err
		}
		if len(cells) == 0 {
			continue
		}
		if err := w.sink.Put(block.TableRow{Cells: cells}); err != nil {
			return err
		}
	}
	return w.sink.Put(block.TableEnd{})
}

// parts returns the rows of a table in the order they are shown in.
func parts(n *html.Node) (rows []*html.Node, caption *html.Node) {
	var foot []*html.Node
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || skipped(c) {
			continue
		}
		switch c.DataAtom {
		case atom.Caption:
			caption = c
		case atom.Tfoot:
			foot = append(foot, trs(c)...)
		case atom.Thead, atom.Tbody:
			rows = append(rows, trs(c)...)
		}
	}
	return append(rows, foot...), caption
}

func trs(n *html.Node) (rows []*html.Node) {
	for c := range n.ChildNodes() {
		if c.DataAtom == atom.Tr && !skipped(c) {
			rows = append(rows, c)
		}
	}
	return rows
}

// data tells a table of data from one that only places things: it has header
// cells, a border or a caption, or at least two rows and columns and no table
// inside.
func data(n *html.Node, rows []*html.Node) bool {
	switch strings.ToLower(attr(n, "role")) {
	case "presentation", "none":
		return false
	}
	wide, headed, nested := 0, false, false
	for _, r := range rows {
		cells := 0
		for c := range r.ChildNodes() {
			switch c.DataAtom {
			case atom.Th:
				headed = true
				cells++
			case atom.Td:
				cells++
			}
		}
		if cells > 1 {
			wide++
		}
	}
	for d := range n.Descendants() {
		nested = nested || d.DataAtom == atom.Table
		headed = headed || d.DataAtom == atom.Caption
	}
	if border := attr(n, "border"); headed || border != "" && border != "0" {
		return wide > 0 || headed && len(rows) > 1
	}
	return wide > 1 && !nested
}

func (w *walker) row(n *html.Node, l look) ([]block.Cell, error) {
	var cells []block.Cell
	for c := range n.ChildNodes() {
		if c.DataAtom != atom.Td && c.DataAtom != atom.Th || skipped(c) {
			continue
		}
		var in collector
		if err := w.inside(&in).run(c, l); err != nil {
			return nil, err
		}
		cells = append(cells, block.Cell{
			Blocks: in.blocks,
			Across: span(c, "colspan", maxAcross),
			Down:   span(c, "rowspan", maxDown),
		})
	}
	return cells, nil
}

func span(n *html.Node, name string, most int) int {
	v, err := strconv.Atoi(strings.TrimSpace(attr(n, name)))
	switch {
	case err != nil || v < 0:
		return 1
	case v == 0 && name == "rowspan": // to the end of the table
		return most
	}
	return min(v, most)
}

// collector is a sink that keeps what it is given.
type collector struct{ blocks []block.Block }

// Put implements [block.Sink].
func (c *collector) Put(b block.Block) error {
	c.blocks = append(c.blocks, b)
	return nil
}
