package embedded

import (
	"context"

	"go.temporal.io/server/common/persistence"
)

// uncut gives the history service stores whose writes are not cut short when
// their caller goes away. SQLite writes in less than a millisecond, while a
// write that was cut is one of unknown outcome to the server: it then stops
// the shard, and so every workflow, until it has read its state anew.
func uncut(f persistence.DataStoreFactory) persistence.DataStoreFactory { return uncutStores{f} }

type uncutStores struct{ persistence.DataStoreFactory }

// NewExecutionStore returns the store of workflow executions.
func (f uncutStores) NewExecutionStore() (persistence.ExecutionStore, error) {
	s, err := f.DataStoreFactory.NewExecutionStore()
	if err != nil {
		return nil, err
	}
	return executions{s}, nil
}

// NewShardStore returns the store of the shard's own state.
func (f uncutStores) NewShardStore() (persistence.ShardStore, error) {
	s, err := f.DataStoreFactory.NewShardStore()
	if err != nil {
		return nil, err
	}
	return shards{s}, nil
}

// executions are the writes after whose failure the server asks whether they
// may have happened.
type executions struct{ persistence.ExecutionStore }

// whole returns a context that ends for nobody, unless ctx has ended already.
func whole(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

func (e executions) CreateWorkflowExecution(ctx context.Context, r *persistence.InternalCreateWorkflowExecutionRequest) (*persistence.InternalCreateWorkflowExecutionResponse, error) {
	return e.ExecutionStore.CreateWorkflowExecution(whole(ctx), r)
}

func (e executions) UpdateWorkflowExecution(ctx context.Context, r *persistence.InternalUpdateWorkflowExecutionRequest) error {
	return e.ExecutionStore.UpdateWorkflowExecution(whole(ctx), r)
}

func (e executions) ConflictResolveWorkflowExecution(ctx context.Context, r *persistence.InternalConflictResolveWorkflowExecutionRequest) error {
	return e.ExecutionStore.ConflictResolveWorkflowExecution(whole(ctx), r)
}

func (e executions) SetWorkflowExecution(ctx context.Context, r *persistence.InternalSetWorkflowExecutionRequest) error {
	return e.ExecutionStore.SetWorkflowExecution(whole(ctx), r)
}

func (e executions) AddHistoryTasks(ctx context.Context, r *persistence.InternalAddHistoryTasksRequest) error {
	return e.ExecutionStore.AddHistoryTasks(whole(ctx), r)
}

func (e executions) AppendHistoryNodes(ctx context.Context, r *persistence.InternalAppendHistoryNodesRequest) error {
	return e.ExecutionStore.AppendHistoryNodes(whole(ctx), r)
}

type shards struct{ persistence.ShardStore }

func (s shards) UpdateShard(ctx context.Context, r *persistence.InternalUpdateShardRequest) error {
	return s.ShardStore.UpdateShard(whole(ctx), r)
}
