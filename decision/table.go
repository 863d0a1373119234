// Package decision evaluates decision tables.
//
// In goes a *.dmn.yaml table, compiled once to an immutable program, and facts
// (a JSON object or a value that marshals to one); out comes a [Verdict] that
// names the rule that decided. Evaluation is pure: no clock, no file, no
// network, no goroutine, no map order. Workflow code may call it.
//
// Numbers are exact rationals, so 0.1 + 0.2 is 0.3. The package does not
// reach into a table's provenance, and a cell that cannot be evaluated is an
// error, never a miss.
package decision

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/internal/strict"
)

// HitPolicy says what happens when several rules hold (DMN 1.5 §8.2.8).
type HitPolicy string

// The hit policies.
const (
	Unique   HitPolicy = "UNIQUE"
	First    HitPolicy = "FIRST"
	Priority HitPolicy = "PRIORITY"
)

// Table is a compiled decision table. It is immutable and safe for concurrent
// use.
type Table struct {
	id, version string
	policy      HitPolicy
	inputs      []input
	rules       []rule
	fallback    map[string]json.RawMessage
	ranks       [][]string // per output, the values in falling priority
	outputs     []string
}

type input struct {
	name, kind string
	source     string
	eval       expr
}

type rule struct {
	cells      []expr // per input; nil: any value
	texts      []string
	then       map[string]json.RawMessage
	annotation *string
}

// ID returns the table's id.
func (t *Table) ID() string { return t.id }

// Version returns the table's version.
func (t *Table) Version() string { return t.version }

type document struct {
	ID         string                    `yaml:"id" rule:"required"`
	Name       string                    `yaml:"name"`
	Version    string                    `yaml:"version" rule:"required"`
	HitPolicy  string                    `yaml:"hit_policy" rule:"required"`
	Inputs     []inputDoc                `yaml:"inputs" rule:"required"`
	Outputs    []outputDoc               `yaml:"outputs" rule:"required"`
	Rules      []ruleDoc                 `yaml:"rules" rule:"required"`
	Default    map[string]strict.Literal `yaml:"default"`
	Source     string                    `yaml:"source"`
	Provenance provenance                `yaml:"provenance"`
}

type inputDoc struct {
	Name       string `yaml:"name" rule:"required"`
	Expression string `yaml:"expression" rule:"required"`
	Type       string `yaml:"type" rule:"required"`
}

type outputDoc struct {
	Name   string   `yaml:"name" rule:"required"`
	Type   string   `yaml:"type" rule:"required"`
	Values []string `yaml:"values"`
}

type ruleDoc struct {
	When       map[string]string         `yaml:"when"`
	Then       map[string]strict.Literal `yaml:"then" rule:"required"`
	Annotation string                    `yaml:"annotation"`
}

type provenance struct {
	GeneratedBy  string `yaml:"generated_by"`
	Source       string `yaml:"source"`
	SourceDoc    string `yaml:"source_doc"`
	SourceSHA256 string `yaml:"source_sha256"`
	ReviewedBy   string `yaml:"reviewed_by"`
	ReviewedAt   string `yaml:"reviewed_at"`
}

// Load compiles a table. The file name is for messages. All faults are
// reported at once; the fault is of kind DecisionTable.
func Load(file string, data []byte) (*Table, error) {
	var doc document
	d := strict.Decode(file, data, &doc)
	t := &Table{id: doc.ID, version: doc.Version, policy: HitPolicy(doc.HitPolicy)}
	if d.Faults() == nil {
		t.compile(d, doc)
	}
	if faults := d.Faults(); faults != nil {
		return nil, &fault.Error{Kind: fault.DecisionTable, Err: faults}
	}
	return t, nil
}

// MustLoad is Load for a table compiled in; it panics on a fault.
func MustLoad(file string, data []byte) *Table {
	t, err := Load(file, data)
	if err != nil {
		panic(err)
	}
	return t
}

func (t *Table) compile(d *strict.Decoder, doc document) {
	switch t.policy {
	case Unique, First, Priority:
	default:
		d.AddField("hit_policy", fmt.Sprintf("%q is unknown; use UNIQUE, FIRST or PRIORITY", doc.HitPolicy))
	}
	if len(doc.Inputs) == 0 || len(doc.Outputs) == 0 || len(doc.Rules) == 0 {
		d.AddField("", "inputs, outputs and rules must hold at least one item each")
		return
	}
	for i, in := range doc.Inputs {
		t.addInput(d, fmt.Sprintf("inputs[%d]", i), in)
	}
	for i, out := range doc.Outputs {
		at := fmt.Sprintf("outputs[%d]", i)
		if slices.Contains(t.outputs, out.Name) {
			d.AddField(at+".name", fmt.Sprintf("the output %q stands twice", out.Name))
		}
		if t.policy == Priority && len(out.Values) == 0 {
			d.AddField(at, "PRIORITY needs values, in falling priority")
		}
		t.outputs = append(t.outputs, out.Name)
		t.ranks = append(t.ranks, out.Values)
	}
	for i, r := range doc.Rules {
		t.addRule(d, fmt.Sprintf("rules[%d]", i), r)
	}
	if doc.Default != nil {
		t.fallback = t.outcome(d, "default", doc.Default)
	}
}

func (t *Table) addInput(d *strict.Decoder, at string, in inputDoc) {
	kinds := []string{"number", "string", "boolean", "days", "date"}
	if !slices.Contains(kinds, in.Type) {
		d.AddField(at+".type", fmt.Sprintf("%q is unknown; use one of %s", in.Type, strings.Join(kinds, ", ")))
	}
	for _, other := range t.inputs {
		if other.name == in.Name {
			d.AddField(at+".name", fmt.Sprintf("the input %q stands twice", in.Name))
		}
	}
	e, err := parseExpression(in.Expression)
	if err != nil {
		d.AddField(at+".expression", caret(in.Expression, err))
	}
	t.inputs = append(t.inputs, input{in.Name, in.Type, in.Expression, e})
}

func (t *Table) addRule(d *strict.Decoder, at string, doc ruleDoc) {
	r := rule{cells: make([]expr, len(t.inputs)), texts: make([]string, len(t.inputs))}
	for i, in := range t.inputs {
		text, ok := doc.When[in.name]
		if !ok {
			continue
		}
		e, err := parseCell(text, in.name)
		if err != nil {
			d.AddField(at+".when."+in.name, caret(text, err))
		}
		r.cells[i], r.texts[i] = e, text
	}
	for name := range doc.When {
		if !slices.ContainsFunc(t.inputs, func(in input) bool { return in.name == name }) {
			d.AddField(at+".when."+name, fmt.Sprintf("there is no input %q. %s", name, fault.DidYouMean(name, t.inputNames())))
		}
	}
	r.then = t.outcome(d, at+".then", doc.Then)
	if doc.Annotation != "" {
		r.annotation = &doc.Annotation
	}
	t.rules = append(t.rules, r)
}

// outcome checks that exactly the declared outputs are given, with allowed
// values.
func (t *Table) outcome(d *strict.Decoder, at string, cells map[string]strict.Literal) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, c := range cells {
		if !slices.Contains(t.outputs, name) {
			d.AddField(at+"."+name, fmt.Sprintf("there is no output %q. %s", name, fault.DidYouMean(name, t.outputs)))
		}
		out[name] = c.JSON
	}
	for i, name := range t.outputs {
		value, ok := out[name]
		if !ok {
			d.AddField(at, fmt.Sprintf("the output %q is missing", name))
			continue
		}
		var s string
		if values := t.ranks[i]; values != nil && (json.Unmarshal(value, &s) != nil || !slices.Contains(values, s)) {
			d.AddField(at+"."+name, fmt.Sprintf("%s is not one of %s", value, strings.Join(values, ", ")))
		}
	}
	return out
}

func (t *Table) inputNames() []string {
	names := make([]string, len(t.inputs))
	for i, in := range t.inputs {
		names[i] = in.name
	}
	return names
}

// caret shows the source with a mark under the offending place.
func caret(src string, err error) string {
	at := 0
	if e, ok := err.(*syntaxError); ok {
		at = min(max(e.at, 0), len(src))
	}
	return err.Error() + "\n    " + src + "\n    " + strings.Repeat(" ", at) + "^"
}
