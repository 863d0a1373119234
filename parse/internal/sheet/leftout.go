package sheet

import (
	"fmt"
	"strconv"
	"strings"
)

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
		if h.left <= t.used.right && h.left <= t.want.right && h.right >= t.want.left {
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
