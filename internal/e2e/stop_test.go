package e2e_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/flow"
	"github.com/holodeck-run/holodeck/payload"
	"github.com/holodeck-run/holodeck/worker"
)

// held is a provider that answers when it is told to.
func held(t *testing.T) (p *provider, called <-chan struct{}, release func()) {
	t.Helper()
	in, out := make(chan struct{}, 10), make(chan struct{})
	p = speak(t, func(w http.ResponseWriter, r *http.Request) {
		in <- struct{}{}
		select {
		case <-out:
			completes(`{"id":1}`)(w, r)
		case <-r.Context().Done():
		}
	})
	release = sync.OnceFunc(func() { close(out) })
	t.Cleanup(release)
	return p, in, release
}

// elsewhere runs the workflow half on its own, so that the activities' worker
// can stop alone.
func (p place) elsewhere(t *testing.T, attempts int32) {
	t.Helper()
	w := sdkworker.New(p.Client, p.queue+"-workflows", sdkworker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, in payload.AgentInput) (payload.AgentResult, error) {
		ctx = flow.Parameters{TaskQueue: p.queue, StartToClose: 20 * time.Second, MaximumAttempts: attempts, InitialInterval: 5 * time.Millisecond}.Apply(ctx)
		a, err := flow.Agent[map[string]any](ctx, "count", in)
		return a.Result, err
	}, workflow.RegisterOptions{Name: "ask"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
}

func (p place) startElsewhere(t *testing.T) client.WorkflowRun {
	t.Helper()
	run, err := p.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: p.queue, TaskQueue: p.queue + "-workflows", WorkflowExecutionTimeout: time.Minute}, "ask", payload.AgentInput{Message: "?"})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestACallInFlightFinishesWhileTheWorkerStops(t *testing.T) {
	p := begin(t, nil)
	model, called, release := held(t)
	running, err := worker.Serve(p.Client, worker.Service{TaskQueue: p.queue, Activities: []*worker.Activities{bind(t, patient(t, model.URL))}, Stop: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	p.elsewhere(t, 1)
	run := p.startElsewhere(t)
	<-called
	stopped := make(chan struct{})
	go func() {
		running.Stop()
		close(stopped)
	}()
	release()
	<-stopped
	var got payload.AgentResult
	if err := run.Get(t.Context(), &got); err != nil || string(got.Output) != `{"id":1}` || model.calls.Load() != 1 {
		t.Errorf("result = %s, %v after %d calls", got.Output, err, model.calls.Load())
	}
}

// A call that outlives the stop time is given up with a failure that has its
// kind, that the server knows before the stop is over, and runs again elsewhere.
func TestACallThatOutlivesTheStopIsRetried(t *testing.T) {
	p := begin(t, nil)
	model, called, release := held(t)
	dir := patient(t, model.URL)
	running, err := worker.Serve(p.Client, worker.Service{TaskQueue: p.queue, Activities: []*worker.Activities{bind(t, dir)}, Stop: 400 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	p.elsewhere(t, 2)
	run := p.startElsewhere(t)
	<-called
	running.Stop()
	d, err := p.DescribeWorkflowExecution(t.Context(), run.GetID(), "")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.GetPendingActivities()); n != 1 || d.GetPendingActivities()[0].GetLastFailure() == nil {
		t.Errorf("after the stop the server knows of no failure: %v", d.GetPendingActivities())
	}
	release()
	p.serve(t, bind(t, dir), nil)
	if err := run.Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, e := range p.history(t, run) {
		if s := e.GetActivityTaskStartedEventAttributes(); s != nil {
			if s.GetAttempt() != 2 || s.GetLastFailure().GetApplicationFailureInfo().GetType() != "ExecutionError" {
				t.Errorf("attempt %d after %v", s.GetAttempt(), s.GetLastFailure())
			}
		}
	}
}

func TestACancelledWorkflowEndsItsCall(t *testing.T) {
	p := begin(t, nil)
	model, called, _ := held(t)
	p.serve(t, bind(t, patient(t, model.URL)), nil)
	w := sdkworker.New(p.Client, p.queue+"-workflows", sdkworker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = flow.Parameters{TaskQueue: p.queue, StartToClose: 20 * time.Second, MaximumAttempts: 1}.Apply(ctx)
		_, err := flow.Agent[map[string]any](ctx, "count", payload.AgentInput{Message: "?"})
		return err
	}, workflow.RegisterOptions{Name: "cancelled"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	run, err := p.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: p.queue, TaskQueue: p.queue + "-workflows"}, "cancelled")
	if err != nil {
		t.Fatal(err)
	}
	<-called
	if err := p.CancelWorkflow(t.Context(), run.GetID(), ""); err != nil {
		t.Fatal(err)
	}
	if err := run.Get(t.Context(), nil); err == nil {
		t.Fatal("the workflow succeeded")
	}
	events := p.history(t, run)
	if last := events[len(events)-1].GetEventType(); last != enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED {
		t.Errorf("the workflow ended with %s", last)
	}
}

// patient is a configuration whose model may take long.
func patient(t *testing.T, url string) string {
	t.Helper()
	dir := folder(t, url)
	put(t, dir, "agent.yaml", []byte("name: counter\nmodel: {provider: openai, name: m, endpoint: '"+url+"', api_key: sk-test, timeout: 30s}\ninstructions: {inline: Count.}\nresponse_format: gate.json\n"))
	return dir
}
