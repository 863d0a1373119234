package e2e_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holodeck-run/holodeck/samples"
	"github.com/holodeck-run/holodeck/samples/approval"
)

// soon asks again until the answer is there: lists and schedules are written
// a moment after what they tell.
func soon(t *testing.T, what string, ask func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		ok, err := ask(ctx)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if ok {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("%s: not in time", what)
		}
	}
}

// TestWhatAnyTemporalClientAsks does with the local stack what the official
// command does: list, count, cancel, terminate, reset, batch, schedule.
func TestWhatAnyTemporalClientAsks(t *testing.T) {
	p := begin(t, nil)
	model := speak(t, completes(`{"id":1}`))
	p.queue += "-" + rand.Text() // ids of batches are never used again
	p.serve(t, bind(t, folder(t, model.URL)), samples.Register)
	runs := make([]client.WorkflowRun, 5)
	for i := range runs {
		var err error
		runs[i], err = p.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: fmt.Sprintf("%s-%d", p.queue, i), TaskQueue: p.queue}, approval.Name, approval.Input{SLA: "1h"})
		if err != nil {
			t.Fatal(err)
		}
	}
	running := fmt.Sprintf("WorkflowId STARTS_WITH '%s' AND ExecutionStatus = 'Running'", p.queue)
	left := func(want int64) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			n, err := p.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: running})
			return err == nil && n.GetCount() == want, err
		}
	}
	soon(t, "count", left(5))
	list, err := p.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: running, PageSize: 2})
	if err != nil || len(list.GetExecutions()) != 2 || len(list.GetNextPageToken()) == 0 {
		t.Errorf("list = %d of 5 (%v), want a page of 2", len(list.GetExecutions()), err)
	}

	if err := errors.Join(p.CancelWorkflow(t.Context(), runs[0].GetID(), ""), p.TerminateWorkflow(t.Context(), runs[1].GetID(), "", "enough")); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*temporal.CanceledError](runs[0].Get(t.Context(), nil)); !ok {
		t.Error("a cancelled workflow is not told as such")
	}
	if _, ok := errors.AsType[*temporal.TerminatedError](runs[1].Get(t.Context(), nil)); !ok {
		t.Error("a terminated workflow is not told as such")
	}

	if err := p.SignalWorkflow(t.Context(), runs[2].GetID(), "", approval.Signal, approval.Decision{Approved: true}); err != nil {
		t.Fatal(err)
	}
	if err := runs[2].Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	again, err := p.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: runs[2].GetID()},
		Reason: "again", RequestId: p.queue, WorkflowTaskFinishEventId: 4,
	})
	if err != nil || again.GetRunId() == runs[2].GetRunID() {
		t.Errorf("reset = %v (%v), want a new run", again, err)
	}

	if _, err := p.WorkflowService().StartBatchOperation(t.Context(), &workflowservice.StartBatchOperationRequest{
		Namespace: "default", VisibilityQuery: running, JobId: p.queue, Reason: "enough",
		Operation: &workflowservice.StartBatchOperationRequest_TerminationOperation{},
	}); err != nil {
		t.Fatal(err)
	}
	soon(t, "batch", left(0))
}

func TestASchedule(t *testing.T) {
	p := begin(t, nil)
	model := speak(t, completes(`{"id":1}`))
	p.queue += "-" + rand.Text()
	p.serve(t, bind(t, folder(t, model.URL)), samples.Register)
	s, err := p.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
		ID: p.queue, Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Hour}}},
		Action: &client.ScheduleWorkflowAction{ID: p.queue, Workflow: approval.Name, Args: []any{approval.Input{SLA: "1h"}}, TaskQueue: p.queue},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Trigger(t.Context(), client.ScheduleTriggerOptions{}); err != nil {
		t.Fatal(err)
	}
	soon(t, "the schedule's workflow", func(ctx context.Context) (bool, error) {
		d, err := s.Describe(ctx)
		return err == nil && len(d.Info.RecentActions) == 1, err
	})
	if err := s.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
}
