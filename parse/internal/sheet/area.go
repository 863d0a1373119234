// Package sheet reads tables: workbooks (xlsx) and delimited text (csv).
//
// In go the file and the sheet and range wanted; out come, at a sink, one
// table a sheet, cell by cell as a person would read them: dates as ISO,
// percent and currency with their sign, integers as integers, and nothing for
// an empty cell. A sheet is streamed, never held. Formulas are not computed:
// the results the file holds are shown.
package sheet

import (
	"fmt"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
)

// The last row and column a sheet can have.
const (
	lastRow    = 1 << 20
	lastColumn = 1 << 14
)

// area is a rectangle of cells, 1-based, edges included.
type area struct{ top, left, bottom, right int }

func everything() area { return area{1, 1, lastRow, lastColumn} }

// parseArea reads A1, A1:C9, A:C, 2:10, with or without $, in either order.
func parseArea(s string) (area, bool) {
	s = strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(s), "$", ""))
	from, to, pair := strings.Cut(s, ":")
	c1, r1, ok1 := parseCell(from)
	if !pair {
		return area{r1, c1, r1, c1}, ok1 && c1 > 0 && r1 > 0
	}
	c2, r2, ok2 := parseCell(to)
	if !ok1 || !ok2 || (c1 == 0) != (c2 == 0) || (r1 == 0) != (r2 == 0) {
		return area{}, false
	}
	a := area{min(r1, r2), min(c1, c2), max(r1, r2), max(c1, c2)}
	if r1 == 0 {
		a.top, a.bottom = 1, lastRow
	}
	if c1 == 0 {
		a.left, a.right = 1, lastColumn
	}
	return a, true
}

// parseCell reads "B7" as column 2, row 7; either part may be missing (0).
func parseCell(s string) (column, row int, ok bool) {
	i := 0
	for ; i < len(s) && s[i] >= 'A' && s[i] <= 'Z'; i++ {
		if column = column*26 + int(s[i]-'A') + 1; column > lastColumn {
			return 0, 0, false
		}
	}
	digits := i
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if row = row*10 + int(s[i]-'0'); row > lastRow {
			return 0, 0, false
		}
	}
	return column, row, i == len(s) && i > 0 && (i == digits || row > 0)
}

// columnName returns the letters of a column.
func columnName(n int) string {
	var b []byte
	for ; n > 0; n = (n - 1) / 26 {
		b = append([]byte{byte('A' + (n-1)%26)}, b...)
	}
	return string(b)
}

func (a area) String() string {
	return fmt.Sprintf("%s%d:%s%d", columnName(a.left), a.top, columnName(a.right), a.bottom)
}

// grow makes a hold the cell, and is the way to learn a used range.
func (a *area) grow(row, column int) {
	if a.top == 0 {
		*a = area{row, column, row, column}
		return
	}
	a.top, a.left = min(a.top, row), min(a.left, column)
	a.bottom, a.right = max(a.bottom, row), max(a.right, column)
}

// outside is the fault of a range without a cell that holds anything.
func outside(asked, where string, used area) error {
	if used.top == 0 {
		return fault.New(fault.ExtractionParam, "", "Choose another sheet.", "range %s: %s is empty", asked, where)
	}
	return fault.New(fault.ExtractionParam, "", "Ask for a range inside it.", "range %s holds nothing: %s uses %s", asked, where, used)
}

func badArea(asked, extra string) error {
	return fault.New(fault.ExtractionParam, "", "Write it as B2, A1:C9, A:C or 2:10"+extra+".", "range %q is not a range", asked)
}
