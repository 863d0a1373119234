package sheet

import "testing"

// The formats are tested from inside: a fixture for each would say less.
func TestAValueShowsWhatItsFormatMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ code, raw, want string }{
		{"General", "5000", "5000"},
		{"General", "0.30000000000000004", "0.3"},
		{"General", "1E-3", "0.001"},
		{"General", "1.5E+300", "1.5e+300"},
		{"General", "123456789012345678", "123456789012346000"},
		{"0.00", "1234.5", "1234.5"},
		{"#,##0", "1234567", "1234567"},
		{"0%", "0.075", "7.5%"},
		{"0.00%", "0.5", "50.00%"},
		{"0%", "0.07", "7%"},
		{`"$"#,##0.00`, "1234567.5", "$1,234,567.50"},
		{`"$"#,##0.00;[Red]\-"$"#,##0.00`, "-3", "-$3.00"},
		{`[$£-809]#,##0`, "12", "£12"},
		{`#,##0.00\ [$€-407]`, "-20", "-20.00 €"},
		{`#,##0.00\ "kr"`, "5", "5.00 kr"},
		{`_("$"* #,##0.00_);_("$"* \(#,##0.00\)`, "7", "$7.00"},
		{"yyyy-mm-dd", "1", "1900-01-01"},
		{"yyyy-mm-dd", "59", "1900-02-28"},
		{"yyyy-mm-dd", "60", "1900-02-29"},
		{"yyyy-mm-dd", "61", "1900-03-01"},
		{`[$-409]d\-mmm\-yy;@`, "46203", "2026-06-30"},
		{"m/d/yy h:mm", "46203.999999999", "2026-07-01"},
		{"m/d/yy h:mm", "46203.25", "2026-06-30 06:00:00"},
		{"yyyy-mm-dd", "-1", "-1"},
		{"h:mm AM/PM", "0.5", "12:00:00"},
		{"[h]:mm", "1.5", "36:00:00"},
		{"[Red]0.0", "2.50", "2.5"},
		{`0 "days"`, "3", "3"},
		{"@", "007", "007"},
	} {
		if got := parseFormat(c.code).number(c.raw, false); got != c.want {
			t.Errorf("%s of %s: got %q, want %q", c.code, c.raw, got, c.want)
		}
	}
	if got := builtin(14).number("1", true); got != "1904-01-02" {
		t.Errorf("day 1 since 1904: got %q", got)
	}
}

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
