package sheet

import (
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"

	"github.com/holodeck-run/holodeck/parse/internal/numeral"
)

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
	var f numeral.Format
	if style >= 0 && style < len(t.book.formats) {
		f = t.book.formats[style]
	}
	return f.Number(strings.TrimSpace(raw), t.book.base1904)
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
