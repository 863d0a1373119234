package pdf

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// piece is a stretch of a line that stands apart from the rest of it.
type piece struct {
	segs        []segment
	left, right float64
	chars       int
}

// apart parts the segments of a line at gaps too wide for a space between
// words.
func apart(segs []segment, size float64) []piece {
	var out []piece
	for i, s := range segs {
		n := len(out) - 1
		if n >= 0 && max(s.left-out[n].right, out[n].left-s.right) < 0.9*max(size, 4) {
			p := &out[n]
			p.segs, p.chars = segs[i-len(p.segs):i+1], p.chars+s.chars
			p.left, p.right = min(p.left, s.left), max(p.right, s.right)
			continue
		}
		out = append(out, piece{segs[i : i+1], s.left, s.right, s.chars})
	}
	return out
}

// aligned finds a table without lines that begins at line i: rows of short
// texts that stand under each other. It returns the line behind it, and nil if
// there is none.
func (d *document) aligned(r region, i int) (*grid, int) {
	if len(r.lines[i].pieces) < 2 {
		return nil, 0
	}
	end := d.reach(r, i)
	for ; end-i >= 3; end-- {
		if len(r.lines[end-1].pieces) < 2 {
			continue // a table ends with a row
		}
		t := alignment{lines: r.lines[i:end]}
		if t.measure() {
			return t.grid(), end
		}
		return nil, 0
	}
	return nil, 0
}

// reach returns the line behind the last that may be part of a table that
// begins at line i.
func (d *document) reach(r region, i int) int {
	alone := 0
	end := i + 1
	for ; end < len(r.lines); end++ {
		l, prev := &r.lines[end], &r.lines[end-1]
		size := max(min(l.size, prev.size), 1)
		if l.grid() != nil || l.base-prev.base > 4*size || l.size > 1.3*r.lines[i].size || l.tag.role != plain {
			break
		}
		if len(l.pieces) > 1 {
			alone = 0
			continue
		}
		if alone++; alone > 2 || l.right-l.left > 0.6*(r.right-r.left) {
			break
		}
	}
	return end
}

// alignment is lines that may be the rows of a table.
type alignment struct {
	lines []line
	rows  [][]piece
	edges []float64 // where a column ends and the next begins
}

// measure finds the columns and says whether they are those of a table.
func (t *alignment) measure() bool {
	full := 0
	size := 0.0
	for i := range t.lines {
		t.rows = append(t.rows, t.lines[i].pieces)
		if len(t.rows[i]) > 1 {
			full++
		}
		size += t.lines[i].size / float64(len(t.lines))
	}
	if full < 3 || full*2 < len(t.rows) {
		return false
	}
	t.edges = gaps(t.rows, full, size)
	t.merge()
	return len(t.edges) > 0 && len(t.edges) < 40 && !t.leaders() && t.regular(full, size)
}

// merge makes one column of neighbours that no row fills both of: a heading
// wider than what is below it leaves such.
func (t *alignment) merge() {
	for c := 0; c < len(t.edges); {
		both := slices.ContainsFunc(t.rows, func(row []piece) bool {
			at := func(want int) bool {
				return slices.ContainsFunc(row, func(p piece) bool { return t.column(p) == want })
			}
			return at(c) && at(c+1)
		})
		if both {
			c++
		} else {
			t.edges = slices.Delete(t.edges, c, c+1)
		}
	}
}

// leaders says whether dots lead from the texts to the numbers of pages.
func (t *alignment) leaders() bool {
	n := 0
	for i := range t.lines {
		if leader.MatchString(t.lines[i].text()) {
			n++
		}
	}
	return n*3 > len(t.lines)
}

// gaps returns the middles of the white strips that hardly any piece crosses.
func gaps(rows [][]piece, full int, size float64) []float64 {
	left, right := math.Inf(1), math.Inf(-1)
	for _, row := range rows {
		left, right = min(left, row[0].left), max(right, row[len(row)-1].right)
	}
	const step = 1.0
	n := int((right-left)/step) + 1
	if n < 2 || n > 10_000 {
		return nil
	}
	count := make([]int, n+1)
	for _, row := range rows {
		if len(row) < 2 {
			continue
		}
		for _, p := range row {
			for x := int((p.left - left) / step); x <= int((p.right-left)/step) && x <= n; x++ {
				count[x]++
			}
		}
	}
	var out []float64
	for x := 0; x <= n; x++ {
		if count[x]*12 > full {
			continue
		}
		from := x
		for x+1 <= n && count[x+1]*12 <= full {
			x++
		}
		if from > 0 && x < n && float64(x-from)*step >= 0.4*size {
			out = append(out, left+float64(from+x)/2*step)
		}
	}
	return out
}

// column returns the column that a piece stands in: the one of its beginning,
// unless the most of it is in the next.
func (t *alignment) column(p piece) int {
	c, _ := slices.BinarySearch(t.edges, p.left)
	if c < len(t.edges) && t.edges[c]-p.left < 0.25*(p.right-p.left) && p.right > t.edges[c] {
		c++
	}
	return c
}

// regular says whether the columns hold what tables hold: each in most rows
// one text, texts that line up, and not prose side by side.
func (t *alignment) regular(full int, size float64) bool {
	columns := make([][]piece, len(t.edges)+1)
	clash, filled := 0, 0
	for _, row := range t.rows {
		last := -1
		for _, p := range row {
			c := t.column(p)
			if c == last {
				clash++
			} else {
				filled++
			}
			last = c
			if len(row) > 1 {
				columns[c] = append(columns[c], p)
			}
		}
	}
	if clash*6 > full || filled*2 < len(t.rows)*len(columns) {
		return false
	}
	long, lined := 0, 0
	for _, c := range columns {
		if len(c) == 0 {
			return false
		}
		chars := 0
		for _, p := range c {
			chars += p.chars
		}
		if chars > 45*len(c) {
			long++
		}
		if linesUp(c, size) {
			lined++
		}
	}
	if lined < len(columns)-1 || long > 1 || long == len(columns) {
		return false
	}
	return len(columns) > 2 || full >= 3 && !t.numbered() && len(columns[1])*2 > len(t.rows)
}

// linesUp says whether most texts of a column begin, end, or have their middle
// at one place.
func linesUp(c []piece, size float64) bool {
	edge := func(at func(piece) float64) bool {
		xs := make([]float64, len(c))
		for i, p := range c {
			xs[i] = at(p)
		}
		slices.Sort(xs)
		most := 0
		for i, j := 0, 0; j < len(xs); j++ {
			for xs[j]-xs[i] > 0.5*size {
				i++
			}
			most = max(most, j-i+1)
		}
		return most*10 >= 6*len(xs)
	}
	return edge(func(p piece) float64 { return p.left }) || edge(func(p piece) float64 { return p.right }) ||
		edge(func(p piece) float64 { return (p.left + p.right) / 2 })
}

// numbered says whether the first column counts lines or names the entries of
// a list.
func (t *alignment) numbered() bool {
	counts, marks := 0, 0
	last := 0
	for _, row := range t.rows {
		text := row[0].segs[0].text
		if n, err := strconv.Atoi(text); err == nil {
			if n == last+1 || last == 0 {
				counts++
			}
			last = n
		}
		if _, mark := item(text + " x"); mark > 0 || !strings.ContainsFunc(text, unicode.IsLetter) && len(text) < 4 {
			marks++
		}
	}
	return counts*3 > 2*len(t.rows) || marks*2 > len(t.rows)
}

// leader are the dots that lead from a title to the number of its page.
var leader = regexp.MustCompile(`(\. ?){4,}`)

// grid puts the pieces into cells. A line without a text in the first column
// that follows closely goes on with the row above, unless it brings figures of
// its own.
func (t *alignment) grid() *grid {
	g := &grid{}
	usual := t.distance()
	for i, row := range t.rows {
		cells := make([][]segment, len(t.edges)+1)
		for _, p := range row {
			c := t.column(p)
			cells[c] = append(cells[c], p.segs...)
		}
		n := len(g.cells) - 1
		if n >= 0 && len(cells[0]) == 0 && (len(row) == 1 || !figures(row)) && t.lines[i].base-t.lines[i-1].base < 0.85*usual {
			for c := range cells {
				g.cells[n][c] = append(g.cells[n][c], cells[c]...)
			}
			continue
		}
		g.cells = append(g.cells, cells)
	}
	return g
}

// figures says whether one of the pieces is a number.
func figures(row []piece) bool {
	return slices.ContainsFunc(row, func(p piece) bool {
		text := p.segs[0].text
		return strings.ContainsFunc(text, unicode.IsDigit) && !strings.ContainsFunc(text, unicode.IsLetter)
	})
}

// distance returns the median of that between rows that begin in the first
// column.
func (t *alignment) distance() float64 {
	var ds []float64
	last := math.NaN()
	for i, row := range t.rows {
		if t.column(row[0]) != 0 {
			continue
		}
		if !math.IsNaN(last) {
			ds = append(ds, t.lines[i].base-last)
		}
		last = t.lines[i].base
	}
	if len(ds) == 0 {
		return 0
	}
	slices.Sort(ds)
	return ds[len(ds)/2]
}
