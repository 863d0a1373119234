package worker

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/holodeck-run/holodeck/fault"
)

// failure makes the application failure of an error. It is the only place
// where Temporal failures are made: the type is always the fault's kind, and
// whether it retries always the fault's word. An error that is no fault is
// something of the machine's, which a later attempt may not meet. Only a
// cancellation that somebody asked for passes as it is.
func failure(ctx context.Context, activity string, err error) error {
	canceled := errors.Is(err, context.Canceled)
	if canceled && temporal.IsCanceledError(context.Cause(ctx)) {
		return err
	}
	if canceled && errors.Is(context.Cause(ctx), sdkworker.ErrWorkerShutdown) {
		err = errors.New("the worker stopped before it ended")
	}
	e, ok := fault.As(err)
	if !ok {
		e = &fault.Error{Kind: fault.Execution, Op: "run " + activity, Err: err}
	}
	o := temporal.ApplicationErrorOptions{
		NonRetryable:   !e.Retryable(),
		NextRetryDelay: e.RetryAfter,
	}
	if e.Kind.Benign() {
		o.Category = temporal.ApplicationErrorCategoryBenign
	}
	if e.Details != nil {
		o.Details = []any{e.Details}
	}
	return temporal.NewApplicationErrorWithOptions(e.Message(), string(e.Kind), o)
}
