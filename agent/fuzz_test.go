package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holodeck-run/holodeck/agent"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/gate"
	"github.com/holodeck-run/holodeck/payload"
)

// FuzzAnswers: whatever a model says, an object passes or the gate refuses,
// and the refusal stays small.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{`{"n":1}`, "```json\n{\"n\":1}\n```", `x {"n":1} y`, `{"n":`, "\xff{}", `{"a":{"b":[{}]}} {`, "``` ``` ```", `"x"`} {
		f.Add(seed)
	}
	open := gate.MustCompile("any", []byte(`{"type":"object"}`))
	f.Fuzz(func(t *testing.T, answer string) {
		a := bound(says(answer), func(s *agent.Spec) { s.Gate = open })
		got, err := a.Invoke(t.Context(), payload.AgentInput{Message: "?"})
		if err != nil {
			e, ok := fault.As(err)
			if !ok || e.Kind != fault.GateValidation || len(e.Message()) > 1200 {
				t.Errorf("Invoke() over %q = %v", answer, err)
			}
			return
		}
		var object map[string]any
		if err := json.Unmarshal(got.Output, &object); err != nil || object == nil {
			t.Errorf("%q gave %q, no object", answer, got.Output)
		}
	})
}

// FuzzContext: a rendered context is ASCII and the same JSON.
func FuzzContext(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1.5e300,-0,"é\u0000"]}`, `{"":{"":null}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, context string) {
		var object map[string]any
		if json.Unmarshal([]byte(context), &object) != nil || object == nil {
			return
		}
		got, err := agent.Render("M", json.RawMessage(context))
		if err != nil {
			t.Fatal(err)
		}
		rendered, ok := strings.CutPrefix(got, "M\n\nContext (JSON):\n")
		if !ok || strings.ContainsFunc(rendered, func(r rune) bool { return r < ' ' || r > '~' }) && !strings.Contains(rendered, "\x7f") {
			t.Errorf("%q is rendered as %q", context, got)
		}
		var again map[string]any
		if err := json.Unmarshal([]byte(rendered), &again); err != nil && !strings.Contains(rendered, "Infinity") {
			t.Errorf("%q is rendered as %q: %v", context, rendered, err)
		}
	})
}
