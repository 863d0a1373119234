package embedded

import (
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historyspb "go.temporal.io/server/api/history/v1"
	"go.temporal.io/server/common/definition"
	"go.temporal.io/server/service/history/events"
)

func notice(key definition.WorkflowKey, next int64, status enumspb.WorkflowExecutionStatus) *events.Notification {
	execution := &commonpb.WorkflowExecution{WorkflowId: key.WorkflowID, RunId: key.RunID}
	return events.NewNotification(key.NamespaceID, execution, 1, 1, next, 1, 0, status, &historyspb.VersionHistories{}, nil)
}

func TestAReaderThatComesLateStillSeesTheEnd(t *testing.T) {
	t.Parallel()
	n, key := newNotifier(), definition.NewWorkflowKey("ns", "wf", "run")
	id, c, err := n.WatchHistoryEvent(key)
	if err != nil {
		t.Fatal(err)
	}
	for next := range int64(1000) {
		n.NotifyNewHistoryEvent(notice(key, next, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING))
	}
	n.NotifyNewHistoryEvent(notice(key, 1000, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED))
	var last *events.Notification
	for range len(c) {
		last = <-c
	}
	if last == nil || last.WorkflowStatus != enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED || last.NextEventID != 1000 {
		t.Errorf("the last notice was %+v, want the workflow's end", last)
	}
	if err := n.UnwatchHistoryEvent(key, id); err != nil {
		t.Error(err)
	}
	n.NotifyNewHistoryEvent(notice(key, 1001, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED))
	if len(c) != 0 {
		t.Error("a reader that left was told")
	}
}

func TestAReaderHearsOnlyOfItsWorkflow(t *testing.T) {
	t.Parallel()
	n := newNotifier()
	_, c, err := n.WatchHistoryEvent(definition.NewWorkflowKey("ns", "wf", "run"))
	if err != nil {
		t.Fatal(err)
	}
	n.NotifyNewHistoryEvent(notice(definition.NewWorkflowKey("ns", "wf", "another run"), 5, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING))
	if len(c) != 0 {
		t.Error("a reader heard of another run")
	}
}
