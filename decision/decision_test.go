package decision_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holodeck-run/holodeck/decision"
	"github.com/holodeck-run/holodeck/fault"
)

const surplus = `id: surplus
version: "1"
hit_policy: UNIQUE
inputs:
  - {name: ratio, expression: (income.net - income.expenses) / income.net, type: number}
  - {name: status, expression: residency.status, type: string}
outputs:
  - {name: verdict, type: string, values: [yes, later, no]}
rules:
  - {when: {ratio: ">= 0.25", status: '"verified"'}, then: {verdict: yes}, annotation: enough}
  - {when: {ratio: "[0.10..0.25)"}, then: {verdict: later}}
  - {when: {ratio: "< 0.10"}, then: {verdict: no}}
`

func load(t *testing.T, text string) *decision.Table {
	t.Helper()
	table, err := decision.Load("t.dmn.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestVerdictsNameTheirRule(t *testing.T) {
	table := load(t, surplus)
	cases := []struct {
		facts, want string
		rule        int
	}{
		{`{"income":{"net":5000,"expenses":3500},"residency":{"status":"verified"}}`, "yes", 1},
		{`{"income":{"net":5000.0,"expenses":3750},"residency":{"status":"verified"}}`, "yes", 1},
		{`{"income":{"net":5000,"expenses":3750.01},"residency":{"status":"unverified"}}`, "later", 2},
		{`{"income":{"net":3,"expenses":2.7},"residency":{"status":"verified"}}`, "later", 2}, // exactly a tenth
		{`{"income":{"net":5000,"expenses":6000},"residency":{"status":"verified"}}`, "no", 3},
	}
	for _, c := range cases {
		v, err := table.Evaluate(json.RawMessage(c.facts))
		if err != nil || v.Output("verdict") != c.want || v.MatchedRuleIndex == nil || *v.MatchedRuleIndex != c.rule || v.IsDefault {
			t.Errorf("Evaluate(%s) = %+v (%v), want %s by rule %d", c.facts, v, err, c.want, c.rule)
		}
	}
	v, _ := table.Evaluate(json.RawMessage(cases[0].facts))
	got, _ := json.Marshal(v)
	const want = `{"table_id":"surplus","table_version":"1","outputs":{"verdict":"yes"},"matched_rule_index":1,"matched_rule_annotation":"enough","is_default":false}`
	if string(got) != want {
		t.Errorf("verdict = %s, want %s", got, want)
	}
}

func TestWhatCannotBeDecidedIsAFault(t *testing.T) {
	table := load(t, surplus)
	cases := map[string]struct {
		facts string
		kind  fault.Kind
		want  string
	}{
		"a hole":           {`{"income":{"net":100,"expenses":0},"residency":{"status":"unverified"}}`, fault.DecisionTable, "no rule holds and there is no default"},
		"division by zero": {`{"income":{"net":0,"expenses":0},"residency":{"status":"verified"}}`, fault.Feel, `input "ratio"`},
		"a missing fact":   {`{"income":{"net":1},"residency":{"status":"verified"}}`, fault.Feel, "the facts have no income.expenses"},
		"a wrong type":     {`{"income":{"net":"1","expenses":0},"residency":{"status":"verified"}}`, fault.Feel, "compute string - number"},
		"no object":        {`[1]`, fault.Feel, "read facts"},
		"null":             {`null`, fault.Feel, "they are null"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := table.Evaluate(json.RawMessage(c.facts))
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Evaluate() = %v, want %s with %q", err, c.kind, c.want)
			}
		})
	}
}

func TestHitPolicies(t *testing.T) {
	table := func(policy string) string {
		return "id: p\nversion: v1\nhit_policy: " + policy + `
inputs: [{name: n, expression: n, type: number}]
outputs: [{name: o, type: string, values: [high, low]}]
rules:
  - {when: {n: "> 0"}, then: {o: low}}
  - {when: {n: "> 10"}, then: {o: high}}
default: {o: low}
`
	}
	facts := map[string]int{"n": 20}
	if _, err := load(t, table("UNIQUE")).Evaluate(facts); !fault.Is(err, fault.DecisionTable) || !strings.Contains(err.Error(), "rules [1 2] hold at once") {
		t.Errorf("UNIQUE = %v, want a fault that names both rules", err)
	}
	for policy, want := range map[string]string{"FIRST": "low", "PRIORITY": "high"} {
		if v, err := load(t, table(policy)).Evaluate(facts); err != nil || v.Output("o") != want {
			t.Errorf("%s = %+v (%v), want %s", policy, v, err, want)
		}
	}
	if v, err := load(t, table("FIRST")).Evaluate(map[string]int{"n": -1}); err != nil || !v.IsDefault || v.MatchedRuleIndex != nil {
		t.Errorf("no hit = %+v (%v), want the default", v, err)
	}
}

func TestCells(t *testing.T) {
	cases := []struct {
		kind, cell, value string
		want              bool
	}{
		{"number", "-", "1", true},
		{"number", "5", "5.0", true},
		{"number", "[1..5]", "5", true},
		{"number", "[1..5)", "5", false},
		{"number", "(1..5]", "1", false},
		{"number", "[1, 5]", "5", true},
		{"number", "not(5)", "5", false},
		{"number", "not([1..5])", "6", true},
		{"number", "!= 5", "4", true},
		{"number", "> 1 + 1", "3", true},
		{"number", "-5", "-5", true},
		{"number", ".5", "0.5", true},
		{"string", `"a"`, `"a"`, true},
		{"string", `["a", "b"]`, `"b"`, true},
		{"string", `!= "a"`, "null", true},
		{"boolean", "true", "true", true},
		{"boolean", "false", "true", false},
		{"date", `>= date("2026-06-01")`, `"2026-07-01"`, true},
		{"date", `date("2026-06-01")`, `"2026-06-02"`, false},
	}
	for _, c := range cases {
		text := "id: c\nversion: v\nhit_policy: FIRST\ninputs: [{name: x, expression: x, type: " + c.kind + "}]\noutputs: [{name: hit, type: boolean}]\nrules:\n  - when: {x: '" + c.cell + "'}\n    then: {hit: true}\ndefault: {hit: false}\n"
		v, err := load(t, text).Evaluate(json.RawMessage(`{"x":` + c.value + `}`))
		if err != nil || v.IsDefault == c.want {
			t.Errorf("%s holds for %s: %v (%v), want %v", c.cell, c.value, !v.IsDefault, err, c.want)
		}
	}
}

func TestLoadFaultsAreToldAtOnceWithTheirPlace(t *testing.T) {
	_, err := decision.Load("t.dmn.yaml", []byte(`id: x
version: "1"
hit_policy: UNIQUE
inputs:
  - {name: a, expression: 'b.c +', type: number}
outputs:
  - {name: o, type: string, values: [x]}
rules:
  - {when: {a: '> other', z: '1'}, then: {o: y}}
`))
	want := `t.dmn.yaml:5:27: inputs[0].expression: the expression ends where a value is wanted
    b.c +
         ^
t.dmn.yaml:9:16: rules[0].when.a: a cell may name its own column only, not other
    > other
      ^
t.dmn.yaml:9:30: rules[0].when.z: there is no input "z". Known: a.
t.dmn.yaml:9:46: rules[0].then.o: "y" is not one of x`
	if !fault.Is(err, fault.DecisionTable) || err.Error() != want {
		t.Errorf("Load() =\n%v\nwant\n%s", err, want)
	}
}
