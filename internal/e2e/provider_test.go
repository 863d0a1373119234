package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/flow"
	"github.com/holodeck-run/holodeck/payload"
)

// ask calls the node count once, with three attempts.
func ask(ctx workflow.Context, in payload.AgentInput) (payload.AgentResult, error) {
	ctx = flow.Parameters{StartToClose: 20 * time.Second, MaximumAttempts: 3, InitialInterval: 5 * time.Millisecond}.Apply(ctx)
	a, err := flow.Agent[map[string]any](ctx, "count", in)
	return a.Result, err
}

func asks(r sdkworker.Registry) {
	r.RegisterWorkflowWithOptions(ask, workflow.RegisterOptions{Name: "ask"})
}

func TestProviderFaultsAreReadFromHistory(t *testing.T) {
	slow := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	cut := func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = rw.WriteString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{")
			_ = rw.Flush()
			_ = conn.Close()
		}
	}
	const body = `{"error":{"message":"because"}}`
	cases := []struct {
		name     string
		answer   http.HandlerFunc
		kind     string
		attempts int32
		delay    time.Duration
		benign   bool
		tokens   int64
	}{
		{"bad JSON", completes(`{"id":`), "GateValidationError", 3, 0, true, 3},
		{"a schema violation", completes(`{"id":"x"}`), "GateValidationError", 3, 0, true, 3},
		{"400", status(400, body), "ExecutionError", 1, 0, false, 0},
		{"401", status(401, body), "BackendInitError", 1, 0, false, 0},
		{"404", status(404, body), "BackendInitError", 1, 0, false, 0},
		{"408", status(408, body), "ExecutionError", 3, 0, false, 0},
		{"429 with Retry-After", status(429, body, "Retry-After", "0.05"), "ExecutionError", 3, 50 * time.Millisecond, false, 0},
		{"500", status(500, body), "ExecutionError", 3, 0, false, 0},
		{"503", status(503, body), "ExecutionError", 3, 0, false, 0},
		{"slow", slow, "ExecutionError", 3, 0, false, 0},
		{"a cut connection", cut, "ExecutionError", 3, 0, false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := begin(t, nil)
			model := speak(t, c.answer)
			p.serve(t, bind(t, folder(t, model.URL)), asks)
			run := p.start(t, "ask", payload.AgentInput{Message: "?"})
			if err := run.Get(t.Context(), nil); err == nil {
				t.Fatal("the workflow succeeded")
			}
			events := p.history(t, run)
			end := only(t, events)
			info := end.failure.GetApplicationFailureInfo()
			benign := info.GetCategory() == enumspb.APPLICATION_ERROR_CATEGORY_BENIGN
			final := c.attempts == 1
			if info.GetType() != c.kind || end.attempt != c.attempts || info.GetNonRetryable() != final || info.GetNextRetryDelay().AsDuration() != c.delay || benign != c.benign {
				t.Errorf("failure is %s after %d attempts, nonRetryable=%v delay=%s benign=%v: %s",
					info.GetType(), end.attempt, info.GetNonRetryable(), info.GetNextRetryDelay().AsDuration(), benign, end.failure.GetMessage())
			}
			if got := model.calls.Load(); got != c.attempts {
				t.Errorf("the provider was called %d times, want %d", got, c.attempts)
			}
			var spent struct {
				AgentID    string             `json:"agent_id"`
				TokenUsage payload.TokenUsage `json:"token_usage"`
			}
			if details(t, end.failure, &spent); spent.AgentID != "count" || spent.TokenUsage.TotalTokens != c.tokens {
				t.Errorf("details are %+v", spent)
			}
			if m := end.failure.GetMessage(); strings.Contains(m, "sk-test") || len(m) > 500 || end.failure.GetStackTrace() != "" {
				t.Errorf("message is %q, stack %q", m, end.failure.GetStackTrace())
			}
			last := events[len(events)-1].GetWorkflowExecutionFailedEventAttributes()
			if last.GetFailure().GetCause().GetApplicationFailureInfo().GetType() != c.kind {
				t.Errorf("the workflow failed with %v", last.GetFailure())
			}
		})
	}
}

func TestAnAnswerReachesTheWorkflow(t *testing.T) {
	p := begin(t, nil)
	model := speak(t, completes("Sure: {\"id\": 9007199254740993, \"text\": \"<&>\"}"))
	p.serve(t, bind(t, folder(t, model.URL)), asks)
	run := p.start(t, "ask", payload.AgentInput{Message: "?", Context: map[string]any{"a": 1}})
	var got payload.AgentResult
	if err := run.Get(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if string(got.Output) != `{"id":9007199254740993,"text":"<&>"}` || got.NumTurns != 1 || got.TokenUsage.TotalTokens != 3 || got.AgentID != "count" {
		t.Errorf("result = %+v, output %s", got, got.Output)
	}
}

func TestAProviderThatComesBackIsNotAFailure(t *testing.T) {
	p := begin(t, nil)
	var model *provider
	model = speak(t, func(w http.ResponseWriter, r *http.Request) {
		if model.calls.Load() < 3 {
			status(503, "", "Retry-After", "0.01")(w, r)
			return
		}
		completes(`{"id":1}`)(w, r)
	})
	p.serve(t, bind(t, folder(t, model.URL)), asks)
	run := p.start(t, "ask", payload.AgentInput{Message: "?"})
	if err := run.Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if ends := endings(p.history(t, run)); len(ends) != 1 || ends[0].attempt != 3 {
		t.Errorf("endings = %v", ends)
	}
}

func TestAWrongInputFromAnywhereFailsAtOnce(t *testing.T) {
	p := begin(t, nil)
	model := speak(t, completes(`{"id":1}`))
	p.serve(t, bind(t, folder(t, model.URL)), func(r sdkworker.Registry) {
		r.RegisterWorkflowWithOptions(func(ctx workflow.Context, in any) error {
			ctx = flow.Parameters{StartToClose: time.Minute}.Apply(ctx) // no bound on attempts
			return workflow.ExecuteActivity(ctx, "count", in).Get(ctx, nil)
		}, workflow.RegisterOptions{Name: "wrong"})
	})
	run := p.start(t, "wrong", map[string]any{"message": "?", "contxt": nil})
	if err := run.Get(t.Context(), nil); err == nil {
		t.Fatal("the workflow succeeded")
	}
	end := only(t, p.history(t, run))
	if info := end.failure.GetApplicationFailureInfo(); info.GetType() != "PayloadValidationError" || end.attempt != 1 || model.calls.Load() != 0 || !strings.Contains(end.failure.GetMessage(), "Did you mean context?") {
		t.Errorf("failure is %s after %d attempts: %s", info.GetType(), end.attempt, end.failure.GetMessage())
	}
}
