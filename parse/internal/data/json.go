// Package data reads what was written for programs: JSON, XML, feeds and
// notebooks.
//
// In goes the text; out comes, at a sink, JSON and XML as code, whole and with
// every number as it stands, a feed as the entries it announces, and a
// notebook as its cells with what they printed. It checks JSON, names the
// place of a fault in it, and knows nothing of schemas.
package data

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/text"
)

// maxDepth bounds how deep values may be nested.
const maxDepth = 256

// JSON puts a JSON text at sink, indented; lines of JSON stay lines.
func JSON(ctx context.Context, data []byte, sink block.Sink) error {
	s, err := decoded(ctx, data, "")
	if err != nil {
		return err
	}
	out, err := pretty(s)
	if err != nil {
		lines, ok := jsonLines(s)
		if ok == nil {
			return sink.Put(block.Code{Language: "json", Text: lines})
		}
		if severalLines(s) {
			err = ok
		}
		return err
	}
	return sink.Put(block.Code{Language: "json", Text: out})
}

// decoded returns the text of data, which must have some.
func decoded(ctx context.Context, data []byte, charset string) (string, error) {
	s, err := text.DecodeAs(data, charset)
	if err != nil {
		return "", err
	}
	if s = text.Lines(s); strings.TrimSpace(s) == "" {
		return "", fault.New(fault.Document, "", "Give a file with content.", "the text is empty")
	}
	return s, ctx.Err()
}

// pretty indents one value. Where indenting would multiply a text, as it does
// with deep nesting, it stays as it is.
func pretty(s string) (string, error) {
	if err := check(s, s, 0); err != nil {
		return "", err
	}
	size, depth, quoted := len(s), 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
			size += 2*depth + 1
		case c == '}' || c == ']':
			depth--
			size += 2*depth + 1
		case c == ',':
			size += 2*depth + 1
		}
	}
	if size > 32*len(s)+1024 {
		return strings.TrimSpace(s), nil
	}
	var b bytes.Buffer
	b.Grow(size)
	if err := json.Indent(&b, []byte(strings.TrimSpace(s)), "", "  "); err != nil {
		return "", err
	}
	return b.String(), nil
}

// severalLines says whether each of the first lines is a value, so that a
// fault further down is one of JSON lines.
func severalLines(s string) bool {
	first, rest, ok := strings.Cut(strings.TrimSpace(s), "\n")
	return ok && json.Valid([]byte(first)) && strings.TrimSpace(rest) != ""
}

// jsonLines checks a text with a value a line.
func jsonLines(s string) (string, error) {
	var b strings.Builder
	at := 0
	for l := range strings.Lines(s) {
		if v := strings.TrimSpace(l); v != "" {
			if err := check(l, s, at); err != nil {
				return "", err
			}
			b.WriteString(v + "\n")
		}
		at += len(l)
	}
	return b.String(), nil
}

// check says what is wrong with the value v, which begins at an offset of the
// whole text.
func check(v, whole string, at int) error {
	if i := tooDeep(v); i >= 0 {
		line, column := place(whole, at+i)
		return fault.New(fault.Document, "", "Flatten the data, or give another copy.",
			"the JSON is nested too deeply: more than %d levels at line %d, column %d", maxDepth, line, column)
	}
	var raw json.RawMessage
	err := json.Unmarshal([]byte(v), &raw)
	if err == nil {
		return nil
	}
	offset := at + len(v)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && !strings.HasPrefix(err.Error(), "unexpected end") {
		offset = at + max(int(syntax.Offset)-1, 0)
	}
	line, column := place(whole, offset)
	return fault.New(fault.Document, "", "Correct it there, or write it again with the program that made it.",
		"the JSON is damaged at line %d, column %d: %s", line, column, strings.TrimPrefix(err.Error(), "json: "))
}

// tooDeep returns the offset of a bracket beyond the allowed depth, -1 if none.
func tooDeep(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

// place counts lines and characters from 1.
func place(s string, offset int) (line, column int) {
	before := s[:min(offset, len(s))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, len([]rune(before[start:])) + 1
}
