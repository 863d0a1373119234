package embedded

import (
	"context"
	"testing"

	"go.temporal.io/server/common/persistence"
)

// leaving is a store whose caller goes away while it writes.
type leaving struct {
	persistence.ExecutionStore
	leave func()
}

func (l leaving) UpdateWorkflowExecution(ctx context.Context, _ *persistence.InternalUpdateWorkflowExecutionRequest) error {
	l.leave()
	return ctx.Err()
}

type leavingStores struct {
	persistence.DataStoreFactory
	executions leaving
}

func (l leavingStores) NewExecutionStore() (persistence.ExecutionStore, error) {
	return l.executions, nil
}

func TestAWriteIsNotCutShortByACallerWhoLeaves(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := uncut(leavingStores{executions: leaving{leave: cancel}}).NewExecutionStore()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateWorkflowExecution(ctx, nil); err != nil {
		t.Errorf("a write whose caller left ended with %v, want its own outcome", err)
	}
	if err := s.UpdateWorkflowExecution(ctx, nil); err == nil {
		t.Error("a write for a caller who had left before was begun")
	}
}
