package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/holodeck-run/holodeck/fault"
)

// follower tells what happens to a workflow while its result is awaited: each
// step on a terminal; retries, and tasks that fail, always.
type follower struct {
	t          *tool
	g          *target
	run        client.WorkflowRun
	steps      bool // on a terminal
	activities map[int64]step
	told       map[string]bool
	done       chan struct{}
	stop       context.CancelFunc
	hopeless   context.CancelCauseFunc
}

type step struct {
	name string
	at   time.Time
}

// retryLook is how often pending activities are looked at.
const retryLook = 2 * time.Second

// progress follows run until the returned end is called. The returned context
// ends with ctx, or with a fault as its cause when waiting is hopeless.
func (t *tool) progress(ctx context.Context, g *target, run client.WorkflowRun) (waiting context.Context, end func()) {
	f := &follower{
		t: t, g: g, run: run, steps: terminal(t.Stderr), activities: map[int64]step{}, told: map[string]bool{}, done: make(chan struct{}),
	}
	if f.steps {
		t.note("%s %s on %s", t.styled("1", "Running"), run.GetID(), g.where)
	}
	waiting, f.hopeless = context.WithCancelCause(ctx)
	var following context.Context
	following, f.stop = context.WithCancel(ctx)
	go f.follow(following)
	return waiting, f.end
}

func (f *follower) end() {
	if f.steps {
		select { // the last events are usually there already
		case <-f.done:
		case <-time.After(300 * time.Millisecond):
		}
	}
	f.stop()
	<-f.done
}

func (f *follower) follow(ctx context.Context) {
	defer close(f.done)
	events := make(chan *history.HistoryEvent)
	go func() {
		defer close(events)
		h := f.g.client.GetWorkflowHistory(ctx, f.run.GetID(), f.run.GetRunID(), true, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for h.HasNext() {
			e, err := h.Next()
			if err != nil {
				return // the result, or the lack of one, is told elsewhere
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	look := time.NewTicker(retryLook)
	defer look.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			f.tell(e)
		case <-look.C:
			f.tellRetries(ctx)
		}
	}
}

func (f *follower) tell(e *history.HistoryEvent) {
	at := e.GetEventTime().AsTime()
	switch e.GetEventType() {
	case enums.EVENT_TYPE_WORKFLOW_TASK_FAILED:
		f.taskFailed(e.GetWorkflowTaskFailedEventAttributes().GetFailure().GetMessage())
	case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		f.activities[e.GetEventId()] = step{e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName(), at}
	case enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		f.ended(e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId(), at, "32", "done")
	case enums.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		f.ended(e.GetActivityTaskFailedEventAttributes().GetScheduledEventId(), at, "31", "failed")
	case enums.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		f.ended(e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId(), at, "31", "timed out")
	case enums.EVENT_TYPE_TIMER_STARTED:
		f.step("timer of %s", e.GetTimerStartedEventAttributes().GetStartToFireTimeout().AsDuration())
	case enums.EVENT_TYPE_TIMER_FIRED:
		f.step("timer fired")
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
		f.step("signal %s", e.GetWorkflowExecutionSignaledEventAttributes().GetSignalName())
	}
}

func (f *follower) step(format string, args ...any) {
	if f.steps {
		f.t.note("  "+format, args...)
	}
}

func (f *follower) ended(id int64, at time.Time, style, word string) {
	a := f.activities[id]
	f.step("%-18s %s %s", a.name, f.t.styled(style, word), fmt.Sprintf("%.2f s", at.Sub(a.at).Seconds()))
}

// unknownType is how the SDKs' workers begin to say that they have no such
// workflow. The server would ask them again for ever.
const unknownType = "unable to find workflow type"

func (f *follower) taskFailed(message string) {
	if strings.Contains(message, unknownType) {
		f.hopeless(fault.New(fault.Config, "run "+f.run.GetID(), "Correct the name, or name the queue of the worker that has it with --task-queue.",
			"the worker on task queue %s has no such workflow: %s", f.g.queue, message))
		return
	}
	f.once("the workflow's code failed and is tried again: " + message)
}

// tellRetries says why activities are tried again, and which ones nobody
// serves.
func (f *follower) tellRetries(ctx context.Context) {
	d, err := f.g.client.DescribeWorkflowExecution(ctx, f.run.GetID(), f.run.GetRunID())
	if err != nil {
		return // the next look may see more
	}
	for _, a := range d.GetPendingActivities() {
		name := a.GetActivityType().GetName()
		last := a.GetLastFailure()
		switch {
		case last != nil:
			kind := last.GetApplicationFailureInfo().GetType()
			f.once(fmt.Sprintf("%s: attempt %d failed: %s", name, a.GetAttempt()-1, strings.TrimPrefix(kind+": "+last.GetMessage(), ": ")))
		case a.GetState() == enums.PENDING_ACTIVITY_STATE_SCHEDULED && time.Since(a.GetScheduledTime().AsTime()) > 2*retryLook:
			f.once(fmt.Sprintf("%s: waits for a worker that serves it", name))
		}
	}
}

func (f *follower) once(text string) {
	if !f.told[text] {
		f.told[text] = true
		f.t.note("  %s", sentence(text))
	}
}

// given returns the fault that ended waiting, nil if something else did.
func given(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return nil
	}
	return cause
}
