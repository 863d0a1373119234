package worker

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/holodeck-run/holodeck/fault"
)

// failure makes the application failure of an error. It is the only place
// where Temporal failures are made: the type is always the fault's kind, and
// whether it retries always the fault's word. An error that is no fault is
// something of the machine's, which a later attempt may not meet.
func failure(activity string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
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
