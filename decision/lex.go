package decision

import (
	"fmt"
	"strings"
)

// token is one lexical unit of an expression; at is its byte offset.
type token struct {
	kind tokenKind
	text string
	at   int
}

type tokenKind int

const (
	tokEnd tokenKind = iota
	tokNumber
	tokString
	tokName
	tokOp
)

// syntaxError is a fault at an offset of an expression.
type syntaxError struct {
	at   int
	text string
}

func (e *syntaxError) Error() string { return e.text }

func failAt(at int, format string, args ...any) *syntaxError {
	return &syntaxError{at, fmt.Sprintf(format, args...)}
}

var operators = []string{"<=", ">=", "!=", "..", "**", "<", ">", "=", "+", "-", "*", "/", "(", ")", "[", "]", ",", "."}

// lex splits an expression. Names are ASCII identifiers.
func lex(src string) ([]token, error) {
	var out []token
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == ' ' || c == '\t':
			i++
		case c == '"':
			n := stringEnd(src, i)
			if n < 0 {
				return nil, failAt(i, "the string does not end")
			}
			out = append(out, token{tokString, src[i+1 : n], i})
			i = n + 1
		case isDigit(c) || c == '.' && i+1 < len(src) && isDigit(src[i+1]) && !followsValue(out):
			n := numberEnd(src, i)
			out = append(out, token{tokNumber, src[i:n], i})
			i = n
		case isLetter(c):
			n := i
			for n < len(src) && (isLetter(src[n]) || isDigit(src[n])) {
				n++
			}
			out = append(out, token{tokName, src[i:n], i})
			i = n
		default:
			op := operatorAt(src[i:])
			if op == "" {
				return nil, failAt(i, "unexpected %q", src[i:i+1])
			}
			out = append(out, token{tokOp, op, i})
			i += len(op)
		}
	}
	return append(out, token{tokEnd, "", len(src)}), nil
}

func stringEnd(src string, i int) int {
	for n := i + 1; n < len(src); n++ {
		switch src[n] {
		case '\\':
			n++
		case '"':
			return n
		}
	}
	return -1
}

// numberEnd stops before "..", so that [1..5] is a range.
func numberEnd(src string, i int) int {
	n := i
	for n < len(src) && isDigit(src[n]) {
		n++
	}
	if n+1 < len(src) && src[n] == '.' && isDigit(src[n+1]) {
		for n++; n < len(src) && isDigit(src[n]); n++ {
		}
	}
	return n
}

func followsValue(out []token) bool {
	return len(out) > 0 && out[len(out)-1].kind != tokOp
}

func operatorAt(src string) string {
	for _, op := range operators {
		if strings.HasPrefix(src, op) {
			return op
		}
	}
	return ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
