package xmlscan

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func (s *Scanner) parse(tag []byte) {
	i := 0
	for i < len(tag) && !space(tag[i]) {
		i++
	}
	s.name = local(tag[:i])
	s.attrs = s.attrs[:0]
	for {
		for i < len(tag) && space(tag[i]) {
			i++
		}
		from := i
		for i < len(tag) && tag[i] != '=' && !space(tag[i]) {
			i++
		}
		name := tag[from:i]
		for i < len(tag) && space(tag[i]) {
			i++
		}
		if i >= len(tag) || len(name) == 0 || tag[i] != '=' {
			return
		}
		for i++; i < len(tag) && space(tag[i]); i++ {
		}
		if i >= len(tag) || tag[i] != '"' && tag[i] != '\'' {
			return
		}
		shut := bytes.IndexByte(tag[i+1:], tag[i])
		if shut < 0 {
			return
		}
		if !bytes.HasPrefix(name, []byte("xmlns")) {
			short := local(name)
			s.attrs = append(s.attrs, attr{short, tag[i+1 : i+1+shut], len(short) < len(name)})
		}
		i += shut + 2
	}
}

func local(name []byte) []byte {
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		return name[i+1:]
	}
	return name
}

// unescape appends s with its entities resolved; unknown ones stay.
func unescape(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '&')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		s = s[i:]
		n := 1
		for n < len(s) && n < 16 && (s[n] == '#' || s[n] >= '0' && s[n] <= '9' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
			n++
		}
		if n == len(s) || s[n] != ';' {
			dst, s = append(dst, '&'), s[1:]
			continue
		}
		if r, ok := entity(string(s[1:n])); ok {
			dst = utf8.AppendRune(dst, r)
		} else {
			dst = append(dst, s[:n+1]...)
		}
		s = s[n+1:]
	}
}

func entity(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' || digits[0] == 'X' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune {
		return 0, false
	}
	return rune(n), true
}
