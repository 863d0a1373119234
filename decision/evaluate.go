package decision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/holodeck-run/holodeck/fault"
)

// Verdict is what a table decided, and which rule decided it.
type Verdict struct {
	TableID               string                     `json:"table_id"`
	TableVersion          string                     `json:"table_version"`
	Outputs               map[string]json.RawMessage `json:"outputs"`
	MatchedRuleIndex      *int                       `json:"matched_rule_index"` // 1-based; null for the default
	MatchedRuleAnnotation *string                    `json:"matched_rule_annotation"`
	IsDefault             bool                       `json:"is_default"`
}

// Output returns an output that is a string, "" if it is none.
func (v Verdict) Output(name string) string {
	var s string
	_ = json.Unmarshal(v.Outputs[name], &s)
	return s
}

// Evaluate decides on facts: JSON text, or a value that marshals to a JSON
// object. Faults: Feel when an expression or cell cannot be evaluated,
// DecisionTable when no rule holds and there is no default, or several hold
// under UNIQUE.
func (t *Table) Evaluate(facts any) (Verdict, error) {
	s, err := readFacts(facts)
	if err != nil {
		return Verdict{}, t.fail(fault.Feel, "Give the facts as a JSON object.", "read facts: %w", err)
	}
	values := make([]any, len(t.inputs))
	for i, in := range t.inputs {
		v, err := in.eval(scope{facts: s})
		if err == nil {
			v, err = in.convert(v)
		}
		if err != nil {
			return Verdict{}, t.fail(fault.Feel, "Correct the facts or the input's expression.", "input %q (%s): %w", in.name, in.source, err)
		}
		values[i] = v
	}
	hits, err := t.hits(values)
	if err != nil {
		return Verdict{}, err
	}
	return t.choose(hits)
}

func readFacts(facts any) (map[string]any, error) {
	raw, ok := facts.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(facts); err != nil {
			return nil, err
		}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fmt.Errorf("they are null")
	}
	return m, nil
}

// convert holds an input's value against the column's type; null passes.
func (in input) convert(v any) (any, error) {
	ok := v == nil
	switch in.kind {
	case "number", "days":
		_, isNumber := v.(*big.Rat)
		ok = ok || isNumber
	case "string":
		_, isString := v.(string)
		ok = ok || isString
	case "boolean":
		_, isBool := v.(bool)
		ok = ok || isBool
	case "date":
		if s, isString := v.(string); isString {
			return parseDate(s)
		}
		_, isDate := v.(date)
		ok = ok || isDate
	}
	if !ok {
		return nil, fmt.Errorf("is %s, the column wants %s", typeName(v), in.kind)
	}
	return v, nil
}

// hits returns the indices of the rules that hold; FIRST stops at one.
func (t *Table) hits(values []any) ([]int, error) {
	var hits []int
	for i, r := range t.rules {
		holds, err := t.holds(i, r, values)
		if err != nil {
			return nil, err
		}
		if holds {
			hits = append(hits, i)
			if t.policy == First {
				break
			}
		}
	}
	return hits, nil
}

func (t *Table) holds(i int, r rule, values []any) (bool, error) {
	for j, cell := range r.cells {
		if cell == nil {
			continue
		}
		v, err := cell(scope{cell: values[j]})
		if err != nil {
			return false, t.fail(fault.Feel, "Correct the cell or the facts.", "rule %d cell %q (%s): %w", i+1, t.inputs[j].name, r.texts[j], err)
		}
		holds, ok := v.(bool)
		if !ok {
			return false, t.fail(fault.Feel, "Write a test in the cell.", "rule %d cell %q (%s): gives %s, not true or false", i+1, t.inputs[j].name, r.texts[j], typeName(v))
		}
		if !holds {
			return false, nil
		}
	}
	return true, nil
}

func (t *Table) choose(hits []int) (Verdict, error) {
	v := Verdict{TableID: t.id, TableVersion: t.version}
	switch {
	case len(hits) == 0 && t.fallback == nil:
		return v, t.fail(fault.DecisionTable, "Add a rule or a default that covers these facts.", "no rule holds and there is no default")
	case len(hits) == 0:
		v.Outputs, v.IsDefault = t.fallback, true
		return v, nil
	case len(hits) > 1 && t.policy == Unique:
		return v, t.fail(fault.DecisionTable, "Make the rules exclude each other, or choose another hit policy.", "rules %v hold at once under UNIQUE", oneBased(hits))
	case t.policy == Priority:
		slices.SortStableFunc(hits, func(a, b int) int { return slices.Compare(t.rank(a), t.rank(b)) })
	}
	r := t.rules[hits[0]]
	index := hits[0] + 1
	v.Outputs, v.MatchedRuleIndex, v.MatchedRuleAnnotation = r.then, &index, r.annotation
	return v, nil
}

// rank is the position of each of a rule's outputs among the allowed values.
func (t *Table) rank(i int) []int {
	ranks := make([]int, len(t.outputs))
	for j, name := range t.outputs {
		var s string
		_ = json.Unmarshal(t.rules[i].then[name], &s)
		ranks[j] = slices.Index(t.ranks[j], s)
	}
	return ranks
}

func oneBased(hits []int) []int {
	out := make([]int, len(hits))
	for i, h := range hits {
		out[i] = h + 1
	}
	return out
}

func (t *Table) fail(k fault.Kind, hint, format string, args ...any) error {
	return fault.New(k, fmt.Sprintf("evaluate table %s version %s", t.id, t.version), hint, format, args...)
}
