package pdf

import (
	"math"
	"slices"

	"github.com/holodeck-run/holodeck/parse/internal/block"
)

// grid is what stands on a page instead of text: a picture, or a table: what stands in its cells and, of a ruled one, the lines
// between its columns and rows.
type grid struct {
	xs, ys []float64
	z      rules
	cells  [][][]segment
	alt    string // what a picture shows; it has no cells
}

// maxCells bounds the tables that a document claims to have.
const maxCells = 200_000

// grids finds the ruled tables of a page and takes their text out of segs. In
// its place each leaves one segment, so that it keeps its place in the order.
func grids(segs []segment, z rules) []segment {
	for _, g := range frames(z) {
		inside, rest := g.take(segs)
		if !g.fill(inside) {
			continue
		}
		t := segment{
			grid: g, left: g.xs[0], right: g.xs[len(g.xs)-1], top: g.ys[0], bottom: g.ys[len(g.ys)-1],
			base: g.ys[0] + 1, size: 1, chars: 60,
		}
		at := slices.IndexFunc(rest, func(s segment) bool { return s.aside > 0 })
		if at < 0 {
			at = len(rest)
		}
		segs = slices.Insert(rest, at, t)
	}
	return segs
}

// tabled takes the text of tagged tables out of segs; in its place each table
// leaves one segment. A table of one row or column is how a page was laid out
// and stays text; so does one whose tags contradict where its cells stand.
func tabled(segs []segment, tables int) []segment {
	for n := 1; n <= tables; n++ {
		rows, columns := 0, 0
		for _, s := range segs {
			if s.tag.table == n {
				rows, columns = max(rows, s.tag.row+1), max(columns, s.tag.column+1)
			}
		}
		if rows < 2 || columns < 2 || rows*columns > maxCells {
			continue
		}
		g := &grid{cells: cells(rows, columns)}
		t := segment{grid: g, left: math.Inf(1), top: math.Inf(1), right: math.Inf(-1), bottom: math.Inf(-1), size: 1, chars: 60}
		var rest []segment
		at := -1
		for _, s := range segs {
			if s.tag.table != n {
				rest = append(rest, s)
				continue
			}
			if at < 0 {
				at = len(rest)
			}
			g.cells[s.tag.row][s.tag.column] = append(g.cells[s.tag.row][s.tag.column], s)
			t.left, t.right = min(t.left, s.left), max(t.right, s.right)
			t.top, t.bottom = min(t.top, s.top), max(t.bottom, s.bottom)
			t.aside = s.aside
		}
		if !g.orderly() {
			continue
		}
		t.base = t.top + 1
		segs = slices.Insert(rest, at, t)
	}
	return segs
}

// orderly says whether the cells of every row but a few stand from left to
// right and its rows from top to bottom.
func (g *grid) orderly() bool {
	wrong, all := 0, 0
	above := math.Inf(-1)
	for _, row := range g.cells {
		beside, top := math.Inf(-1), math.Inf(1)
		for _, cell := range row {
			for _, s := range cell {
				top = min(top, s.top)
			}
			if len(cell) == 0 {
				continue
			}
			all++
			if cell[0].left < beside-1 {
				wrong++
			}
			beside = cell[0].left
		}
		if math.IsInf(top, 1) {
			continue
		}
		if top < above-slack {
			wrong++
		}
		above = top
	}
	return wrong*20 <= all
}

func cells(rows, columns int) [][][]segment {
	out := make([][][]segment, rows)
	for i := range out {
		out[i] = make([][]segment, columns)
	}
	return out
}

// frames groups lines that cross, and makes a grid of each group that has
// rows and columns.
func frames(z rules) []*grid {
	n := len(z.level)
	group := make([]int, n+len(z.upright))
	for i := range group {
		group[i] = i
	}
	root := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	for i, h := range z.level {
		for j, v := range z.upright {
			if v.at >= h.from-slack && v.at <= h.to+slack && h.at >= v.from-slack && h.at <= v.to+slack {
				group[root(i)] = root(n + j)
			}
		}
	}
	byRoot := map[int]*grid{}
	var order []*grid
	for i := range group {
		g := byRoot[root(i)]
		if g == nil {
			g = &grid{}
			byRoot[root(i)] = g
			order = append(order, g)
		}
		if i < n {
			g.z.level = append(g.z.level, z.level[i])
		} else {
			g.z.upright = append(g.z.upright, z.upright[i-n])
		}
	}
	return slices.DeleteFunc(order, func(g *grid) bool {
		g.xs, g.ys = positions(g.z.upright), positions(g.z.level)
		return len(g.xs) < 3 || len(g.ys) < 3 || len(g.xs) > 64 || len(g.ys) > 400
	})
}

// positions returns where lines run, near ones as one.
func positions(rs []rule) []float64 {
	var at []float64
	for _, r := range rs {
		at = append(at, r.at)
	}
	slices.Sort(at)
	out := at[:0]
	for _, x := range at {
		if n := len(out); n == 0 || x-out[n-1] > slack+1 {
			out = append(out, x)
		}
	}
	return out
}

// take parts the segments that stand in the grid from the others.
func (g *grid) take(segs []segment) (inside, rest []segment) {
	for _, s := range segs {
		x, y := (s.left+s.right)/2, (s.top+s.bottom)/2
		if s.aside == 0 && s.grid == nil && x > g.xs[0] && x < g.xs[len(g.xs)-1] && y > g.ys[0]-1 && y < g.ys[len(g.ys)-1]+1 {
			inside = append(inside, s)
		} else {
			rest = append(rest, s)
		}
	}
	return inside, rest
}

// fill puts segments into cells and says whether that makes a table rather
// than a frame around prose or a drawing. Cells without a line between them
// are one: its text stands in the first.
func (g *grid) fill(segs []segment) bool {
	rows, columns := len(g.ys)-1, len(g.xs)-1
	g.cells = cells(rows, columns)
	for _, s := range segs {
		r, c := index(g.ys, (s.top+s.bottom)/2), index(g.xs, min((s.left+s.right)/2, s.left+8))
		for c > 0 && !g.borderLeft(r, c) {
			c--
		}
		for r > 0 && !g.borderAbove(r, c) {
			r--
		}
		g.cells[r][c] = append(g.cells[r][c], s)
	}
	g.split()
	rows = len(g.cells)
	filled, used, longest := 0, map[int]bool{}, 0
	for _, row := range g.cells {
		for c, cell := range row {
			if len(cell) == 0 {
				continue
			}
			filled++
			used[c] = true
			n := 0
			for _, s := range cell {
				n += s.chars
			}
			longest = max(longest, n)
			if nested(cell) {
				return false
			}
		}
	}
	return filled >= 3 && len(used) >= 2 && filled*8 >= rows*columns && longest < 1500
}

// split parts rows that hold several lines of figures without a rule between
// them: three quarters of their cells have the same number of lines, three at
// least, at the same heights.
func (g *grid) split() {
	var out [][][]segment
	for _, row := range g.cells {
		n, lines := 0, make([][]line, len(row))
		times := map[int]int{}
		for c, cell := range row {
			if len(cell) > 0 {
				lines[c] = rows(cell)
				times[len(lines[c])]++
				n++
			}
		}
		most := 0
		for k, t := range times {
			if k >= 3 && t*4 >= n*3 {
				most = k
			}
		}
		if n < 4 || most == 0 {
			out = append(out, row)
			continue
		}
		out = append(out, parted(lines, most)...)
	}
	g.cells = out
}

// parted puts the lines of a row's cells into rows of their own, by height.
func parted(cells [][]line, most int) [][][]segment {
	var bases []float64
	for _, lines := range cells {
		if len(lines) == most {
			for _, l := range lines {
				bases = append(bases, l.base)
			}
			break
		}
	}
	out := make([][][]segment, most)
	for i := range out {
		out[i] = make([][]segment, len(cells))
	}
	for c, lines := range cells {
		for _, l := range lines {
			at := 0
			for i, b := range bases {
				if math.Abs(l.base-b) < math.Abs(l.base-bases[at]) {
					at = i
				}
			}
			out[at][c] = append(out[at][c], l.segs...)
		}
	}
	return out
}

// nested says whether a cell is itself laid out in columns: the lines around it
// part a form, not a table.
func nested(cell []segment) bool {
	if len(cell) < 8 {
		return false
	}
	parted := 0
	lines := rows(cell)
	for _, l := range lines {
		if len(l.pieces) > 1 {
			parted++
		}
	}
	return parted >= 4 && parted*2 >= len(lines)
}

// index returns which interval of edges holds x.
func index(edges []float64, x float64) int {
	i, _ := slices.BinarySearch(edges, x)
	return min(max(i-1, 0), len(edges)-2)
}

func (g *grid) borderLeft(r, c int) bool {
	y := (g.ys[r] + g.ys[r+1]) / 2
	return crossed(g.z.upright, g.xs[c], y)
}

func (g *grid) borderAbove(r, c int) bool {
	x := (g.xs[c] + g.xs[c+1]) / 2
	return crossed(g.z.level, g.ys[r], x)
}

func crossed(rs []rule, at, along float64) bool {
	for _, r := range rs {
		if math.Abs(r.at-at) <= slack+1 && r.from-slack <= along && r.to+slack >= along {
			return true
		}
	}
	return false
}

// put prints the table. Rows and columns without any text are left out.
func (g *grid) put(sink block.Sink) error {
	if g.alt != "" {
		return sink.Put(block.Image{Alt: g.alt})
	}
	if err := sink.Put(block.TableStart{}); err != nil {
		return err
	}
	empty := make([]bool, len(g.cells[0]))
	for c := range empty {
		empty[c] = !slices.ContainsFunc(g.cells, func(row [][]segment) bool { return len(row[c]) > 0 })
	}
	for _, row := range g.cells {
		if !slices.ContainsFunc(row, func(cell []segment) bool { return len(cell) > 0 }) {
			continue
		}
		var cells []block.Cell
		for c, cell := range row {
			if !empty[c] {
				cells = append(cells, inCell(cellText(cell)))
			}
		}
		if err := sink.Put(block.TableRow{Cells: cells}); err != nil {
			return err
		}
	}
	return sink.Put(block.TableEnd{})
}

// inCell returns a cell with a text.
func inCell(t block.Text) block.Cell {
	if len(t) == 1 && t[0].Link == "" {
		return block.Cell{Plain: t[0].Text}
	}
	if len(t) == 0 {
		return block.Cell{}
	}
	return block.Cell{Blocks: []block.Block{block.Paragraph{Text: t}}}
}

// cellText joins the lines of a cell; entries of a list keep their lines.
func cellText(segs []segment) block.Text {
	lines := rows(segs)
	var text block.Text
	for i := 0; i < len(lines); {
		end := i + 1
		for end < len(lines) {
			if _, mark := item(lines[end].text()); mark > 0 {
				break
			}
			end++
		}
		if len(text) > 0 {
			text = append(text, block.Run{Text: "\n"})
		}
		text = append(text, join(lines[i:end])...)
		i = end
	}
	return merged(text)
}
