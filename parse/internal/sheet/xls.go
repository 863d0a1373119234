package sheet

import (
	"context"
	"io"
	"math"
	"strconv"

	"github.com/holodeck-run/holodeck/parse/internal/biff"
	"github.com/holodeck-run/holodeck/parse/internal/block"

	"github.com/holodeck-run/holodeck/parse/internal/numeral"
)

// openBinary opens a workbook of before 2007.
func openBinary(r io.ReaderAt, size int64) (*workbook, error) {
	book, err := biff.Open(r, size)
	if err != nil {
		return nil, err
	}
	w := &workbook{binary: book, base1904: book.Base1904, names: map[string]string{}}
	for _, s := range book.Sheets {
		w.sheets = append(w.sheets, entry{name: s.Name, hidden: s.Hidden, binary: s})
	}
	for _, s := range book.Styles {
		f := numeral.Builtin(s.ID)
		if s.Code != "" {
			f = numeral.Parse(s.Code)
		}
		w.formats = append(w.formats, f)
	}
	return w, nil
}

// readBinary puts a sheet of a workbook of before 2007.
func (t *table) readBinary(ctx context.Context, e entry) error {
	if err := t.sink.Put(block.Sheet{Name: t.name}); err != nil {
		return err
	}
	g, err := t.book.binary.Grid(ctx, e.binary)
	if err != nil {
		return err
	}
	for _, c := range g.HiddenColumns {
		t.hidden = append(t.hidden, area{left: c[0], right: c[1]})
	}
	if err := t.sink.Put(block.TableStart{Trim: true}); err != nil {
		return err
	}
	filled := false
	end := func() error {
		if filled && g.HiddenRows[t.row] {
			t.hideRow()
			return nil
		}
		return t.putRow()
	}
	err = g.Each(func(c biff.Cell) error {
		if c.Row != t.row {
			if err := end(); err != nil {
				return err
			}
			t.row, t.cells, filled = c.Row, t.cells[:0], false
			if t.row%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		t.column = c.Column
		filled = t.place(t.showBinary(c), g.HiddenRows[c.Row]) || filled
		return nil
	})
	if err == nil {
		err = end()
	}
	if err != nil {
		return err
	}
	return t.sink.Put(block.TableEnd{})
}

func (t *table) showBinary(c biff.Cell) string {
	if c.Kind == biff.Text {
		return c.Text
	}
	if math.IsNaN(c.Number) || math.IsInf(c.Number, 0) {
		return "#NUM!"
	}
	var f numeral.Format
	if c.Style < len(t.book.formats) {
		f = t.book.formats[c.Style]
	}
	return f.Number(strconv.FormatFloat(c.Number, 'g', 17, 64), t.book.base1904)
}
