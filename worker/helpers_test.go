package worker_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/worker"
)

const schema = `{"type":"object","properties":{"id":{"type":"integer"},"text":{"type":"string"}},"required":["id"],"additionalProperties":false}`

// folder is a configuration in memory: one node "count" of the openai
// provider, unless a file is replaced.
func folder(replace map[string]string) fstest.MapFS {
	files := map[string]string{
		"worker.yaml": `
temporal: {task_queue: q}
nodes:
  - id: count
    edge: {agent: agents/count.yaml}
    gate: {schema: gates/count.json}
`,
		"agents/count.yaml": `
name: counter
model: {provider: openai, name: gpt-4o-mini, api_key: sk-test}
instructions: {inline: Count.}
response_format: ../gates/count.json
`,
		"gates/count.json": schema,
	}
	fs := fstest.MapFS{}
	for name, text := range files {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range replace {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fs
}

func load(t *testing.T, fs fstest.MapFS) *config.Worker {
	t.Helper()
	cfg, err := config.Parse(config.Home{FS: fs, File: "worker.yaml"}, fs["worker.yaml"].Data, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// bind binds a configuration whose models answer by the transport.
func bind(t *testing.T, fs fstest.MapFS, o worker.Options) (*worker.Activities, error) {
	t.Helper()
	a, err := worker.NewActivities(load(t, fs), o)
	if err == nil {
		t.Cleanup(func() { _ = a.Close() })
	}
	return a, err
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(r *http.Request, status int, body string, header ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// completes answers as OpenAI does, with the text as the model's.
func completes(quotedText string) transport {
	return func(r *http.Request) (*http.Response, error) {
		return answer(r, 200, `{"id":"c","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":`+quotedText+`}}],"usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3}}`), nil
	}
}

func kindOf(err error) fault.Kind {
	if e, ok := fault.As(err); ok {
		return e.Kind
	}
	return ""
}
