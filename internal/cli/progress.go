package cli

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
)

// progress tells each step of a workflow on a terminal, until the returned
// function is called.
func (t *tool) progress(ctx context.Context, g *target, run client.WorkflowRun) (stop func()) {
	if !terminal(t.Stderr) {
		return func() {}
	}
	t.note("%s %s on %s", t.styled("1", "Running"), run.GetID(), g.where)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		steps := steps{t: t, activities: map[int64]step{}}
		events := g.client.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), true, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				return
			}
			steps.tell(e)
		}
	}()
	return func() {
		select { // the last events are usually there already
		case <-done:
		case <-time.After(300 * time.Millisecond):
		}
		cancel()
		<-done
	}
}

type step struct {
	name string
	at   time.Time
}

type steps struct {
	t          *tool
	activities map[int64]step // by the id of the scheduling event
}

func (s steps) tell(e *history.HistoryEvent) {
	at := e.GetEventTime().AsTime()
	switch e.GetEventType() {
	case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		s.activities[e.GetEventId()] = step{e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName(), at}
	case enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		s.ended(e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId(), at, "32", "done")
	case enums.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		s.ended(e.GetActivityTaskFailedEventAttributes().GetScheduledEventId(), at, "31", "failed")
	case enums.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		s.ended(e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId(), at, "31", "timed out")
	case enums.EVENT_TYPE_TIMER_STARTED:
		s.t.note("  timer of %s", e.GetTimerStartedEventAttributes().GetStartToFireTimeout().AsDuration())
	case enums.EVENT_TYPE_TIMER_FIRED:
		s.t.note("  timer fired")
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
		s.t.note("  signal %s", e.GetWorkflowExecutionSignaledEventAttributes().GetSignalName())
	}
}

func (s steps) ended(id int64, at time.Time, style, word string) {
	a := s.activities[id]
	s.t.note("  %-18s %s %s", a.name, s.t.styled(style, word), fmt.Sprintf("%.2f s", at.Sub(a.at).Seconds()))
}
