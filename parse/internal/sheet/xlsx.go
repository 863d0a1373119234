package sheet

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// Request says what to read of a workbook.
type Request struct {
	Sheet    string // name, or number from 1; "" for all that are not hidden
	Range    string // cells, or a defined name; "" for all
	Progress func(done, total int)
}

// Result says what was read.
type Result struct {
	Sheets   []string // all sheets, in the workbook's order
	Sheet    string   // the one sheet that was read, "" if all were
	Warnings []string
}

// Workbook puts a workbook's sheets at sink, each as a heading and a table.
func Workbook(ctx context.Context, r io.ReaderAt, size int64, q Request, sink block.Sink) (Result, error) {
	w, err := openWorkbook(r, size)
	if err != nil {
		return Result{}, err
	}
	result := Result{Sheets: w.all()}
	chosen, want, err := w.choose(q)
	if err != nil {
		return result, err
	}
	if q.Sheet != "" || q.Range != "" {
		result.Sheet = chosen[0].name
	}
	if err := w.readStrings(); err != nil {
		return result, err
	}
	var left leftOut
	if q.Sheet == "" && q.Range == "" {
		left.sheets(w.sheets)
	}
	for i, e := range chosen {
		t := table{book: w, want: want, name: e.name, sink: sink}
		read := t.read
		if w.binary != nil {
			read = t.readBinary
		}
		if err := read(ctx, e); err != nil {
			return result, err
		}
		if q.Range != "" && t.rows == 0 {
			return result, outside(q.Range, fmt.Sprintf("sheet %q", e.name), t.used)
		}
		left.table(&t)
		if q.Progress != nil {
			q.Progress(i+1, len(chosen))
		}
	}
	if s := left.String(); s != "" {
		result.Warnings = append(result.Warnings, s)
	}
	// A sheet without a name ends the last one: what follows is not its.
	return result, sink.Put(block.Sheet{})
}

// choose resolves sheet and range to the sheets to read and the cells wanted.
func (w *workbook) choose(q Request) ([]entry, area, error) {
	want, inside := everything(), q.Sheet
	if q.Range != "" {
		ref := q.Range
		if named, ok := w.names[strings.ToLower(strings.TrimSpace(ref))]; ok {
			ref = named
		}
		cells := ref
		if i := strings.LastIndexByte(ref, '!'); i >= 0 {
			cells = ref[i+1:]
			named := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(ref[:i], "'"), "'"), "''", "'")
			if inside != "" && !strings.EqualFold(inside, named) {
				return nil, want, fault.New(fault.ExtractionParam, "", "Leave sheet out, or name that one.", "range %q lies on sheet %q, not on %q", q.Range, named, inside)
			}
			inside = named
		}
		var ok bool
		if want, ok = parseArea(cells); !ok {
			return nil, want, badArea(q.Range, w.nameHint())
		}
	}
	if inside != "" {
		e, err := w.find(inside)
		return []entry{e}, want, err
	}
	visible := slices.DeleteFunc(slices.Clone(w.sheets), func(e entry) bool { return e.hidden })
	if len(visible) == 0 {
		visible = w.sheets
	}
	if q.Range != "" {
		visible = visible[:1]
	}
	return visible, want, nil
}

func (w *workbook) nameHint() string {
	names := make([]string, 0, len(w.names))
	for n, ref := range w.names {
		if !strings.HasPrefix(n, "_xlnm") && strings.Contains(ref, "!") && len(names) < 10 {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return ", or use a defined name (" + strings.Join(names, ", ") + ")"
}

// table is one sheet in the reading.
type table struct {
	book *workbook
	sink block.Sink
	name string
	want area

	used       area
	rows       int
	hidden     []area // columns, as left and right
	hiddenRows []int  // their numbers, as runs of first and last

	row, column int // where the scanner is; the next cell without a reference follows it
	cells       []block.Cell
	value       []byte
	inline      []byte
}

func (t *table) read(ctx context.Context, e entry) error {
	r, err := t.book.pkg.Open(e.part)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if err := t.sink.Put(block.Sheet{Name: t.name}); err != nil {
		return err
	}
	s := xmlscan.New(r)
	started := false
	for {
		k, err := s.Next()
		switch {
		case err != nil:
			return pack.Damaged(err)
		case k == xmlscan.EOF || k == xmlscan.End && s.Is("sheetData"):
			if !started {
				return nil
			}
			return t.sink.Put(block.TableEnd{})
		case k != xmlscan.Start:
		case s.Is("col"):
			t.noteColumn(s)
		case s.Is("row"):
			if !started {
				started = true
				if err := t.sink.Put(block.TableStart{Trim: true}); err != nil {
					return err
				}
			}
			if err := t.readRow(s); err != nil {
				return err
			}
			if t.row%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if t.row > t.want.bottom {
				return t.sink.Put(block.TableEnd{})
			}
		}
	}
}

// noteColumn notes columns that are hidden.
func (t *table) noteColumn(s *xmlscan.Scanner) {
	if !truth(s.Attr("hidden")) {
		return
	}
	from, err1 := strconv.Atoi(s.Attr("min"))
	to, err2 := strconv.Atoi(s.Attr("max"))
	if err1 == nil && err2 == nil && from >= 1 && from <= to {
		t.hidden = append(t.hidden, area{left: from, right: to})
	}
}

func (t *table) hides(column int) bool {
	for _, h := range t.hidden {
		if column >= h.left && column <= h.right {
			return true
		}
	}
	return false
}

func (t *table) readRow(s *xmlscan.Scanner) error {
	t.row++
	if n, err := strconv.Atoi(string(s.Raw("r"))); err == nil && n >= 1 && n <= lastRow {
		t.row = n
	}
	hidden := truth(string(s.Raw("hidden")))
	t.column = 0
	t.cells = t.cells[:0]
	any := false
	err := s.Each(func() error {
		if !s.Is("c") {
			return nil
		}
		filled, err := t.readCell(s, hidden)
		any = any || filled
		return err
	})
	if err != nil {
		return pack.Damaged(err)
	}
	if hidden && any {
		t.hideRow()
		return nil
	}
	return t.putRow()
}

func (t *table) hideRow() {
	if t.row < t.want.top || t.row > t.want.bottom {
		return
	}
	if n := len(t.hiddenRows); n > 0 && t.hiddenRows[n-1] == t.row-1 {
		t.hiddenRows[n-1] = t.row
		return
	}
	t.hiddenRows = append(t.hiddenRows, t.row, t.row)
}

func (t *table) putRow() error {
	if len(t.cells) == 0 || t.row < t.want.top || t.row > t.want.bottom {
		return nil
	}
	t.rows++
	return t.sink.Put(block.TableRow{Cells: t.cells, At: t.row})
}

// readCell reads a cell and places it.
func (t *table) readCell(s *xmlscan.Scanner, hidden bool) (filled bool, err error) {
	t.column++
	if c, r, ok := parseCell(string(s.Raw("r"))); ok && c > 0 {
		t.column = c
		if r > 0 && r != t.row && len(t.cells) == 0 {
			t.row = r
		}
	}
	style, _ := strconv.Atoi(string(s.Raw("s")))
	kind := cellKind(s.Raw("t"))
	if err := t.readValue(s); err != nil {
		return false, err
	}
	return t.place(t.show(kind, style), hidden), nil
}

// place appends a cell to the row, with the empty ones before it.
func (t *table) place(text string, hidden bool) (filled bool) {
	if strings.TrimSpace(text) == "" || t.column > lastColumn {
		return false
	}
	if hidden {
		return true
	}
	t.used.grow(t.row, t.column)
	if t.column < t.want.left || t.column > t.want.right || t.hides(t.column) {
		return true
	}
	at := t.column - t.want.left
	for _, h := range t.hidden { // columns left out take no room
		at -= max(0, min(h.right, t.column)-max(h.left, t.want.left)+1)
	}
	for len(t.cells) <= at {
		t.cells = append(t.cells, block.Cell{})
	}
	t.cells[at].Plain = text
	return true
}
