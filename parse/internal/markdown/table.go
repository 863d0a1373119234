package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
)

// table is one table in the making. Rows are printed as they come, each as
// wide as it is; endTable gives all of them the width of the widest. So a
// table of a million rows is printed in one pass without being held.
type table struct {
	start int   // offset in buf
	size  int64 // of buf before the table
	rows  []printed
	width int
	trim  bool
	lead  int   // empty cells that every row begins with
	spans []int // rows still covered by a cell above, a count a column
}

type printed struct {
	end   int32 // offset in buf after the row, from the table's start
	cells int32
	at    int32
}

func (w *Writer) startTable(trim bool) {
	depth := w.quote
	w.quoteTo(0) // a table is printed by the byte, outside of quotations
	w.begin(other)
	w.quote = depth
	w.table = &table{start: len(w.buf), size: w.size, trim: trim, lead: 1 << 20}
}

func (w *Writer) row(r block.TableRow) {
	t := w.table
	if t == nil {
		w.startTable(false)
		t = w.table
	}
	w.filled = true
	begin := len(w.buf)
	w.buf = append(w.buf, '|')
	n := 0
	for _, c := range r.Cells {
		n = w.covered(n)
		w.cell(c)
		for i := range max(c.Across, 1) {
			if i > 0 {
				w.buf = append(w.buf, blank...)
			}
			t.cover(n, c.Down)
			n++
		}
	}
	n = w.covered(n)
	w.buf = append(w.buf, '\n')
	w.size += jsonSize(w.buf[begin:])
	t.width = max(t.width, n)
	t.lead = min(t.lead, leading(w.buf[begin+1:]))
	t.rows = append(t.rows, printed{int32(len(w.buf) - t.start), int32(n), int32(r.At)})
	if w.at.First == 0 {
		w.at.First = r.At
	}
	if w.size+int64(6*t.width)+4 <= w.limit { // with the rule below the header
		w.at.Rows = r.At
	}
}

const blank = "  |" // how an empty cell is printed

// leading counts the empty cells that a printed row begins with.
func leading(row []byte) int {
	n := 0
	for ; bytes.HasPrefix(row, []byte(blank)); n++ {
		row = row[len(blank):]
	}
	return n
}

// covered prints blanks for the cells at column n and after that a taller
// cell above covers, and returns the next free column.
func (w *Writer) covered(n int) int {
	for n < len(w.table.spans) && w.table.spans[n] > 0 {
		w.table.spans[n]--
		w.buf = append(w.buf, blank...)
		n++
	}
	return n
}

func (t *table) cover(column, down int) {
	if down <= 1 {
		return
	}
	for len(t.spans) <= column {
		t.spans = append(t.spans, 0)
	}
	t.spans[column] = down - 1
}

func (w *Writer) cell(c block.Cell) {
	text := c.Plain
	switch {
	case len(c.Blocks) > 0:
		text = flatten(c.Blocks)
	case text != "":
		text = breaks(escape(strings.TrimSpace(text), 0, 0, true), true)
	}
	w.buf = append(w.buf, ' ')
	w.buf = append(w.buf, text...)
	w.buf = append(w.buf, " |"...)
}

// endTable squares the table: every row gets the cells it lacks, and the rule
// goes below the first. What that costs is known before it is spent.
func (w *Writer) endTable() error {
	t := w.table
	w.table = nil
	if t == nil || len(t.rows) == 0 || t.width == 0 {
		if t != nil {
			w.buf, w.size = w.buf[:t.start], t.size
		}
		return w.check()
	}
	if !t.trim || t.lead >= t.width {
		t.lead = 0
	}
	rule := "|" + strings.Repeat(" --- |", t.width-t.lead) + "\n"
	extra := len(rule) - len(blank)*t.lead*len(t.rows)
	for _, r := range t.rows {
		extra += len(blank) * (t.width - int(r.cells))
	}
	w.size += int64(extra) + 1
	if err := w.check(); err != nil {
		return w.tooWide(t, err.(*TooLong), len(rule))
	}
	w.square(t, rule, extra)
	w.size -= 2 // the last line's end is not kept
	return nil
}

func (w *Writer) square(t *table, rule string, extra int) {
	body := slices.Clone(w.buf[t.start:])
	w.buf = slices.Grow(w.buf[:t.start], max(0, len(body)+extra))
	begin := 0
	for i, r := range t.rows {
		w.buf = append(w.buf, '|')
		w.buf = append(w.buf, body[begin+1+len(blank)*t.lead:r.end-1]...)
		for range t.width - int(r.cells) {
			w.buf = append(w.buf, blank...)
		}
		w.buf = append(w.buf, '\n')
		if i == 0 {
			w.buf = append(w.buf, rule...)
		}
		begin = int(r.end)
	}
	w.buf = w.buf[:len(w.buf)-1]
}

// tooWide corrects how many rows fit, now that the width is known.
func (w *Writer) tooWide(t *table, e *TooLong, rule int) error {
	size := t.size + int64(rule) + 1
	begin := int32(0)
	e.Rows = 0
	for _, r := range t.rows {
		size += jsonSize(w.buf[t.start+int(begin):t.start+int(r.end)]) + int64(len(blank)*(t.width-int(r.cells)-t.lead))
		if size > w.limit {
			break
		}
		e.Rows, begin = int(r.at), r.end
	}
	return e
}

// flatten prints the blocks of a cell on one line, joined by <br>.
func flatten(blocks []block.Block) string {
	var lines []string
	var cells []string
	for _, b := range blocks {
		switch b := b.(type) {
		case block.Paragraph:
			lines = append(lines, inline(b.Text, true))
		case block.Heading:
			lines = append(lines, inline(b.Text, true))
		case block.Item:
			lines = append(lines, strings.Repeat("&emsp;", min(b.Level, 8))+itemMark(b)+inline(b.Text, true))
		case block.Code:
			lines = append(lines, breaks(escape(b.Text, 0, 0, true), true))
		case block.Equation:
			lines = append(lines, "$"+latex(b.LaTeX, true)+"$")
		case block.Image:
			lines = append(lines, image(b.Alt, true))
		case block.Note:
			lines = append(lines, "[^"+b.Label+"]: "+inline(b.Text, true))
		case block.TableRow: // a table in a table: one line a row
			cells = cells[:0]
			for _, c := range b.Cells {
				if c.Plain != "" {
					cells = append(cells, breaks(escape(c.Plain, 0, 0, true), true))
				} else if s := flatten(c.Blocks); s != "" {
					cells = append(cells, s)
				}
			}
			lines = append(lines, strings.Join(cells, " / "))
		}
	}
	lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
	return strings.Join(lines, "<br>")
}

func itemMark(b block.Item) string {
	switch {
	case b.Label != "":
		return escape(b.Label, 0, 0, true) + " "
	case b.Ordered:
		return fmt.Sprintf("%d. ", b.Number)
	default:
		return "• "
	}
}
