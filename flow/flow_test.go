package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/decision"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/flow"
	"github.com/holodeck-run/holodeck/payload"
)

type answer struct {
	ID int64 `json:"id"`
}

// run runs a workflow with an activity "node" that returns output.
func run(t *testing.T, wf any, output string) (*testsuite.TestWorkflowEnvironment, *int) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	calls := 0
	env.RegisterActivityWithOptions(func(_ context.Context, _ payload.AgentInput) (payload.AgentResult, error) {
		calls++
		return payload.AgentResult{Output: json.RawMessage(output), NumTurns: 1, AgentID: "node"}, nil
	}, activity.RegisterOptions{Name: "node"})
	env.ExecuteWorkflow(wf)
	return env, &calls
}

func ask(message string) func(workflow.Context) (answer, error) {
	return func(ctx workflow.Context) (answer, error) {
		a, err := flow.Agent[answer](flow.Parameters{StartToClose: time.Minute}.Apply(ctx), "node", payload.AgentInput{Message: message})
		return a.Output, err
	}
}

func TestAnAnswerIsTheCallersType(t *testing.T) {
	env, _ := run(t, ask("?"), `{"id":9007199254740993}`)
	var got answer
	if err := env.GetWorkflowResult(&got); err != nil || got.ID != 9007199254740993 {
		t.Errorf("answer = %+v (%v), want every digit", got, err)
	}
}

func TestAnOversizedInputFailsAndIsNotScheduled(t *testing.T) {
	env, calls := run(t, ask(strings.Repeat("x", flow.MaxInput)), `{}`)
	if err := env.GetWorkflowError(); !flow.IsFault(err, fault.PayloadsTooLarge) || *calls != 0 {
		t.Errorf("error = %v after %d calls, want PayloadsTooLarge and none", err, *calls)
	}
}

func TestAnAnswerOfAnotherShapeIsAFault(t *testing.T) {
	env, _ := run(t, ask("?"), `{"id":"x"}`)
	if err := env.GetWorkflowError(); !flow.IsFault(err, fault.PayloadValidation) {
		t.Errorf("error = %v, want PayloadValidationError", err)
	}
}

func TestATablesFaultIsTheWorkflowsAndFinal(t *testing.T) {
	table := decision.MustLoad("t", []byte("id: t\nversion: v\nhit_policy: UNIQUE\ninputs: [{name: n, expression: n, type: number}]\noutputs: [{name: o, type: string}]\nrules: [{when: {n: '> 0'}, then: {o: yes}}]\n"))
	env, _ := run(t, func(workflow.Context) (string, error) {
		v, err := flow.Decide(table, map[string]int{"n": -1})
		return v.Output("o"), err
	}, `{}`)
	a, ok := errors.AsType[*temporal.ApplicationError](env.GetWorkflowError())
	if !ok || a.Type() != "DecisionTableError" || !a.NonRetryable() {
		t.Errorf("error = %v, want a final DecisionTableError", env.GetWorkflowError())
	}
}

func TestParametersBecomeOptions(t *testing.T) {
	var got workflow.ActivityOptions
	run(t, func(ctx workflow.Context) error {
		got = workflow.GetActivityOptions(flow.Parameters{StartToClose: time.Minute, MaximumAttempts: 3, TaskQueue: "q"}.Apply(ctx))
		return nil
	}, `{}`)
	if got.StartToCloseTimeout != time.Minute || got.HeartbeatTimeout != 0 || got.TaskQueue != "q" || got.RetryPolicy.MaximumAttempts != 3 || got.RetryPolicy.BackoffCoefficient != 2 {
		t.Errorf("options = %+v, retry %+v", got, got.RetryPolicy)
	}
	env, _ := run(t, func(ctx workflow.Context) error {
		flow.Parameters{}.Apply(ctx)
		return nil
	}, `{}`)
	if err := env.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "StartToClose or ScheduleToClose") {
		t.Errorf("parameters without a closing time-out = %v", err)
	}
}

func TestOneFile(t *testing.T) {
	if _, err := flow.OneFile(nil); !flow.IsFault(err, fault.Config) {
		t.Errorf("no file = %v, want ConfigError", err)
	}
	if f, err := flow.OneFile([]payload.FileInput{{Path: "a"}}); err != nil || f.Path != "a" {
		t.Errorf("one file = %+v (%v)", f, err)
	}
}
