package drawing

import (
	"slices"
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// maxNodes bounds the points of a diagram.
const maxNodes = 10_000

// node is a point of a diagram (ECMA-376 part 1, 21.4).
type node struct {
	kind string
	text string
	kids []kid
}

type kid struct {
	id    string
	order int
}

// Diagram returns the texts of a diagram as a list, each below what it hangs
// on.
func Diagram(p *pack.Package, part string) ([]block.Block, error) {
	nodes := map[string]*node{}
	var order []string
	err := p.Scan(part, func(s *xmlscan.Scanner) error {
		switch s.Name() {
		case "pt":
			id, n := s.Attr("modelId"), &node{kind: s.Attr("type")}
			if len(order) < maxNodes {
				nodes[id] = n
				order = append(order, id)
			}
			return n.read(s)
		case "cxn":
			if kind := s.Attr("type"); kind == "" || kind == "parOf" {
				at, _ := strconv.Atoi(s.Attr("srcOrd"))
				if from := nodes[s.Attr("srcId")]; from != nil {
					from.kids = append(from.kids, kid{s.Attr("destId"), at})
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d := diagram{nodes: nodes, seen: map[string]bool{}}
	for _, id := range order {
		if nodes[id].kind == "doc" {
			d.walk(id, 0)
		}
	}
	for _, id := range order { // what hangs on nothing
		if nodes[id].kind == "" || nodes[id].kind == "node" || nodes[id].kind == "asst" {
			d.walk(id, 0)
		}
	}
	return d.out, nil
}

// read takes a point's text.
func (n *node) read(s *xmlscan.Scanner) error {
	var paras []string
	err := s.Each(func() error {
		switch s.Name() {
		case "p":
			text, err := texts(s)
			if text != "" {
				paras = append(paras, text)
			}
			return err
		case "prSet", "spPr", "extLst":
			return s.Skip()
		}
		return nil
	})
	n.text = strings.Join(paras, "\n")
	return err
}

type diagram struct {
	nodes map[string]*node
	seen  map[string]bool
	out   []block.Block
}

// walk lists a point and what hangs on it. A damaged file may run in a circle.
func (d *diagram) walk(id string, level int) {
	n := d.nodes[id]
	if n == nil || d.seen[id] || level > 40 {
		return
	}
	d.seen[id] = true
	below := level
	if n.text != "" && n.kind != "parTrans" && n.kind != "sibTrans" && n.kind != "pres" {
		d.out = append(d.out, block.Item{Level: min(level, 8), Text: block.Plain(n.text)})
		below++
	}
	slices.SortStableFunc(n.kids, func(a, b kid) int { return a.order - b.order })
	for _, k := range n.kids {
		d.walk(k.id, below)
	}
}
