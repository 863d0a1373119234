package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/payload"
)

// Render returns the prompt: the message alone, or the message, a blank line
// and the context as JSON. The JSON is byte for byte what Python's json.dumps
// with sorted keys prints, so that a prompt does not change with the worker's
// language. context is nil, JSON text, or a value that marshals to an object.
func Render(message string, context any) (string, error) {
	if context == nil {
		return message, nil
	}
	raw, ok := context.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = payload.Marshal(context); err != nil {
			return "", fault.New(fault.PayloadValidation, "render context", "Give an object of JSON values.", "%w", err)
		}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fault.New(fault.PayloadValidation, "render context", "Give an object of JSON values.", "%w", err)
	}
	if v == nil {
		return message, nil
	}
	var b strings.Builder
	b.WriteString(message + "\n\nContext (JSON):\n")
	writePython(&b, v)
	return b.String(), nil
}

func writePython(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case json.Number:
		b.WriteString(pythonNumber(string(v)))
	case string:
		writePythonString(b, v)
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			writePython(b, item)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) { // bytes of UTF-8 sort as code points do
			if i > 0 {
				b.WriteString(", ")
			}
			writePythonString(b, key)
			b.WriteString(": ")
			writePython(b, v[key])
		}
		b.WriteByte('}')
	}
}

// pythonNumber prints a literal as Python's repr does: integers of any size
// keep their digits, floats take the shortest form that reads back.
func pythonNumber(literal string) string {
	if !strings.ContainsAny(literal, ".eE") {
		if literal == "-0" {
			return "0"
		}
		return literal
	}
	f, _ := strconv.ParseFloat(literal, 64)
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	exponent, _ := strconv.Atoi(scientific[strings.IndexByte(scientific, 'e')+1:])
	if f != 0 && (exponent < -4 || exponent >= 16) {
		return scientific
	}
	fixed := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(fixed, ".") {
		fixed += ".0"
	}
	return fixed
}

func writePythonString(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r >= 0x20 && r < 0x7f:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}
