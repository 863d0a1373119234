// Package e2e holds the whole product against a real server: it has tests
// only. They share one embedded server in memory; each has a task queue of its
// own. They are skipped with -short.
package e2e_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/embedded"
	"github.com/holodeck-run/holodeck/parse"
	"github.com/holodeck-run/holodeck/worker"
)

var update = flag.Bool("update", false, "rewrite the recorded histories")

// address is where the package's server answers; empty with -short.
var address string

// parser is shared: its PDF engine takes long to compile.
var parser *parse.Parser

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() {
		return m.Run()
	}
	server, err := embedded.Start(context.Background(), embedded.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	address, parser = server.Address(), parse.New(parse.Options{})
	code := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	_ = parser.Close()
	return code
}

// place is a client and a task queue of one test.
type place struct {
	client.Client
	queue string
}

// begin skips with -short, and dials for the test; change may be nil.
func begin(t *testing.T, change func(*client.Options)) place {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded server; run without -short")
	}
	t.Parallel()
	o := client.Options{HostPort: address, DataConverter: worker.DataConverter(), Logger: quiet{}}
	if change != nil {
		change(&o)
	}
	c, err := client.Dial(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return place{c, strings.ReplaceAll(t.Name(), "/", "-")}
}

// serve serves activities and workflows on the test's queue.
func (p place) serve(t *testing.T, a *worker.Activities, workflows func(sdkworker.Registry)) *worker.Running {
	t.Helper()
	running, err := worker.Serve(p.Client, worker.Service{TaskQueue: p.queue, Activities: []*worker.Activities{a}, Workflows: workflows, Stop: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Stop)
	return running
}

func (p place) start(t *testing.T, workflow, input any) client.WorkflowRun {
	t.Helper()
	run, err := p.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: p.queue, TaskQueue: p.queue, WorkflowExecutionTimeout: time.Minute,
	}, workflow, input)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (p place) history(t *testing.T, run client.WorkflowRun) []*historypb.HistoryEvent {
	t.Helper()
	var events []*historypb.HistoryEvent
	for it := p.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); it.HasNext(); {
		e, err := it.Next()
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// ending is how an activity ended, as its history has it.
type ending struct {
	failure *failurepb.Failure // nil if it succeeded
	attempt int32
}

// endings returns the ends of the activities, in order.
func endings(events []*historypb.HistoryEvent) []ending {
	var out []ending
	attempts := map[int64]int32{}
	for _, e := range events {
		if s := e.GetActivityTaskStartedEventAttributes(); s != nil {
			attempts[e.GetEventId()] = s.GetAttempt()
		}
		if f := e.GetActivityTaskFailedEventAttributes(); f != nil {
			out = append(out, ending{f.GetFailure(), attempts[f.GetStartedEventId()]})
		}
		if c := e.GetActivityTaskCompletedEventAttributes(); c != nil {
			out = append(out, ending{nil, attempts[c.GetStartedEventId()]})
		}
	}
	return out
}

// only returns the end of the one activity that ended, which failed.
func only(t *testing.T, events []*historypb.HistoryEvent) ending {
	t.Helper()
	ends := endings(events)
	if len(ends) == 0 || ends[len(ends)-1].failure == nil {
		t.Fatalf("no activity failed: %v", ends)
	}
	return ends[len(ends)-1]
}

// details decodes the first detail of a failure.
func details(t *testing.T, f *failurepb.Failure, v any) {
	t.Helper()
	payloads := f.GetApplicationFailureInfo().GetDetails().GetPayloads()
	if len(payloads) != 1 {
		t.Fatalf("the failure has %d details", len(payloads))
	}
	if err := json.Unmarshal(payloads[0].GetData(), v); err != nil {
		t.Fatal(err)
	}
}

// provider is a local server that speaks OpenAI's protocol.
type provider struct {
	*httptest.Server
	calls atomic.Int32
}

func speak(t *testing.T, answer http.HandlerFunc) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		p.calls.Add(1)
		answer(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// completes answers with the text as the model's.
func completes(text string) http.HandlerFunc {
	quoted, _ := json.Marshal(text)
	return status(200, `{"id":"c","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":`+string(quoted)+`}}],"usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3}}`)
}

const countSchema = `{"type":"object","properties":{"id":{"type":"integer"},"text":{"type":"string"}},"required":["id"],"additionalProperties":false}`

// folder writes a configuration of one node, count, whose model answers at
// url, and returns its folder.
func folder(t *testing.T, url string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"worker.yaml": "temporal: {task_queue: q}\nnodes:\n  - id: count\n    edge: {agent: agent.yaml}\n    gate: {schema: gate.json}\n",
		"agent.yaml":  "name: counter\nmodel: {provider: openai, name: m, endpoint: '" + url + "', api_key: sk-test, timeout: 500ms}\ninstructions: {inline: Count.}\nresponse_format: gate.json\n",
		"gate.json":   countSchema,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func bind(t *testing.T, dir string) *worker.Activities {
	t.Helper()
	cfg, err := config.Load(filepath.Join(dir, "worker.yaml"), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := worker.NewActivities(cfg, worker.Options{Parser: parser})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// quiet drops the SDK's log.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

var _ log.Logger = quiet{}
