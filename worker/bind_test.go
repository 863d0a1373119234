package worker_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/payload"
	"github.com/holodeck-run/holodeck/worker"
)

func agentFile(model string) string {
	return "name: a\nmodel: " + model + "\ninstructions: {inline: Count.}\nresponse_format: ../gates/count.json\n"
}

func TestAllFaultsOfAllNodesAreListedTogether(t *testing.T) {
	t.Parallel()
	fs := folder(map[string]string{
		"worker.yaml": `
temporal: {task_queue: q}
nodes:
  - {id: one, edge: {agent: agents/none.yaml}, gate: {schema: gates/none.json}}
  - {id: two, edge: {agent: agents/typo.yaml}, gate: {schema: gates/bad.json}}
  - {id: three, edge: {agent: agents/nokey.yaml}, gate: {schema: gates/count.json}}
  - {id: four, edge: {agent: agents/rules.yaml}, gate: {schema: gates/null.json}}
  - {id: five, edge: {agent: agents/unpriced.yaml}, gate: {schema: gates/count.json}, limits: {max_cost_usd: 1}}
`,
		"agents/typo.yaml":     "name: a\nmodle: {provider: openai, name: m}\ninstructions: {inline: x}\nresponse_format: {type: object}\n",
		"agents/nokey.yaml":    agentFile("{provider: anthropic, name: m}"),
		"agents/rules.yaml":    agentFile("{provider: rules, rules: {a: {match: '('}}}"),
		"agents/unpriced.yaml": agentFile("{provider: openai, name: m, api_key: k}"),
		"gates/bad.json":       `{"type":"objct"}`,
		"gates/null.json":      `{"type":["object","null"]}`,
	})
	_, err := bind(t, fs, worker.Options{})
	if err == nil {
		t.Fatal("NewActivities() found nothing wrong")
	}
	text := err.Error()
	for _, want := range []string{
		"gates/none.json", "agents/none.yaml", "agents/typo.yaml:2:1: modle", "Did you mean model?", "gates/bad.json",
		"node three: prepare anthropic: there is no API key. Set ANTHROPIC_API_KEY",
		"node four: read model.rules.a", "gates/null.json", "node five: ", "model.price",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told in\n%s", want, text)
		}
	}
}

func TestKeysComeFromTheEnvironment(t *testing.T) {
	t.Parallel()
	env := config.Lookup(func(name string) (string, bool) { return "key-of-" + name, name != "BLANK" })
	for provider, header := range map[string][2]string{
		"openai":       {"Authorization", "Bearer key-of-OPENAI_API_KEY"},
		"anthropic":    {"X-Api-Key", "key-of-ANTHROPIC_API_KEY"},
		"azure_openai": {"Api-Key", "key-of-AZURE_OPENAI_API_KEY"},
	} {
		var seen string
		o := worker.Options{Lookup: env, HTTP: transport(func(r *http.Request) (*http.Response, error) {
			seen = r.Header.Get(header[0])
			return answer(r, 500, ""), nil
		})}
		a, err := bind(t, folder(map[string]string{"agents/count.yaml": agentFile("{provider: " + provider + ", name: m, endpoint: 'https://x.invalid'}")}), o)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = environment(t, a).ExecuteActivity("count", payload.AgentInput{Message: "?"})
		if seen != header[1] {
			t.Errorf("%s was sent %q", provider, seen)
		}
	}
}

func TestOneRunMayUseAnotherModel(t *testing.T) {
	t.Parallel()
	env := config.Lookup(func(name string) (string, bool) {
		v, ok := map[string]string{"OPENAI_API_KEY": "k", "OLLAMA_HOST": "box:11434"}[name]
		return v, ok
	})
	dir := t.TempDir()
	cases := map[string]struct {
		agent, override string
		model, host     string
		says            string
	}{
		"the agent's own":                    {"{provider: openai, name: m}", "", "openai:m", "api.openai.com", ""},
		"another model of the same provider": {"{provider: openai, name: m, endpoint: 'https://own.invalid/v1'}", "openai:n", "openai:n", "own.invalid", ""},
		"another provider has its own end":   {"{provider: anthropic, name: m, endpoint: 'https://own.invalid', api_key: a}", "openai:n", "openai:n", "api.openai.com", ""},
		"a model with a colon":               {"{provider: openai, name: m}", "ollama:llama3.2:1b", "ollama:llama3.2:1b", "box:11434", ""},
		"rules instead of a model":           {"{provider: openai, name: m, rules: {id: {default: 1}}}", "rules", "rules", "", ""},
		"rules that are not there":           {"{provider: openai, name: m}", "rules", "", "", "agent a has no rules"},
		"recordings":                         {"{provider: openai, name: m}", "replay:" + dir, "replay", "", ""},
		"no model":                           {"{provider: openai, name: m}", "openai", "", "", "Write provider:name"},
		"an unknown provider":                {"{provider: openai, name: m}", "opneai:x", "", "", `model.provider is "opneai"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := ""
			a, err := bind(t, folder(map[string]string{"agents/count.yaml": agentFile(c.agent)}), worker.Options{Lookup: env, Model: c.override, HTTP: transport(func(r *http.Request) (*http.Response, error) {
				host = r.URL.Host
				return answer(r, 500, ""), nil
			})})
			if c.says != "" {
				if kindOf(err) != fault.Config || !strings.Contains(err.Error()+err.(*fault.Error).Hint, c.says) {
					t.Errorf("NewActivities() = %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			_, _ = environment(t, a).ExecuteActivity("count", payload.AgentInput{Message: "?"})
			if got := a.Models()["count"]; got != c.model || host != c.host {
				t.Errorf("model is %s at %s", got, host)
			}
		})
	}
}

func TestARecordedRunIsReplayed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "recordings")
	in := payload.AgentInput{Message: "?"}
	a, err := bind(t, folder(nil), worker.Options{Record: dir, HTTP: completes(`"{\"id\":7}"`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := environment(t, a).ExecuteActivity("count", in); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Fatalf("%d recordings, %v", len(entries), err)
	}
	b, err := bind(t, folder(nil), worker.Options{Model: "replay:" + dir})
	if err != nil {
		t.Fatal(err)
	}
	got, err := environment(t, b).ExecuteActivity("count", in)
	if err != nil {
		t.Fatal(err)
	}
	var r payload.AgentResult
	if err := got.Get(&r); err != nil || string(r.Output) != `{"id":7}` {
		t.Errorf("result = %s, %v", r.Output, err)
	}
	_, err = environment(t, b).ExecuteActivity("count", payload.AgentInput{Message: "another"})
	if e := failed(t, err); e.Type() != "ExecutionError" || !e.NonRetryable() {
		t.Errorf("an unseen request fails as %s retryable=%v", e.Type(), !e.NonRetryable())
	}
}

func TestWarningsAreSaidOnce(t *testing.T) {
	t.Parallel()
	fs := folder(map[string]string{
		"worker.yaml":       "temporal: {task_queue: q}\nnodes:\n  - {id: a, edge: {agent: agents/count.yaml}, gate: {schema: gates/count.json}}\n  - {id: b, edge: {agent: agents/count.yaml}, gate: {schema: gates/count.json}}\n",
		"agents/count.yaml": agentFile("{provider: openai, name: m, api_key: k}") + "tools: []\n",
	})
	cfg := load(t, fs)
	for range 2 {
		a, err := worker.NewActivities(cfg, worker.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Close()
	}
	if len(cfg.Warnings) != 1 {
		t.Errorf("warnings are %q", cfg.Warnings)
	}
}

func TestOllamaIsFoundWhereItsVariableSays(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"": "http://127.0.0.1:11434", "box": "http://box:11434", "box:80": "http://box:80", "127.0.0.1": "http://127.0.0.1:11434",
		"http://box": "http://box", "https://box:1/": "https://box:1", "[::1]": "http://[::1]:11434",
	} {
		seen := ""
		a, err := bind(t, folder(map[string]string{"agents/count.yaml": agentFile("{provider: ollama, name: m}")}), worker.Options{
			Lookup: func(name string) (string, bool) { return value, name == "OLLAMA_HOST" },
			HTTP: transport(func(r *http.Request) (*http.Response, error) {
				seen = strings.TrimSuffix(r.URL.String(), "/api/chat")
				return answer(r, 500, ""), nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = environment(t, a).ExecuteActivity("count", payload.AgentInput{Message: "?"})
		if seen != want {
			t.Errorf("OLLAMA_HOST=%q calls %s, want %s", value, seen, want)
		}
	}
}
