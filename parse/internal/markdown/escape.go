package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// special are the bytes that may need an escape; most text has none.
const special = "\\`*_[]<>&~|\x00\r\t\v\f"

// escape prints s so that markdown shows it as it is, with as few backslashes
// as that takes: an underscore inside a word or a star between spaces marks
// nothing up and stays. before and after are the runes around s, 0 if none.
func escape(s string, before, after rune, cell bool) string {
	if !strings.ContainsAny(s, special) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	prev := before
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		rest := s[i+n:]
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case r == '*' || r == '_' || r == '~':
			n = len(s[i:]) - len(strings.TrimLeft(s[i:], string(r)))
			delimiters(&b, s[i:i+n], prev, first(s[i+n:], after))
		case r == '\r' || r == 0 || r == '\v' || r == '\f':
			b.WriteByte(' ')
		case r == '\t':
			b.WriteByte(' ')
		case r == '<' && tagLike(first(rest, after)):
			b.WriteString("&lt;") // not a backslash: what strips tags would take the text for one
		case needsEscape(r, rest, after, cell):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		i += n
		prev = r
	}
	return b.String()
}

func first(s string, otherwise rune) rune {
	if s == "" {
		return otherwise
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// delimiters prints a run of one of * _ ~, escaped if it could open or close
// emphasis.
func delimiters(b *strings.Builder, run string, before, after rune) {
	space := func(r rune) bool { return r == 0 || unicode.IsSpace(r) }
	left := !space(after) && (!punct(after) || space(before) || punct(before))
	right := !space(before) && (!punct(before) || space(after) || punct(after))
	live := left || right
	switch run[0] {
	case '_':
		live = left && (!right || punct(before)) || right && (!left || punct(after))
	case '~':
		live = live && len(run) == 2
	}
	for i := range len(run) {
		if live {
			b.WriteByte('\\')
		}
		b.WriteByte(run[i])
	}
}

func needsEscape(r rune, rest string, after rune, cell bool) bool {
	next := first(rest, after)
	switch r {
	case '\\':
		return next < utf8.RuneSelf && punct(next) || next == '\n' || rest == ""
	case '`':
		return true
	case '|':
		return cell
	case '[':
		return next == '^'
	case ']':
		return next == '(' || next == '['
	case '&':
		return next == '#' || unicode.IsLetter(next) && entity(rest)
	}
	return false
}

// tagLike says whether a < before that rune would begin a tag.
func tagLike(next rune) bool {
	return unicode.IsLetter(next) || next == '/' || next == '!' || next == '?'
}

// entity says whether "&"+s begins with a character reference.
func entity(s string) bool {
	for i := 0; i < len(s) && i < 32; i++ {
		switch c := s[i]; {
		case c == ';':
			return i > 0
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return false
}

// lineStarts escapes what would be a block at the start of a line: a heading,
// quote, list, rule, or table.
func lineStarts(s string) string {
	if !strings.Contains(s, "\n") {
		return lineStart(s)
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = lineStart(l)
	}
	return strings.Join(lines, "\n")
}

func lineStart(l string) string {
	if l == "" {
		return l
	}
	switch c := l[0]; c {
	case '#':
		if rest := strings.TrimLeft(l, "#"); len(l)-len(rest) <= 6 && (rest == "" || rest[0] == ' ') {
			return `\` + l
		}
	case '>', '|':
		return `\` + l
	case '[':
		if strings.Contains(l, "]:") && !strings.HasPrefix(l, "[^") {
			return `\` + l
		}
	case '-', '+', '*':
		if len(l) == 1 || l[1] == ' ' || strings.Trim(l, string(c)+" ") == "" {
			return `\` + l
		}
	case '=', '_':
		if strings.Trim(l, string(c)+" ") == "" {
			return `\` + l
		}
	case '~':
		if strings.HasPrefix(l, "~~~") {
			return `\` + l
		}
	default:
		digits := len(l) - len(strings.TrimLeft(l, "0123456789"))
		if digits > 0 && digits < 10 && digits < len(l) && (l[digits] == '.' || l[digits] == ')') &&
			(digits+1 == len(l) || l[digits+1] == ' ') {
			return l[:digits] + `\` + l[digits:]
		}
	}
	return l
}
