package worker_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/payload"
	"github.com/holodeck-run/holodeck/worker"
)

func environment(t *testing.T, a *worker.Activities) *testsuite.TestActivityEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	a.Register(env)
	return env
}

// failed returns the application failure that an activity ended in.
func failed(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	e, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok {
		t.Fatalf("%T %v is no application failure", err, err)
	}
	return e
}

// literal is an input as it stands on the wire.
func literal(text string) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(text)})
}

func TestAWrongInputFailsAtOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	a, err := bind(t, folder(nil), worker.Options{HTTP: transport(func(*http.Request) (*http.Response, error) {
		asked++
		return nil, errors.New("no")
	})})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, activity string
		args           []any
		says           string
	}{
		{"an unknown key", "count", []any{literal(`{"message":"a","mesage":"b"}`)}, "Did you mean message?"},
		{"a key in the wrong case", "count", []any{literal(`{"Message":"a"}`)}, "message is missing"},
		{"null for a required field", "count", []any{literal(`{"message":null}`)}, "message is null"},
		{"nothing in it", "count", []any{literal(`{}`)}, "message is missing"},
		{"a list", "count", []any{literal(`[]`)}, "must be an object, got a list"},
		{"null", "count", []any{literal(`null`)}, "must be an object, got null"},
		{"a text", "count", []any{"hello"}, "must be an object, got a string"},
		{"no JSON", "count", []any{literal(`{"message"`)}, "not JSON"},
		{"two values", "count", []any{literal(`{"message":"a"} {}`)}, "not JSON"},
		{"two faults at once", "count", []any{literal(`{"message":5,"file":[]}`)}, "message must be a string, got a number; file is not a field. Did you mean files?"},
		{"a fault in a file", "count", []any{literal(`{"message":"a","files":[{"pth":"x"}]}`)}, "Did you mean path?"},
		{"bytes", "count", []any{[]byte("bytes")}, `its encoding is "binary/plain"`},
		{"nil", "count", []any{nil}, `its encoding is "binary/null"`},
		{"no argument", "count", nil, "there is no input"},
		{"a reference in another shape", "parse_document", []any{literal(`{"path":5}`)}, "path must be a string"},
		{"a reference with bytes", "parse_document", []any{literal(`{"path":"a","bytes":"x"}`)}, "bytes is not a field"},
		{"no reference", "parse_document", nil, "there is no input"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := environment(t, a).ExecuteActivity(c.activity, c.args...)
			e := failed(t, err)
			if e.Type() != "PayloadValidationError" || !e.NonRetryable() || !strings.Contains(e.Message(), c.says) {
				t.Errorf("failure is %s nonRetryable=%v: %s", e.Type(), e.NonRetryable(), e.Message())
			}
		})
	}
	if asked > 0 {
		t.Errorf("the model was asked %d times", asked)
	}
}

func TestTheDetailsOfAWrongInputListItsFaults(t *testing.T) {
	t.Parallel()
	a, err := bind(t, folder(nil), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = environment(t, a).ExecuteActivity("count", literal(`{"message":5,"x":1}`))
	var details struct{ Faults []string }
	if err := failed(t, err).Details(&details); err != nil || len(details.Faults) != 2 {
		t.Errorf("details = %+v, %v", details, err)
	}
}

func TestAReferenceThatDecodesIsJudgedAsConfiguration(t *testing.T) {
	t.Parallel()
	a, err := bind(t, folder(nil), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, ref := range map[string]payload.FileInput{
		"nothing": {}, "both": {Path: "a", URL: "http://b"}, "an unknown type": {Path: "a", Type: "pfd"}, "page 0": {Path: "a", Pages: payload.Pages{0}},
	} {
		_, err := environment(t, a).ExecuteActivity("parse_document", ref)
		if e := failed(t, err); e.Type() != "ConfigError" || !e.NonRetryable() {
			t.Errorf("%s: failure is %s %s", name, e.Type(), e.Message())
		}
	}
}

func TestResultsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	a, err := bind(t, folder(nil), worker.Options{HTTP: completes(`"{\"id\": 9007199254740993, \"text\": \"<b>&amp;</b> \u2028\"}"`)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := environment(t, a).ExecuteActivity("count", payload.AgentInput{Message: "?"})
	if err != nil {
		t.Fatal(err)
	}
	var raw converter.RawValue
	if err := got.Get(&raw); err != nil {
		t.Fatal(err)
	}
	want := `{"output":{"id":9007199254740993,"text":"<b>&amp;</b> ` + "\u2028" + `"},"token_usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3,"cache_creation_tokens":0,"cache_read_tokens":0},"num_turns":1,"agent_id":"count"}`
	if data := string(raw.Payload().GetData()); strings.ReplaceAll(data, `\u2028`, "\u2028") != want {
		t.Errorf("result is %s\nwant %s", data, want)
	}
	if e := string(raw.Payload().GetMetadata()["encoding"]); e != "json/plain" {
		t.Errorf("encoding is %s", e)
	}
}

// outcome is one way in which a provider fails.
type outcome struct {
	transport transport
	kind      fault.Kind
	final     bool
	delay     time.Duration
	benign    bool
}

func TestEveryFaultHasItsFailure(t *testing.T) {
	t.Parallel()
	status := func(code int, header ...string) transport {
		return func(r *http.Request) (*http.Response, error) {
			return answer(r, code, `{"error":{"message":"why"}}`, header...), nil
		}
	}
	cases := map[string]outcome{
		"free text":        {completes(`"I cannot."`), fault.GateValidation, false, 0, true},
		"the wrong shape":  {completes(`"{\"id\":\"x\"}"`), fault.GateValidation, false, 0, true},
		"400":              {status(400), fault.Execution, true, 0, false},
		"401":              {status(401), fault.BackendInit, true, 0, false},
		"404":              {status(404), fault.BackendInit, true, 0, false},
		"408":              {status(408), fault.Execution, false, 0, false},
		"429":              {status(429, "Retry-After", "3"), fault.Execution, false, 3 * time.Second, false},
		"500":              {status(500), fault.Execution, false, 0, false},
		"no network":       {func(*http.Request) (*http.Response, error) { return nil, errors.New("network is down") }, fault.Execution, false, 0, false},
		"another protocol": {func(r *http.Request) (*http.Response, error) { return answer(r, 200, `{}`), nil }, fault.Execution, false, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := bind(t, folder(nil), worker.Options{HTTP: c.transport})
			if err != nil {
				t.Fatal(err)
			}
			_, err = environment(t, a).ExecuteActivity("count", payload.AgentInput{Message: "?"})
			e := failed(t, err)
			benign := e.Category() == temporal.ApplicationErrorCategoryBenign
			if e.Type() != string(c.kind) || e.NonRetryable() != c.final || e.NextRetryDelay() != c.delay || benign != c.benign {
				t.Errorf("failure is %s nonRetryable=%v delay=%s benign=%v: %s", e.Type(), e.NonRetryable(), e.NextRetryDelay(), benign, e.Message())
			}
			var spent struct {
				AgentID string `json:"agent_id"`
				Faults  []any  `json:"faults"`
			}
			if err := e.Details(&spent); err != nil || spent.AgentID != "count" || (len(spent.Faults) > 0) != c.benign {
				t.Errorf("details = %+v, %v", spent, err)
			}
		})
	}
}

func TestAPluginServesTheTestEnvironments(t *testing.T) {
	t.Parallel()
	plugin, err := worker.NewPlugin(load(t, folder(nil)), worker.Options{HTTP: completes(`"{\"id\":1}"`)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugin.Activities().Close() })
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(sdkworker.Options{Plugins: []sdkworker.Plugin{plugin}})
	env.ExecuteWorkflow(func(ctx workflow.Context) (int64, error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		var r struct{ Output struct{ ID int64 } }
		err := workflow.ExecuteActivity(ctx, "count", map[string]any{"message": "?"}).Get(ctx, &r)
		return r.Output.ID, err
	})
	var id int64
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if err := env.GetWorkflowResult(&id); err != nil || id != 1 {
		t.Errorf("result = %d, %v", id, err)
	}
}

func TestTheConverterDoesNotEscape(t *testing.T) {
	t.Parallel()
	dc := worker.DataConverter()
	p, err := dc.ToPayload(map[string]string{"a": "<&>"})
	if err != nil || string(p.GetData()) != `{"a":"<&>"}` {
		t.Errorf("ToPayload() = %s, %v", p.GetData(), err)
	}
	var back map[string]string
	if err := dc.FromPayload(p, &back); err != nil || back["a"] != "<&>" {
		t.Errorf("FromPayload() = %v, %v", back, err)
	}
	for name, v := range map[string]any{"binary/null": nil, "binary/plain": []byte("x"), "json/protobuf": &commonpb.WorkflowExecution{WorkflowId: "w"}} {
		p, err := dc.ToPayload(v)
		if err != nil || string(p.GetMetadata()["encoding"]) != name {
			t.Errorf("%s is encoded as %s, %v", name, p.GetMetadata()["encoding"], err)
		}
	}
}

// taken is a registry that remembers names.
type taken map[string]bool

func (r taken) RegisterActivityWithOptions(_ any, o activity.RegisterOptions) { r[o.Name] = true }

func TestNamesCanBeLeftOut(t *testing.T) {
	t.Parallel()
	a, err := bind(t, folder(nil), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := taken{}
	a.RegisterExcept(r, []string{"parse_document"})
	if len(r) != 1 || !r["count"] {
		t.Errorf("registered %v", r)
	}
	if got := strings.Join(a.Names(), " "); got != "parse_document count" {
		t.Errorf("Names() = %s", got)
	}
	if got := a.Models()["count"]; got != "openai:gpt-4o-mini" {
		t.Errorf("Models() = %s", got)
	}
}

func TestAClientsConverterIsKept(t *testing.T) {
	t.Parallel()
	plugin, err := worker.NewPlugin(load(t, folder(nil)), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	own := converter.GetDefaultDataConverter()
	o := client.PluginConfigureClientOptions{ClientOptions: &client.Options{DataConverter: own}}
	if err := plugin.ConfigureClient(t.Context(), o); err != nil || o.ClientOptions.DataConverter != own {
		t.Errorf("the converter was replaced (%v)", err)
	}
	o.ClientOptions.DataConverter = nil
	if err := worker.ClientOnly(plugin).ConfigureClient(t.Context(), o); err != nil || o.ClientOptions.DataConverter == nil {
		t.Errorf("no converter was set (%v)", err)
	}
}
