package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/fault"
)

const agent = `name: evidence
model: {provider: openai, name: gpt-5-mini, temperature: 0.2}
instructions: {inline: Read it.}
response_format: {type: object, properties: {id: {const: 9007199254740993}, ok: {const: yes}}}
`

func TestAnAgentIsReadWhole(t *testing.T) {
	a, err := config.LoadAgent(home(map[string]string{"agents/a.yaml": agent}), "agents/a.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != "evidence" || a.System != "Read it." || *a.Model.Temperature != 0.2 {
		t.Errorf("agent = %+v", a)
	}
	const want = `{"type":"object","properties":{"id":{"const":9007199254740993},"ok":{"const":"yes"}}}`
	if string(a.Schema) != want {
		t.Errorf("schema = %s, want %s: order and digits kept", a.Schema, want)
	}
}

func TestPathsBelongToTheAgentsFolderAndStayInTheWorkers(t *testing.T) {
	text := strings.Replace(agent, "{inline: Read it.}", "{file: prompt.md}", 1)
	text = text[:strings.Index(text, "response_format")] + "response_format: ../gates/g.json\n"
	files := map[string]string{
		"agents/a.yaml": text, "agents/prompt.md": "---\nversion: 2\n---\n\nRead it well.\n", "gates/g.json": `{"type":"object"}`,
	}
	a, err := config.LoadAgent(home(files), "agents/a.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.System != "Read it well.\n" || string(a.Schema) != `{"type":"object"}` {
		t.Errorf("system %q, schema %s", a.System, a.Schema)
	}
	files["agents/a.yaml"] = strings.Replace(text, "../gates/g.json", "../../outside.json", 1)
	if _, err := config.LoadAgent(home(files), "agents/a.yaml", nil); err == nil || !strings.Contains(err.Error(), "leaves the folder") {
		t.Errorf("a path out of the worker's folder gives %v", err)
	}
}

func TestVariablesAreExpandedAndUnknownOnesNamedWithTheirPlace(t *testing.T) {
	text := strings.Replace(agent, "gpt-5-mini", "${MODEL}", 1)
	a, err := config.LoadAgent(home(map[string]string{"a.yaml": text}), "a.yaml", env(map[string]string{"MODEL": "m1"}))
	if err != nil || a.Model.Name != "m1" {
		t.Errorf("name = %v (%v), want m1", a, err)
	}
	_, err = config.LoadAgent(home(map[string]string{"a.yaml": text}), "a.yaml", env(nil))
	if err == nil || err.Error() != "a.yaml:2:33: the environment has no variable MODEL; set it, or remove ${MODEL}" {
		t.Errorf("an unknown variable gives %v", err)
	}
}

func TestAPeersAgentLoadsWithWarnings(t *testing.T) {
	text := agent + "tools: [{type: mcp}]\nevaluations: {}\ntest_cases: []\n"
	a, err := config.LoadAgent(home(map[string]string{"a.yaml": text}), "a.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a.yaml:5: tools is not used by a gated activity", "a.yaml:6: evaluations is not used by a gated activity", "a.yaml:7: test_cases is not used by a gated activity"}
	if strings.Join(a.Warnings, "\n") != strings.Join(want, "\n") {
		t.Errorf("warnings = %q, want %q", a.Warnings, want)
	}
}

func TestAgentFaults(t *testing.T) {
	cases := map[string]struct{ old, new, want string }{
		"unknown provider":   {"provider: openai", "provider: opnai", "Did you mean openai?"},
		"no model name":      {", name: gpt-5-mini", "", "model.name: is missing"},
		"temperature":        {"temperature: 0.2", "temperature: 3", "between 0 and 2"},
		"temperature text":   {"temperature: 0.2", "temperature: '0.2'", "must be a number"},
		"max_tokens zero":    {"temperature: 0.2", "max_tokens: 0", "greater than 0"},
		"azure endpoint":     {"provider: openai", "provider: azure_openai", "azure_openai needs it"},
		"both instructions":  {"{inline: Read it.}", "{inline: a, file: b.md}", "exactly one of inline and file"},
		"no instructions":    {"{inline: Read it.}", "{}", "exactly one of inline and file"},
		"missing file":       {"{inline: Read it.}", "{file: none.md}", "file does not exist"},
		"no response format": {"response_format: {", "description: x #", "response_format: is missing"},
		"format a number":    {agent[strings.Index(agent, "response_format"):], "response_format: 5\n", "must be a JSON Schema or the path of one"},
		"rules without any":  {"provider: openai", "provider: rules", "needs at least one"},
		"unknown key":        {"name: evidence", "nmae: evidence", "Did you mean name?"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(agent, c.old, c.new, 1)
			_, err := config.LoadAgent(home(map[string]string{"a.yaml": text}), "a.yaml", nil)
			if !fault.Is(err, fault.Config) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("LoadAgent() = %v, want a ConfigError with %q", err, c.want)
			}
		})
	}
}

func TestRulesKeepTheirOrder(t *testing.T) {
	text := `name: r
model:
  provider: rules
  rules:
    status: {one_of: {unverified: 'not verified', verified: [verified, checked]}}
    net: {match: ['a: (\d+)', 'b: (\d+)'], as: number, default: 0}
instructions: {inline: x}
response_format: {type: object}
`
	a, err := config.LoadAgent(home(map[string]string{"a.yaml": text}), "a.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(a.Model.Rules)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"net":{"Match":["a: (\\d+)","b: (\\d+)"],"As":"number","All":false,"OneOf":null,"Text":"","Default":{"JSON":0}},` +
		`"status":{"Match":null,"As":"","All":false,"OneOf":[{"Value":{"JSON":"unverified"},"Keywords":["not verified"]},{"Value":{"JSON":"verified"},"Keywords":["verified","checked"]}],"Text":"","Default":null}}`
	if string(got) != want {
		t.Errorf("rules = %s\nwant    %s", got, want)
	}
}

func TestAliasBombsEnd(t *testing.T) {
	text := "name: r\nmodel: {provider: openai, name: m}\ninstructions: {inline: x}\nresponse_format:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 9; i++ {
		prev := "*a" + string(rune('0'+i-1))
		text += "  a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.TrimSuffix(strings.Repeat(prev+", ", 10), ", ") + "]\n"
	}
	_, err := config.LoadAgent(home(map[string]string{"a.yaml": text}), "a.yaml", nil)
	if err == nil || !strings.Contains(err.Error(), "unfolds to more than 5 MiB") && !strings.Contains(err.Error(), "alias") {
		t.Errorf("an alias bomb gives %v", err)
	}
}

func TestDotEnvFillsWhatIsNotSet(t *testing.T) {
	l, err := env(map[string]string{"A": "set"}).WithDotEnv(".env", []byte("# keys\nA=file\nexport B='two words'\nC=x # note\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"A": "set", "B": "two words", "C": "x", "D": ""} {
		if got := l.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if _, err := env(nil).WithDotEnv(".env", []byte("A=1\nnonsense\n")); err == nil || !strings.HasPrefix(err.Error(), ".env:2:1") {
		t.Errorf("a line without = gives %v, want its place", err)
	}
}
