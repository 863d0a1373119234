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
		if err := t.read(ctx, e.part); err != nil {
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

func (t *table) read(ctx context.Context, part string) error {
	r, err := t.book.pkg.Open(part)
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
			t.column1(s)
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

// column1 notes columns that are hidden.
func (t *table) column1(s *xmlscan.Scanner) {
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
	depth := s.Depth()
	any := false
	for {
		k, err := s.Next()
		switch {
		case err != nil:
			return pack.Damaged(err)
		case k == xmlscan.EOF:
			return pack.Damaged(xmlscan.ErrTruncated)
		case k == xmlscan.End && s.Depth() < depth:
			if hidden && any {
				t.hideRow()
				return nil
			}
			return t.putRow()
		case k == xmlscan.Start && s.Is("c"):
			filled, err := t.readCell(s, hidden)
			if err != nil {
				return pack.Damaged(err)
			}
			any = any || filled
		}
	}
}

func (t *table) hideRow() {
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

// readCell reads a cell and appends it, with the empty ones before it.
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
	text := t.show(kind, style)
	if strings.TrimSpace(text) == "" || t.column > lastColumn {
		return false, nil
	}
	if hidden {
		return true, nil
	}
	t.used.grow(t.row, t.column)
	if t.column < t.want.left || t.column > t.want.right || t.hides(t.column) {
		return true, nil
	}
	at := t.column - t.want.left
	for _, h := range t.hidden { // columns left out take no room
		at -= max(0, min(h.right, t.column)-max(h.left, t.want.left)+1)
	}
	for len(t.cells) <= at {
		t.cells = append(t.cells, block.Cell{})
	}
	t.cells[at].Plain = text
	return true, nil
}

type valueKind byte

const (
	number valueKind = iota
	shared
	literal
	boolean
)

func cellKind(t []byte) valueKind {
	switch string(t) {
	case "s":
		return shared
	case "b":
		return boolean
	case "str", "inlineStr", "e", "d":
		return literal
	default:
		return number
	}
}

// readValue reads what is inside the cell just begun.
func (t *table) readValue(s *xmlscan.Scanner) error {
	t.value, t.inline = t.value[:0], t.inline[:0]
	depth, inValue := s.Depth(), false
	for {
		k, err := s.Next()
		switch {
		case err != nil:
			return err
		case k == xmlscan.EOF:
			return xmlscan.ErrTruncated
		case k == xmlscan.Text:
			if inValue {
				t.value = append(t.value, s.Bytes()...)
			}
		case k == xmlscan.End:
			inValue = false
			if s.Depth() < depth {
				return nil
			}
		case s.Is("v"):
			inValue = true
		case s.Is("is"):
			text, err := richText(s)
			if err != nil {
				return err
			}
			t.inline = append(t.inline, text...)
		}
	}
}

// show prints a cell's value.
func (t *table) show(kind valueKind, style int) string {
	if len(t.inline) > 0 {
		return unescapeString(string(t.inline))
	}
	raw := string(t.value)
	if raw == "" {
		return ""
	}
	switch kind {
	case shared:
		i, err := strconv.Atoi(strings.TrimSpace(raw))
		if err != nil {
			return ""
		}
		return unescapeString(t.book.strings.at(i))
	case boolean:
		if truth(raw) {
			return "TRUE"
		}
		return "FALSE"
	case literal:
		return isoDate(unescapeString(raw))
	}
	var f format
	if style >= 0 && style < len(t.book.formats) {
		f = t.book.formats[style]
	}
	return f.number(strings.TrimSpace(raw), t.book.base1904)
}

// isoDate shortens the timestamps of cells that hold dates as text.
func isoDate(s string) string {
	if len(s) >= 19 && len(s) <= 24 && s[4] == '-' && s[7] == '-' && s[10] == 'T' && s[13] == ':' && s[16] == ':' {
		day, at := s[:10], s[11:19]
		if at == "00:00:00" {
			return day
		}
		return day + " " + at
	}
	return s
}

// unescapeString resolves _x000D_, the way office formats write characters
// that XML cannot.
func unescapeString(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "_x")
		if i < 0 || len(s) < i+7 {
			break
		}
		n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
		if s[i+6] != '_' || err != nil {
			b.WriteString(s[:i+2])
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		if n >= ' ' || n == '\n' || n == '\t' {
			b.WriteRune(rune(n))
		}
		s = s[i+7:]
	}
	return b.String() + s
}

// leftOut collects what is hidden, for one line.
type leftOut struct{ parts []string }

func (l *leftOut) sheets(all []entry) {
	var names []string
	for _, e := range all {
		if e.hidden {
			names = append(names, strconv.Quote(e.name))
		}
	}
	if len(names) > 0 && len(names) < len(all) {
		l.parts = append(l.parts, plural("sheet", len(names))+strings.Join(names, ", "))
	}
}

func (l *leftOut) table(t *table) {
	var parts []string
	if n := len(t.hiddenRows); n > 0 {
		var rows []string
		for i := 0; i < n && i < 40; i += 2 {
			rows = append(rows, span(t.hiddenRows[i], t.hiddenRows[i+1], strconv.Itoa))
		}
		if n > 40 {
			rows = append(rows, "…")
		}
		parts = append(parts, plural("row", t.hiddenRows[n-1]-t.hiddenRows[0]+1)+strings.Join(rows, ", "))
	}
	var columns []string
	for _, h := range t.hidden {
		if h.left <= t.used.right {
			columns = append(columns, span(h.left, min(h.right, t.used.right), columnName))
		}
	}
	if len(columns) > 0 {
		parts = append(parts, plural("column", len(columns))+strings.Join(columns, ", "))
	}
	if len(parts) > 0 {
		l.parts = append(l.parts, fmt.Sprintf("%s of sheet %q", strings.Join(parts, " and "), t.name))
	}
}

func (l *leftOut) String() string {
	if len(l.parts) == 0 {
		return ""
	}
	return "hidden and left out: " + strings.Join(l.parts, "; ")
}

func span(from, to int, name func(int) string) string {
	if from == to {
		return name(from)
	}
	return name(from) + "–" + name(to)
}

func plural(word string, n int) string {
	if n > 1 {
		return word + "s "
	}
	return word + " "
}
