// Package numeral writes numbers as documents show them.
//
// In go a value and how it is to be shown: a number format of a spreadsheet
// (ECMA-376 part 1, 18.8.30), or a list's way of counting. Out comes the text,
// with what a reader must see of the format, its percent or currency sign and
// dates as ISO 8601, and without what only decorates.
package numeral

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Format is what a number format does to a value that a reader must see.
type Format struct {
	kind     formatKind
	prefix   string // currency before the number
	suffix   string // currency after it
	decimals int    // shown at least
	grouped  bool
}

type formatKind int

const (
	general formatKind = iota
	percent
	currency
	date     // with a day, perhaps a time
	clock    // a time of day
	duration // hours that may pass 24
)

// Builtin returns the format of a number that needs no code in the file.
func Builtin(id int) Format {
	switch {
	case id == 9:
		return Format{kind: percent}
	case id == 10:
		return Format{kind: percent, decimals: 2}
	case id >= 5 && id <= 8, id == 42, id == 44:
		f := Format{kind: currency, prefix: "$", grouped: true}
		if id == 7 || id == 8 || id == 44 {
			f.decimals = 2
		}
		return f
	case id >= 14 && id <= 17, id == 22, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id >= 57 && id <= 58:
		return Format{kind: date}
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id == 45, id == 47, id == 55, id == 56:
		return Format{kind: clock}
	case id == 46:
		return Format{kind: duration}
	}
	return Format{}
}

// Parse reads a format code by its section for positive numbers.
func Parse(code string) Format {
	section := firstSection(code)
	bare, signs := strip(section)
	lower := strings.ToLower(bare)
	switch {
	case strings.Contains(section, "[h]"), strings.Contains(section, "[hh]"), strings.Contains(section, "[m]"),
		strings.Contains(section, "[mm]"), strings.Contains(section, "[s]"), strings.Contains(section, "[ss]"):
		return Format{kind: duration}
	case strings.EqualFold(bare, "general"), strings.Contains(lower, "@"):
		return Format{}
	case strings.ContainsAny(lower, "yd"), strings.Contains(lower, "mmm"):
		return Format{kind: date}
	case strings.ContainsAny(lower, "hs") && !strings.ContainsAny(lower, "0#"), strings.Contains(lower, "h:mm"), strings.Contains(lower, "mm:ss"):
		return Format{kind: clock}
	case strings.Contains(bare, "%"):
		return Format{kind: percent, decimals: decimals(bare)}
	}
	f := Format{decimals: decimals(bare), grouped: strings.Contains(bare, "#,#") || strings.Contains(bare, "0,0")}
	if at := strings.IndexAny(bare, "0#?"); at >= 0 {
		for _, s := range signs {
			f.kind = currency
			if s.at <= at {
				f.prefix = s.text
			} else {
				f.suffix = s.text
			}
		}
	}
	return f
}

func firstSection(code string) string {
	quoted := false
	for i := 0; i < len(code); i++ {
		switch code[i] {
		case '\\':
			i++
		case '"':
			quoted = !quoted
		case ';':
			if !quoted {
				return code[:i]
			}
		}
	}
	return code
}

type sign struct {
	text string
	at   int // where it stood in what strip returns
}

// strip takes literals, colours and conditions out of a section and returns
// the currency signs among them.
func strip(section string) (string, []sign) {
	var b strings.Builder
	var signs []sign
	money := func(s string) {
		if s = strings.TrimSpace(s); isCurrency(s) {
			signs = append(signs, sign{s, b.Len()})
		}
	}
	for rs := []rune(section); len(rs) > 0; {
		n := 1
		switch r := rs[0]; r {
		case '"':
			for n < len(rs) && rs[n] != '"' {
				n++
			}
			money(string(rs[1:n]))
			n++
		case '[':
			for n < len(rs) && rs[n] != ']' {
				n++
			}
			if in := string(rs[1:n]); strings.HasPrefix(in, "$") {
				name, _, _ := strings.Cut(in[1:], "-")
				money(name)
			}
			n++
		case '\\', '_', '*':
			if n < len(rs) {
				money(string(rs[1]))
			}
			n++
		case '$', '€', '£', '¥', '₹', '₩', '₽', '¢':
			money(string(r))
		default:
			b.WriteRune(r)
		}
		rs = rs[min(n, len(rs)):]
	}
	return b.String(), signs
}

func isCurrency(s string) bool {
	if strings.ContainsAny(s, "$€£¥₹₩₽¢₺₫₪฿") {
		return len(s) <= 8
	}
	switch s {
	case "USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "CZK", "kr", "zł", "Kč", "Fr.", "kr.":
		return true
	}
	return false
}

func decimals(section string) int {
	_, after, ok := strings.Cut(section, ".")
	if !ok {
		return 0
	}
	return len(after) - len(strings.TrimLeft(after, "0#?"))
}

// Number prints a value as it stands in the file, by its format.
func (f Format) Number(raw string, base1904 bool) string {
	if f.kind == general {
		return plain(raw, 0, false)
	}
	v, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return raw
	}
	switch f.kind {
	case percent:
		return plain(strconv.FormatFloat(v*100, 'g', 15, 64), f.decimals, false) + "%"
	case currency:
		s := plain(strconv.FormatFloat(math.Abs(v), 'g', 15, 64), f.decimals, f.grouped)
		s = f.prefix + s
		if f.suffix != "" {
			s += " " + f.suffix
		}
		if v < 0 {
			s = "-" + s
		}
		return s
	case date, clock:
		return when(v, f.kind == clock, base1904, raw)
	case duration:
		t := time.Duration(math.Round(math.Abs(v)*86400)) * time.Second
		s := strconv.Itoa(int(t.Hours())) + t2(int(t.Minutes())%60) + t2(int(t.Seconds())%60)
		if v < 0 {
			s = "-" + s
		}
		return s
	}
	return raw
}

func t2(n int) string {
	s := strconv.Itoa(n)
	if n < 10 {
		s = "0" + s
	}
	return ":" + s
}

// plain prints a number with the 15 digits that a spreadsheet keeps, at least
// so many decimals, and no exponent unless it is out of all proportion.
func plain(raw string, decimals int, grouped bool) string {
	whole, fraction, _ := strings.Cut(raw, ".")
	digits := len(raw)
	if strings.ContainsAny(raw, "eE") || digits > 16 {
		v, err := strconv.ParseFloat(raw, 64)
		if err != nil {
			return raw
		}
		short := strconv.FormatFloat(v, 'g', 15, 64)
		v, _ = strconv.ParseFloat(short, 64)
		if a := math.Abs(v); a != 0 && (a < 1e-9 || a >= 1e21) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		whole, fraction, _ = strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
	}
	fraction = strings.TrimRight(fraction, "0")
	if n := decimals - len(fraction); n > 0 && decimals <= 30 {
		fraction += strings.Repeat("0", n)
	}
	if grouped {
		whole = group(whole)
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

func group(whole string) string {
	neg := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if neg {
		return "-" + whole
	}
	return whole
}

// when prints a serial date. Excel's 1900 has a 29th of February, so the days
// before are off by one.
func when(v float64, timeOnly, base1904 bool, raw string) string {
	if v < 0 || v >= 2958466 {
		return raw
	}
	days, secs := math.Modf(v)
	seconds := int(math.Round(secs * 86400))
	if seconds == 86400 {
		days, seconds = days+1, 0
	}
	at := strconv.Itoa(seconds / 3600)
	if seconds < 36000 {
		at = "0" + at
	}
	at += t2(seconds/60%60) + t2(seconds%60)
	if v < 1 && (timeOnly || days == 0 && seconds > 0) && !base1904 || timeOnly && v < 1 {
		return at
	}
	var day string
	switch {
	case base1904:
		day = time.Date(1904, 1, 1+int(days), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	case days == 60:
		day = "1900-02-29"
	case days < 60:
		day = time.Date(1899, 12, 31+int(days), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	default:
		day = time.Date(1899, 12, 30+int(days), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	if seconds == 0 {
		return day
	}
	return day + " " + at
}
