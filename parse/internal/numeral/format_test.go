package numeral

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
		if got := Parse(c.code).Number(c.raw, false); got != c.want {
			t.Errorf("%s of %s: got %q, want %q", c.code, c.raw, got, c.want)
		}
	}
	if got := Builtin(14).Number("1", true); got != "1904-01-02" {
		t.Errorf("day 1 since 1904: got %q", got)
	}
}
