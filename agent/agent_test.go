package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holodeck-run/holodeck/agent"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/gate"
	"github.com/holodeck-run/holodeck/model"
	"github.com/holodeck-run/holodeck/payload"
)

// scripted answers from a list and remembers what it was asked.
type scripted struct {
	answers []model.Response
	errs    map[int]error
	asked   []model.Request
}

func (s *scripted) Generate(_ context.Context, r model.Request) (model.Response, error) {
	i := len(s.asked)
	r.Messages = append([]model.Message(nil), r.Messages...)
	s.asked = append(s.asked, r)
	if err := s.errs[i]; err != nil {
		return model.Response{}, err
	}
	return s.answers[i], nil
}

func says(texts ...string) *scripted {
	s := &scripted{}
	for _, text := range texts {
		s.answers = append(s.answers, model.Response{Text: text, Usage: payload.TokenUsage{PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15}})
	}
	return s
}

const schema = `{"type":"object","properties":{"n":{"type":"integer"},"who":{"type":"string","pattern":"^[a-z]*$"}},"required":["n"],"additionalProperties":false}`

func bound(s *scripted, change func(*agent.Spec)) *agent.Agent {
	spec := agent.Spec{
		ID: "count", System: "Count.", Schema: json.RawMessage(schema),
		Gate: gate.MustCompile("count.schema.json", []byte(schema)), Client: s,
	}
	if change != nil {
		change(&spec)
	}
	return agent.New(spec)
}

// TestPromptsAreThePeersToTheByte holds Render against the peer's recorded
// prompts.
func TestPromptsAreThePeersToTheByte(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../shared/golden/payloads.json")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the peer's recorded prompts (shared/golden) are not here")
	}
	var pairs []struct {
		Wire   struct{ Data string }
		Prompt *string
	}
	if err := json.Unmarshal(data, &pairs); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range pairs {
		if p.Prompt == nil {
			continue
		}
		n++
		var in payload.AgentInput
		if err := in.UnmarshalJSON([]byte(p.Wire.Data)); err != nil {
			t.Errorf("%s: %v", p.Wire.Data, err)
			continue
		}
		if got, err := agent.Render(in.Message, in.Context); err != nil || got != *p.Prompt {
			t.Errorf("Render(%s) = %q, %v\nwant %q", p.Wire.Data, got, err, *p.Prompt)
		}
	}
	if n == 0 {
		t.Error("no prompt was compared")
	}
}

func TestContextIsRenderedAsPythonWould(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		context any
		want    string
	}{
		"nothing":                    {nil, "M"},
		"null":                       {json.RawMessage("null"), "M"},
		"a nil map":                  {map[string]any(nil), "M"},
		"an empty object":            {json.RawMessage(" {} "), "M\n\nContext (JSON):\n{}"},
		"sorted keys":                {json.RawMessage(`{"b":[1,{"z":1,"a":2}],"a":null}`), "M\n\nContext (JSON):\n{\"a\": null, \"b\": [1, {\"a\": 2, \"z\": 1}]}"},
		"big and odd numbers":        {json.RawMessage(`{"a":9007199254740993,"b":1.0,"c":1e3,"d":-0,"e":-0.0,"f":1e16,"g":0.00001,"h":1e-4,"i":123456789012345680.0,"j":1.5E+2}`), "M\n\nContext (JSON):\n{\"a\": 9007199254740993, \"b\": 1.0, \"c\": 1000.0, \"d\": 0, \"e\": -0.0, \"f\": 1e+16, \"g\": 1e-05, \"h\": 0.0001, \"i\": 1.2345678901234568e+17, \"j\": 150.0}"},
		"escapes":                    {json.RawMessage(`{"k<":"a\"\\\/\b\f\n\r\té😀\u0000\u007f<&>"}`), "M\n\nContext (JSON):\n{\"k<\": \"a\\\"\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\u0000\\u007f<&>\"}"},
		"a Go value":                 {map[string]any{"x": json.RawMessage(`{"id":9007199254740993}`), "y": "<"}, "M\n\nContext (JSON):\n{\"x\": {\"id\": 9007199254740993}, \"y\": \"<\"}"},
		"keys in code point order":   {json.RawMessage(`{"😀":1,"\ue000":2}`), "M\n\nContext (JSON):\n{\"\\ue000\": 2, \"\\ud83d\\ude00\": 1}"},
		"a number beyond all floats": {json.RawMessage(`{"a":1e999,"b":-1e999}`), "M\n\nContext (JSON):\n{\"a\": Infinity, \"b\": -Infinity}"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := agent.Render("M", c.context); err != nil || got != c.want {
				t.Errorf("Render() = %q, %v\nwant %q", got, err, c.want)
			}
		})
	}
	if _, err := agent.Render("M", map[string]any{"f": func() {}}); !fault.Is(err, fault.PayloadValidation) {
		t.Errorf("Render() of a function = %v", err)
	}
}

func TestAnswersAreUnwrapped(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ answer, want, fault string }{
		"plain":                         {`{"n":1}`, `{"n":1}`, ""},
		"its own bytes and digits":      {"  { \"n\" : 9007199254740993 }\n", `{ "n" : 9007199254740993 }`, ""},
		"fenced":                        {"```json\n{\"n\":1}\n```", `{"n":1}`, ""},
		"fenced without a language":     {"```\n{\"n\":1}\n```", `{"n":1}`, ""},
		"fenced in one line":            {"```{\"n\":1}```", `{"n":1}`, ""},
		"fenced in prose":               {"Here {it} is:\n```json\n{\"n\":1}\n```\nDone {}!", `{"n":1}`, ""},
		"in prose":                      {`The count is {"n":1}, I think.`, `{"n":1}`, ""},
		"in prose with braces":          {`Set {a, b}: {"n":1} {c}`, `{"n":1}`, ""},
		"a brace in a text":             {`So: {"n":1,"who":"x"} and "{".`, `{"n":1,"who":"x"}`, ""},
		"after a byte order mark":       {"\ufeff{\"n\":1}", `{"n":1}`, ""},
		"a list":                        {`[{"n":1}]`, "", "$: got array, want object"},
		"a fenced list":                 {"```json\n[{\"n\":1}]\n```", "", "$: got array, want object"},
		"a text":                        {`"{\"n\":1}"`, "", "$: got string, want object"},
		"null":                          {`null`, "", "$: got null, want object"},
		"two objects":                   {`{"n":1} {"n":2}`, "", "several JSON objects"},
		"two fences":                    {"```\n{\"n\":1}\n```\n```\n{\"n\":2}\n```", "", "several JSON objects"},
		"cut off":                       {`{"n":1,"who":"x`, "", "holds no JSON object"},
		"cut off around a whole object": {`{"inner":{"n":1},"x":`, "", "holds no JSON object"},
		"prose":                         {`I cannot tell.`, "", "holds no JSON object: I cannot tell."},
		"nothing":                       {"", "", "$: the answer is empty"},
		"blanks":                        {" \n\t", "", "$: the answer is empty"},
		"broken bytes":                  {"\xff{\"n\":1}", `{"n":1}`, ""},
		"all faults of an object":       {`{"who":"X","x":1}`, "", "'n'"},
		"an object of another shape":    {`{"n":"1"}`, "", "$.n: got string, want integer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := bound(says(c.answer), nil).Invoke(t.Context(), payload.AgentInput{Message: "?"})
			if c.fault == "" {
				if err != nil || string(got.Output) != c.want || got.NumTurns != 1 || got.AgentID != "count" || got.TokenUsage.TotalTokens != 15 {
					t.Errorf("Invoke() = %+v (%s), %v", got, got.Output, err)
				}
				return
			}
			e, ok := fault.As(err)
			if !ok || e.Kind != fault.GateValidation || !e.Retryable() || !strings.Contains(e.Message(), c.fault) || !strings.HasPrefix(e.Message(), "gate node count: ") {
				t.Errorf("Invoke() = %v, want %s", err, c.fault)
			}
		})
	}
}

func TestAnAnswerOfBracesEnds(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"open braces":   strings.Repeat(`{"":`, 400_000) + "x",
		"broken braces": strings.Repeat(`{ x`, 1_000_000),
	} {
		if _, err := bound(says(answer), nil).Invoke(t.Context(), payload.AgentInput{Message: "?"}); !fault.Is(err, fault.GateValidation) {
			t.Errorf("%s: Invoke() = %v", name, err)
		}
	}
}

func TestHistoryGetsNoMoreThanAGlimpseOfTheAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("SECRET ", 1000)
	for name, answer := range map[string]string{
		"prose":                   long,
		"a property's name":       `{"n":1,"` + long + `":1}`,
		"a value":                 `{"n":1,"who":"` + long + `"}`,
		"many properties' names":  `{"n":1,"` + strings.Repeat(`a":1,"b`, 3000) + `":1}`,
		"many objects":            strings.Repeat(`{"n":1} `, 3000),
		"characters of two bytes": strings.Repeat("ä", 3000),
	} {
		_, err := bound(says(answer), nil).Invoke(t.Context(), payload.AgentInput{Message: "?"})
		e, ok := fault.As(err)
		if !ok {
			t.Fatalf("%s: %v", name, err)
		}
		details, _ := json.Marshal(e.Details)
		if len(e.Message()) > 1000 || len(details) > 1000 {
			t.Errorf("%s: message of %d bytes, details of %d", name, len(e.Message()), len(details))
		}
	}
}

func TestTheModelIsAskedAgainWithWhatWasWrong(t *testing.T) {
	t.Parallel()
	s := says(`{"n":"x"}`, "", `Sorry: {"n":3}`)
	got, err := bound(s, func(a *agent.Spec) { a.Reask = 2 }).Invoke(t.Context(), payload.AgentInput{Message: "How many?"})
	if err != nil {
		t.Fatal(err)
	}
	want := payload.AgentResult{Output: json.RawMessage(`{"n":3}`), NumTurns: 3, AgentID: "count", TokenUsage: payload.TokenUsage{PromptTokens: 30, CompletionTokens: 15, TotalTokens: 45}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	const complaint = "Your answer was refused. Answer again with one JSON object that keeps to the schema. What was wrong:\n- "
	messages := []model.Message{
		{Role: model.User, Text: "How many?"},
		{Role: model.Assistant, Text: `{"n":"x"}`},
		{Role: model.User, Text: complaint + "$.n: got string, want integer"},
		{Role: model.User, Text: complaint + "$: the answer is empty"}, // no empty turn of the model's: Anthropic refuses it
	}
	if diff := cmp.Diff(messages, s.asked[2].Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	for i, r := range s.asked {
		if r.System != "Count." || string(r.Schema) != schema {
			t.Errorf("call %d has system %q and schema %s", i, r.System, r.Schema)
		}
	}
}

func TestARefusedAnswerIsNotFreeInTheBooks(t *testing.T) {
	t.Parallel()
	bad := model.Response{Text: "no", Finish: "length", Usage: payload.TokenUsage{PromptTokens: 4, TotalTokens: 4}}
	cases := map[string]struct {
		client *scripted
		reask  int
		limits agent.Limits
		kind   fault.Kind
		retry  bool
		turns  int
		tokens int64
		says   string
	}{
		"the gate's refusal":                {&scripted{answers: []model.Response{bad}}, 0, agent.Limits{}, fault.GateValidation, true, 1, 4, "raise model.max_tokens"},
		"after asking again":                {&scripted{answers: []model.Response{bad, bad}}, 1, agent.Limits{}, fault.GateValidation, true, 2, 8, "holds no JSON object"},
		"a call that fails":                 {&scripted{errs: map[int]error{0: fault.New(fault.Execution, "call x", "", "down")}}, 0, agent.Limits{}, fault.Execution, true, 0, 0, "call x: down"},
		"a second call that fails":          {&scripted{answers: []model.Response{bad}, errs: map[int]error{1: fault.New(fault.Execution, "call x", "", "down")}}, 1, agent.Limits{}, fault.Execution, true, 1, 4, "call x: down"},
		"too many tokens":                   {says(`{"n":1}`), 0, agent.Limits{Tokens: 14}, fault.Execution, false, 1, 15, "15 tokens were used, over max_tokens_total 14"},
		"too many tokens by asking again":   {says(`x`, `{"n":1}`), 1, agent.Limits{Tokens: 29}, fault.Execution, false, 2, 30, "max_tokens_total 29"},
		"too much money":                    {says(`{"n":1}`), 0, agent.Limits{CostUSD: 0.00002, InputPrice: 1, OutPrice: 3}, fault.Execution, false, 1, 15, "max_cost_usd"},
		"money is counted before asking on": {says(`x`, `{"n":1}`), 1, agent.Limits{CostUSD: 0.00002, InputPrice: 1, OutPrice: 3}, fault.Execution, false, 1, 15, "max_cost_usd"},
		"an answer that was held back":      {&scripted{answers: []model.Response{{Finish: "refusal"}}}, 0, agent.Limits{}, fault.GateValidation, true, 1, 0, "held the answer back (refusal)"},
		"an answer that was filtered":       {&scripted{answers: []model.Response{{Finish: "content_filter"}}}, 0, agent.Limits{}, fault.GateValidation, true, 1, 0, "held the answer back (content_filter)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := bound(c.client, func(s *agent.Spec) { s.Reask, s.Limits = c.reask, c.limits })
			_, err := a.Invoke(t.Context(), payload.AgentInput{Message: "?"})
			e, ok := fault.As(err)
			if !ok || e.Kind != c.kind || e.Retryable() != c.retry || !strings.Contains(e.Message(), c.says) {
				t.Fatalf("Invoke() = %v", err)
			}
			spent, ok := e.Details.(agent.Spending)
			if !ok || spent.AgentID != "count" || spent.NumTurns != c.turns || spent.TokenUsage.TotalTokens != c.tokens {
				t.Errorf("details = %+v", e.Details)
			}
			if (len(spent.Faults) > 0) != (c.kind == fault.GateValidation) {
				t.Errorf("faults = %v", spent.Faults)
			}
			if data, err := json.Marshal(spent); err != nil || strings.Contains(string(data), "null") {
				t.Errorf("details are %s, %v", data, err)
			}
		})
	}
}

func TestWithinTheLimitsTheAnswerCounts(t *testing.T) {
	t.Parallel()
	a := bound(says(`{"n":1}`), func(s *agent.Spec) {
		s.Limits = agent.Limits{Tokens: 15, CostUSD: 0.000025, InputPrice: 1, OutPrice: 3}
	})
	if _, err := a.Invoke(t.Context(), payload.AgentInput{Message: "?"}); err != nil {
		t.Errorf("Invoke() at its limits = %v", err)
	}
}

func TestACancelledCallIsNoFault(t *testing.T) {
	t.Parallel()
	s := &scripted{errs: map[int]error{0: context.Canceled}}
	if _, err := bound(s, nil).Invoke(t.Context(), payload.AgentInput{Message: "?"}); err != context.Canceled {
		t.Errorf("Invoke() = %v, want the context's error as it is", err)
	}
}

func TestOutputAs(t *testing.T) {
	t.Parallel()
	out, err := agent.OutputAs[struct{ N int64 }](payload.AgentResult{Output: json.RawMessage(`{"n":9007199254740993}`)})
	if err != nil || out.N != 9007199254740993 {
		t.Errorf("OutputAs() = %+v, %v", out, err)
	}
}
