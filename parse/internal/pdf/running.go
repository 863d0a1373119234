package pdf

import (
	"math"
	"strings"
	"unicode"
)

// edge is a line at the top or bottom of a page, as the next page would repeat
// it: figures count up, the rest and the place stay.
type edge struct {
	text string
	base float64
}

// running is what stood at the edges of the last two pages, left and right.
type running struct {
	page         int // the last one
	last, before []edge
}

// trim drops the headers and footers that page n repeats from the pages before
// it. Where they stand first they stay.
func (u *running) trim(n int, segs []segment) []segment {
	if u.page != n-1 {
		u.last, u.before = nil, nil
	}
	edges, members := margins(segs)
	drop := map[int]bool{}
	for i, e := range edges {
		if e.in(u.last) || e.in(u.before) {
			for _, m := range members[i] {
				drop[m] = true
			}
		}
	}
	u.page, u.before, u.last = n, u.last, edges
	if len(drop) == 0 || len(drop) == len(segs) {
		return segs
	}
	var out []segment
	for i, s := range segs {
		if !drop[i] {
			out = append(out, s)
		}
	}
	return out
}

func (e edge) in(others []edge) bool {
	for _, o := range others {
		if e.text == o.text && math.Abs(e.base-o.base) < 4 {
			return true
		}
	}
	return false
}

// margins returns the lines at the top and the bottom that are set off from
// the text of a page, and the numbers of their segments.
func margins(segs []segment) (edges []edge, members [][]int) {
	numbered := make([]segment, 0, len(segs))
	for i, s := range segs {
		if s.aside == 0 {
			s.chars = i // rows keeps whole segments: the number travels in one
			numbered = append(numbered, s)
		}
	}
	lines := rows(numbered)
	take := func(l *line) {
		var m []int
		for _, s := range l.segs {
			m = append(m, s.chars)
		}
		edges, members = append(edges, edge{uncounted(l.text()), l.base}), append(members, m)
	}
	top := setOff(lines, 1)
	for i := range top {
		take(&lines[i])
	}
	for i := range setOff(lines[top:], -1) {
		take(&lines[len(lines)-1-i])
	}
	return edges, members
}

// setOff returns how many lines, three at most, stand before the first wide
// gap, from the top (step 1) or from the bottom (step -1).
func setOff(lines []line, step int) int {
	at := func(i int) *line {
		if step < 0 {
			i = len(lines) - 1 - i
		}
		return &lines[i]
	}
	for i := 0; i < 3 && i+1 < len(lines); i++ {
		if at(i).grid() != nil {
			return 0
		}
		gap := max(at(i+1).top-at(i).bottom, at(i).top-at(i+1).bottom)
		if gap > 0.8*max(at(i).size, 6) {
			return i + 1
		}
	}
	return 0
}

// uncounted is a text without its figures, be they Roman.
func uncounted(s string) string {
	fields := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, f := range fields {
		if strings.Trim(f, "0123456789") == "" || strings.Trim(f, "ivxlc") == "" {
			fields[i] = "#"
		}
	}
	return strings.Join(fields, " ")
}
