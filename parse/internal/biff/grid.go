package biff

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Cell is a cell that holds something. Row and Column count from 1.
type Cell struct {
	Row, Column int
	Style       int
	Kind        Kind
	Number      float64
	Text        string // of Text, Boolean and Error as they are shown
}

// Kind is what a cell holds.
type Kind int

// The kinds of cell.
const (
	Number Kind = iota
	Text
)

// Grid is the content of one sheet.
type Grid struct {
	HiddenRows    map[int]bool
	HiddenColumns [][2]int // first and last, from 1

	book *Book
	refs []ref
}

// ref says where a cell's record is. A row of numbers is one record with many.
type ref struct {
	row, column uint16
	kind        uint16
	at          uint32 // of the record's data, or of the number in a row of them
}

// Grid indexes a sheet; its cells are read by [Grid.Each].
func (b *Book) Grid(ctx context.Context, sheet Sheet) (*Grid, error) {
	g := &Grid{book: b, HiddenRows: map[int]bool{}}
	s := records{stream: b.stream, at: sheet.offset}
	depth := 0
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r, ok := s.next()
		if !ok {
			break
		}
		switch r.kind { // charts lie inside a sheet with a beginning and end of their own
		case recBOF:
			depth++
			continue
		case recEOF:
			if depth--; depth <= 0 {
				return g.sorted(), nil
			}
			continue
		}
		if depth == 1 {
			g.note(r)
		}
	}
	return g.sorted(), nil
}

func (g *Grid) note(r record) {
	switch r.kind {
	case recColInfo:
		if r.u16(8)&1 != 0 {
			g.HiddenColumns = append(g.HiddenColumns, [2]int{r.u16(0) + 1, r.u16(2) + 1})
		}
	case recRow:
		if r.u32(12)&0x20 != 0 {
			g.HiddenRows[r.u16(0)+1] = true
		}
	case recNumber, recRK, recLabel, recLabelSST, recRString, recBoolErr, recFormula:
		if len(r.data) > 6 {
			g.refs = append(g.refs, ref{uint16(r.u16(0)), uint16(r.u16(2)), uint16(r.kind), uint32(r.at)})
		}
	case recMulRK:
		for i := 0; 4+6*i+6 <= len(r.data)-2; i++ {
			g.refs = append(g.refs, ref{uint16(r.u16(0)), uint16(r.u16(2) + i), recMulRK, uint32(r.at + 4 + 6*i)})
		}
	}
}

// sorted puts the cells in order, if their writer did not, and keeps the last
// of those that lie on one another.
func (g *Grid) sorted() *Grid {
	order := func(a, b ref) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.column, b.column)) }
	if !slices.IsSortedFunc(g.refs, order) {
		slices.SortStableFunc(g.refs, order)
	}
	return g
}

// Each calls visit for every cell, row by row.
func (g *Grid) Each(visit func(Cell) error) error {
	for i, r := range g.refs {
		if i+1 < len(g.refs) && g.refs[i+1].row == r.row && g.refs[i+1].column == r.column {
			continue
		}
		if err := visit(g.cell(r)); err != nil {
			return err
		}
	}
	return nil
}

func (g *Grid) cell(at ref) Cell {
	c := Cell{Row: int(at.row) + 1, Column: int(at.column) + 1}
	if at.kind == recMulRK {
		r := record{data: g.book.stream[at.at:min(int(at.at)+6, len(g.book.stream))]}
		c.Style, c.Number = r.u16(0), rk(r.u32(2))
		return c
	}
	s := records{stream: g.book.stream, at: int(at.at) - 4}
	r, _ := s.next()
	c.Style = r.u16(4)
	rest := r.data[min(6, len(r.data)):]
	switch r.kind {
	case recNumber:
		c.Number = math.Float64frombits(r.u64(6))
	case recRK:
		c.Number = rk(r.u32(6))
	case recLabelSST:
		c.Kind, c.Text = Text, g.book.shared.at(int(r.u32(6)))
	case recLabel, recRString:
		c.Kind, c.Text = Text, g.book.label(rest, r.u16(6))
	case recBoolErr:
		c.Kind, c.Text = Text, boolErr(r.u8(6), r.u8(7) != 0)
	case recFormula:
		g.result(&c, r, s)
	}
	return c
}

// label reads a string that follows its two-byte length.
func (b *Book) label(data []byte, n int) string {
	data = data[min(2, len(data)):]
	if b.version == biff8 {
		return text8(data, n)
	}
	return text5(data, n, b.page)
}

func boolErr(v byte, isError bool) string {
	switch {
	case isError:
		return errorText(v)
	case v != 0:
		return "TRUE"
	}
	return "FALSE"
}

// result reads what a formula gave: a number, or what its first byte says
// ([MS-XLS] 2.5.133). A text stands in a record that follows.
func (g *Grid) result(c *Cell, r record, s records) {
	if r.u16(12) != 0xFFFF {
		c.Number = math.Float64frombits(r.u64(6))
		return
	}
	c.Kind = Text
	switch r.u8(6) {
	case 0:
		for range 4 { // the formula's shared or array form may stand between
			next, ok := s.next()
			if !ok || next.kind == recString {
				c.Text = g.book.stringResult(next, &s)
				return
			}
		}
	case 1:
		c.Text = boolErr(r.u8(8), false)
	case 2:
		c.Text = boolErr(r.u8(8), true)
	}
}

// stringResult reads a text that may go on in CONTINUE records.
func (b *Book) stringResult(r record, s *records) string {
	if len(r.data) < 3 {
		return ""
	}
	if b.version != biff8 {
		return text5(r.data[2:], r.u16(0), b.page)
	}
	c := chars{parts: [][]byte{r.data[3:]}}
	for s.peek() == recContinue {
		more, ok := s.next()
		if !ok {
			break
		}
		c.parts = append(c.parts, more.data)
	}
	return c.text(r.u16(0), r.u8(2)&1 != 0)
}

// rk decodes a number of 30 bits and two flags ([MS-XLS] 2.5.218).
func rk(v uint32) float64 {
	var f float64
	if v&2 != 0 {
		f = float64(int32(v) >> 2)
	} else {
		f = math.Float64frombits(uint64(v&^3) << 32)
	}
	if v&1 != 0 {
		f /= 100
	}
	return f
}
