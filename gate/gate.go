// Package gate holds a value against a JSON Schema.
//
// In goes a schema (drafts 4, 6, 7, 2019-09 and 2020-12; a missing $schema
// means 2020-12; formats are asserted), compiled once; then a JSON value. Out
// comes nothing, or every fault with its path. [Gate.Check] is pure and
// deterministic: no clock, no network, no file, no map order; workflow code
// may call it.
//
// The package never fetches a reference and never changes the value it sees.
package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/holodeck-run/holodeck/fault"
)

const (
	// MaxSchemaBytes caps the schema file.
	MaxSchemaBytes = 5 << 20
	// MaxDepth caps how deep a schema or value may nest.
	MaxDepth = 100
)

// Gate is a compiled schema. It is immutable and safe for concurrent use.
type Gate struct {
	name   string
	schema *jsonschema.Schema
	source json.RawMessage
}

// Compile reads a schema. The name is for messages: the schema's file. Its
// fault is of kind GateSchema.
func Compile(name string, source []byte) (*Gate, error) {
	doc, err := read(source)
	if err == nil {
		err = topLevel(doc)
	}
	if err != nil {
		return nil, unusable(name, err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(refuse{})
	c.UseRegexpEngine(compileRegexp)
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "idn-email", Validate: idnEmail})
	const here = "gate:///schema.json"
	if err := c.AddResource(here, doc); err != nil {
		return nil, unusable(name, explain(err))
	}
	schema, err := c.Compile(here)
	if err != nil {
		return nil, unusable(name, explain(err))
	}
	return &Gate{name, schema, slices.Clone(source)}, nil
}

// MustCompile is Compile for a schema compiled in; it panics on a fault.
func MustCompile(name string, source []byte) *Gate {
	g, err := Compile(name, source)
	if err != nil {
		panic(err)
	}
	return g
}

// Source returns the schema's own bytes.
func (g *Gate) Source() json.RawMessage { return g.source }

// Check holds a JSON value against the schema. A nil error means it passes;
// otherwise the fault is of kind GateValidation, its Details a [Faults]. A
// value that is no JSON object never passes.
func (g *Gate) Check(value []byte) error {
	doc, err := decode(value)
	if err != nil {
		return rejected(Faults{{Path: "$", Keyword: "json", Message: err.Error()}})
	}
	if _, ok := doc.(map[string]any); !ok {
		return rejected(Faults{{Path: "$", Keyword: "type", Message: "got " + kindOf(doc) + ", want object"}})
	}
	err = g.schema.Validate(doc)
	if err == nil {
		return nil
	}
	if v, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return rejected(collect(v, doc))
	}
	return unusable(g.name, err)
}

func rejected(faults Faults) error {
	return &fault.Error{Kind: fault.GateValidation, Op: "check gate", Err: faults, Details: faults}
}

func unusable(name string, err error) error {
	return &fault.Error{Kind: fault.GateSchema, Op: "compile gate " + name, Err: err, Hint: "Correct the schema."}
}

// explain turns the library's report into one line per fault of the schema.
func explain(err error) error {
	if e, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if v, ok := errors.AsType[*jsonschema.ValidationError](e.Err); ok {
			return fmt.Errorf("not a valid schema: %w", collect(v, nil))
		}
	}
	if e, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Errorf("$ref %q does not resolve inside the file", e.URL)
	}
	return err
}

// idnEmail asks for something on both sides of an @: the library leaves this
// format out, and RFC 6531 allows nearly any letter.
func idnEmail(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	if at := strings.LastIndexByte(s, '@'); at < 1 || at == len(s)-1 {
		return errors.New("no local part, @ and domain")
	}
	return nil
}

// refuse is a loader for no address at all.
type refuse struct{}

func (refuse) Load(string) (any, error) {
	return nil, errors.New("references outside the file are not followed")
}

// read decodes a schema within its caps.
func read(source []byte) (map[string]any, error) {
	if len(source) > MaxSchemaBytes {
		return nil, fmt.Errorf("it has %d bytes, over the cap of %d", len(source), MaxSchemaBytes)
	}
	doc, err := decode(source)
	if err != nil {
		return nil, err
	}
	m, ok := doc.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("must be an object, got %s", kindOf(doc))
	}
	return m, nil
}

// decode reads one JSON value, digits kept.
func decode(data []byte) (any, error) {
	if err := checkDepth(data); err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}

// checkDepth refuses what nests deeper than MaxDepth before anything recurses.
func checkDepth(data []byte) error {
	depth, inString, escaped := 0, false, false
	for _, c := range data {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("nests deeper than %d levels", MaxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// topLevel refuses a schema that no object can pass, or that lets null pass.
func topLevel(doc map[string]any) error {
	var types []any
	switch t := doc["type"].(type) {
	case nil:
		return nil
	case []any:
		types = t
	default:
		types = []any{t}
	}
	if !slices.Contains(types, any("object")) {
		return fmt.Errorf("type is %v; the top level must allow object", doc["type"])
	}
	if slices.Contains(types, any("null")) {
		return errors.New("type allows null at the top level; an agent's answer is an object")
	}
	return nil
}
