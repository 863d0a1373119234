package model_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holodeck-run/holodeck/model"
	"github.com/holodeck-run/holodeck/payload"
)

const secret = "sk-test-0123456789abcdef"

// arrived is one request as a provider saw it.
type arrived struct {
	method, path, query string
	header              http.Header
	body                map[string]any
}

// provider is a local server that speaks some protocol and remembers what it
// was asked.
type provider struct {
	*httptest.Server
	mu   sync.Mutex
	seen []arrived
}

func serve(t *testing.T, answer http.HandlerFunc) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		a := arrived{method: r.Method, path: r.URL.EscapedPath(), query: r.URL.RawQuery, header: r.Header.Clone()}
		_ = json.Unmarshal(data, &a.body)
		p.mu.Lock()
		p.seen = append(p.seen, a)
		p.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// only returns the one request there may be: nobody but Temporal retries.
func (p *provider) only(t *testing.T) arrived {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen) != 1 {
		t.Fatalf("%d requests arrived, want exactly one", len(p.seen))
	}
	return p.seen[0]
}

func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func client(t *testing.T, s model.Spec) model.Client {
	t.Helper()
	c, err := model.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// dialect is one provider's protocol: how it is configured, and what it says
// when all is well.
type dialect struct {
	name    string
	spec    func(url string) model.Spec
	success string
	cutOff  string
}

func dialects() []dialect {
	return []dialect{
		{
			"openai", func(url string) model.Spec {
				return model.Spec{Provider: "openai", Name: "gpt-4o-mini", Endpoint: url + "/v1", APIKey: secret}
			},
			`{"id":"c1","object":"chat.completion","model":"gpt-4o-mini-2024","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"n\":1}","refusal":null}}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":8}}}`,
			`{"id":"c1","model":"m","choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant","content":"{\"n\":"}}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
		},
		{
			"azure_openai", func(url string) model.Spec {
				return model.Spec{Provider: "azure_openai", Name: "my-deployment", Endpoint: url, APIKey: secret, APIVersion: "2024-10-21"}
			},
			`{"id":"c1","object":"chat.completion","model":"gpt-4o-mini-2024","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"n\":1}"}}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":8}}}`,
			`{"id":"c1","model":"m","choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant","content":"{\"n\":"}}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
		},
		{
			"anthropic", func(url string) model.Spec {
				return model.Spec{Provider: "anthropic", Name: "claude-sonnet-4-5", Endpoint: url, APIKey: secret}
			},
			`{"id":"m1","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"text","text":"{\"n\":1}"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":2,"output_tokens":3,"cache_creation_input_tokens":2,"cache_read_input_tokens":8}}`,
			`{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"{\"n\":"}],"stop_reason":"max_tokens","usage":{"input_tokens":1,"output_tokens":2}}`,
		},
		{
			"ollama", func(url string) model.Spec {
				return model.Spec{Provider: "ollama", Name: "llama3.2", Endpoint: url, APIKey: secret}
			},
			`{"model":"llama3.2","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"{\"n\":1}"},"done":true,"done_reason":"stop","prompt_eval_count":12,"eval_count":3}`,
			`{"model":"m","message":{"role":"assistant","content":"{\"n\":"},"done":true,"done_reason":"length","prompt_eval_count":1,"eval_count":2}`,
		},
	}
}

const strictSchema = `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"],"additionalProperties":false}`

func question() model.Request {
	return model.Request{
		System:   "Count.",
		Messages: []model.Message{{Role: model.User, Text: "How many < 2?"}},
		Schema:   json.RawMessage(strictSchema),
	}
}

func TestAnAnswerComesWithItsCost(t *testing.T) {
	t.Parallel()
	want := map[string]payload.TokenUsage{
		"openai":       {PromptTokens: 12, CompletionTokens: 3, TotalTokens: 15, CacheReadTokens: 8},
		"azure_openai": {PromptTokens: 12, CompletionTokens: 3, TotalTokens: 15, CacheReadTokens: 8},
		"anthropic":    {PromptTokens: 12, CompletionTokens: 3, TotalTokens: 15, CacheCreationTokens: 2, CacheReadTokens: 8},
		"ollama":       {PromptTokens: 12, CompletionTokens: 3, TotalTokens: 15},
	}
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, says(200, d.success))
			got, err := client(t, d.spec(p.URL)).Generate(t.Context(), question())
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != `{"n":1}` || got.Model == "" || got.Finish == "length" {
				t.Errorf("Generate() = %+v", got)
			}
			if diff := cmp.Diff(want[d.name], got.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			p.only(t)
		})
	}
}

func TestACutOffAnswerSaysSo(t *testing.T) {
	t.Parallel()
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, says(200, d.cutOff))
			got, err := client(t, d.spec(p.URL)).Generate(t.Context(), question())
			if err != nil || got.Finish != "length" || got.Text != `{"n":` || got.Usage.TotalTokens != 3 {
				t.Errorf("Generate() = %+v, %v", got, err)
			}
		})
	}
}

// holds compares a request's whole body.
func holds(t *testing.T, got map[string]any, want string) {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(want), &fields); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fields, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestRequestsAreWhatTheProtocolAsks(t *testing.T) {
	t.Parallel()
	half := 0.5
	cases := []struct {
		name   string
		spec   model.Spec // Endpoint is a path below the server
		answer string
		path   string
		query  string
		header [2]string
		body   string
	}{
		{
			"a server compatible with openai gets max_tokens",
			model.Spec{Provider: "openai", Name: "qwen", Endpoint: "/v1/", APIKey: secret, MaxTokens: 77},
			dialects()[0].success, "/v1/chat/completions", "",
			[2]string{"Authorization", "Bearer " + secret},
			`{"model":"qwen","messages":[{"role":"system","content":"Count."},{"role":"user","content":"How many < 2?"}],"max_tokens":77,"temperature":0.3,
			  "response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":` + strictSchema + `}}}`,
		},
		{
			"azure by deployment",
			model.Spec{Provider: "azure_openai", Name: "my dep", APIKey: secret, APIVersion: "2024-10-21", Temperature: new(float64), TopP: &half},
			dialects()[0].success, "/openai/deployments/my%20dep/chat/completions", "api-version=2024-10-21",
			[2]string{"Api-Key", secret},
			`{"model":"my dep","messages":[{"role":"system","content":"Count."},{"role":"user","content":"How many < 2?"}],"max_completion_tokens":1000,"temperature":0,"top_p":0.5,
			  "response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":` + strictSchema + `}}}`,
		},
		{
			"azure's v1 API, and a reasoning model keeps its own temperature",
			model.Spec{Provider: "azure_openai", Name: "gpt-5-mini", Endpoint: "/openai/v1/", APIKey: secret},
			dialects()[0].success, "/openai/v1/chat/completions", "",
			[2]string{"Api-Key", secret},
			`{"model":"gpt-5-mini","messages":[{"role":"system","content":"Count."},{"role":"user","content":"How many < 2?"}],"max_completion_tokens":1000,
			  "response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":` + strictSchema + `}}}`,
		},
		{
			"anthropic's structured output",
			model.Spec{Provider: "anthropic", Name: "claude-sonnet-4-5", Endpoint: "/v1", APIKey: secret, MaxTokens: 64000},
			dialects()[2].success, "/v1/messages", "",
			[2]string{"X-Api-Key", secret},
			`{"model":"claude-sonnet-4-5","max_tokens":64000,"temperature":0.3,"system":[{"type":"text","text":"Count."}],
			  "messages":[{"role":"user","content":[{"type":"text","text":"How many < 2?"}]}],
			  "output_config":{"format":{"type":"json_schema","schema":` + strictSchema + `}}}`,
		},
		{
			"anthropic's forced tool for a model without structured output",
			model.Spec{Provider: "anthropic", Name: "claude-3-haiku-20240307", APIKey: secret, TopP: &half},
			dialects()[2].success, "/v1/messages", "",
			[2]string{"X-Api-Key", secret},
			`{"model":"claude-3-haiku-20240307","max_tokens":1000,"top_p":0.5,"system":[{"type":"text","text":"Count."}],
			  "messages":[{"role":"user","content":[{"type":"text","text":"How many < 2?"}]}],
			  "tools":[{"name":"answer","input_schema":` + strictSchema + `}],"tool_choice":{"type":"tool","name":"answer"}}`,
		},
		{
			"ollama",
			model.Spec{Provider: "ollama", Name: "llama3.2", Endpoint: "/v1", MaxTokens: 5, TopP: &half},
			dialects()[3].success, "/api/chat", "",
			[2]string{"Content-Type", "application/json"},
			`{"model":"llama3.2","messages":[{"role":"system","content":"Count."},{"role":"user","content":"How many < 2?"}],"stream":false,"format":` + strictSchema + `,
			  "options":{"temperature":0.3,"num_predict":5,"top_p":0.5}}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, says(200, c.answer))
			c.spec.Endpoint = p.URL + c.spec.Endpoint
			if _, err := client(t, c.spec).Generate(t.Context(), question()); err != nil {
				t.Fatal(err)
			}
			got := p.only(t)
			if got.method != http.MethodPost || got.path != c.path || got.query != c.query || got.header.Get(c.header[0]) != c.header[1] {
				t.Errorf("%s %s?%s with %s %q", got.method, got.path, got.query, c.header[0], got.header.Get(c.header[0]))
			}
			holds(t, got.body, c.body)
		})
	}
}

func TestReasksAndImagesTravel(t *testing.T) {
	t.Parallel()
	r := question()
	r.System, r.Schema = "", nil
	r.Messages[0].Images = []model.Image{{MIME: "image/png", Data: []byte("png")}}
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Text: "one"}, model.Message{Role: model.User, Text: "Again."})
	want := map[string]string{
		"openai":    `[{"role":"user","content":[{"type":"text","text":"How many < 2?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]},{"role":"assistant","content":"one"},{"role":"user","content":"Again."}]`,
		"anthropic": `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},{"type":"text","text":"How many < 2?"}]},{"role":"assistant","content":[{"type":"text","text":"one"}]},{"role":"user","content":[{"type":"text","text":"Again."}]}]`,
		"ollama":    `[{"role":"user","content":"How many < 2?","images":["cG5n"]},{"role":"assistant","content":"one"},{"role":"user","content":"Again."}]`,
	}
	for _, d := range dialects() {
		if want[d.name] == "" {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, says(200, d.success))
			if _, err := client(t, d.spec(p.URL)).Generate(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			var messages any
			if err := json.Unmarshal([]byte(want[d.name]), &messages); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(messages, p.only(t).body["messages"]); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheForcedToolsInputIsTheAnswer(t *testing.T) {
	t.Parallel()
	p := serve(t, says(200, `{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[{"type":"text","text":"Here:"},{"type":"tool_use","id":"t","name":"answer","input":{"id":9007199254740993}}],"usage":{"input_tokens":1,"output_tokens":1}}`))
	got, err := client(t, dialects()[2].spec(p.URL)).Generate(t.Context(), question())
	if err != nil || got.Text != `{"id":9007199254740993}` {
		t.Errorf("Generate() = %+v, %v", got, err)
	}
}

// The properties' order is the order in which a model answers: reasons before
// conclusions.
func TestTheOrderOfPropertiesTravels(t *testing.T) {
	t.Parallel()
	const properties = `{"why":{"description":"<first>","type":"string"},"answer":{"type":"object","properties":{"z":{"enum":[9007199254740993]},"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["z","a"],"additionalProperties":false}}`
	const closed = `{"type":"object","properties":` + properties + `,"required":["why","answer"],"additionalProperties":false}`
	const combined = `{"type":"object","properties":` + properties + `,"oneOf":[{"required":["why"]},{"required":["answer"]}]}`
	for name, c := range map[string]struct {
		d      dialect
		schema string
	}{
		"openai": {dialects()[0], closed}, "anthropic": {dialects()[2], closed}, "anthropic's tool": {dialects()[2], combined}, "ollama": {dialects()[3], closed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var body string
			p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				data, _ := io.ReadAll(r.Body)
				body = string(data)
				says(200, c.d.success)(w, r)
			}))
			defer p.Close()
			r := question()
			r.Schema = json.RawMessage(c.schema)
			if _, err := client(t, c.d.spec(p.URL)).Generate(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			body = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(body)
			if !strings.Contains(body, properties) || strings.Contains(body, "oneOf") {
				t.Errorf("the request is %s", body)
			}
		})
	}
}

func TestARefusalIsAnAnswerThatSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d          dialect
		body, text string
	}{
		"openai":                {dialects()[0], `{"id":"c","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I will not."}}],"usage":{"total_tokens":4}}`, "I will not."},
		"anthropic in silence":  {dialects()[2], `{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"refusal","usage":{"input_tokens":3,"output_tokens":1}}`, ""},
		"anthropic with a word": {dialects()[2], `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"No."}],"stop_reason":"refusal","usage":{"input_tokens":3,"output_tokens":1}}`, "No."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, says(200, c.body))
			got, err := client(t, c.d.spec(p.URL)).Generate(t.Context(), question())
			if err != nil || got.Text != c.text || got.Finish != "refusal" || got.Usage.TotalTokens != 4 {
				t.Errorf("Generate() = %+v, %v", got, err)
			}
		})
	}
}

func TestTheEnvironmentIsNotRead(t *testing.T) {
	elsewhere := serve(t, says(200, `{}`))
	for _, name := range []string{"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST", "AZURE_OPENAI_ENDPOINT"} {
		t.Setenv(name, elsewhere.URL)
	}
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AZURE_OPENAI_API_KEY", "OPENAI_ADMIN_KEY"} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: from-the-environment")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Custom: from-the-environment")
	for _, d := range dialects() {
		p := serve(t, says(200, d.success))
		if _, err := client(t, d.spec(p.URL)).Generate(t.Context(), question()); err != nil {
			t.Errorf("%s: %v", d.name, err)
			continue
		}
		for name, values := range p.only(t).header {
			if strings.Contains(strings.Join(values, " "), "from-the-environment") {
				t.Errorf("%s sent %s from the environment", d.name, name)
			}
		}
		s := d.spec("https://host.invalid")
		s.APIKey, s.Endpoint = "", ""
		if d.name == "azure_openai" {
			s.Endpoint = "https://host.invalid"
		}
		if _, err := model.New(s); err == nil && d.name != "ollama" {
			t.Errorf("%s took a key from the environment", d.name)
		}
	}
	if len(elsewhere.seen) > 0 {
		t.Error("a request went where the environment says")
	}
}

func TestCallsAreSafeAtOnce(t *testing.T) {
	t.Parallel()
	for _, d := range dialects() {
		p := serve(t, says(200, d.success))
		c := client(t, d.spec(p.URL))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := c.Generate(context.Background(), question()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}
