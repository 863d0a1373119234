package sheet

import "testing"

func TestARangeIsReadInEverySpelling(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]area{
		"B2": {2, 2, 2, 2}, "$A$1:$C$9": {1, 1, 9, 3}, "c9:a1": {1, 1, 9, 3}, "C1:A9": {1, 1, 9, 3},
		"A:C": {1, 1, lastRow, 3}, "10:2": {2, 1, 10, lastColumn}, "XFD1048576": {lastRow, lastColumn, lastRow, lastColumn},
	} {
		if got, ok := parseArea(s); !ok || got != want {
			t.Errorf("%s: got %v, %v, want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "A", "7", "A1:", "A1:B", "1A", "XFE1", "A1048577", "A0", "A1:B2:C3", "Ä1", "99999999999999999999"} {
		if got, ok := parseArea(s); ok {
			t.Errorf("%q was read as %v", s, got)
		}
	}
}
