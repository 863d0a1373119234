// Package flow is what workflow code imports to use holodeck.
//
// It holds typed calls of the activities that a holodeck worker serves, the
// parameters of those calls, and the decision of a table as a workflow wants
// it. In go a workflow context and values; out come values or the activity's
// failure. Everything here is deterministic.
//
// The package is light on purpose: it pulls in no reader, no provider and no
// server. It runs no activity itself.
package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/decision"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/payload"
)

// MaxInput is how large an activity's input may be: the server's default
// payload limit, less room for a codec. An oversized input does not fail the
// workflow, it wedges its task; so it is refused before it is scheduled.
const MaxInput = 2<<20 - 4<<10

// Parameters are the options of an activity call. StartToClose or
// ScheduleToClose is required. There is no heartbeat time-out: an agent call
// that is given up too early is paid for twice.
type Parameters struct {
	TaskQueue       string // where the activities are served; empty: the workflow's own
	StartToClose    time.Duration
	ScheduleToClose time.Duration
	ScheduleToStart time.Duration

	InitialInterval        time.Duration
	BackoffCoefficient     float64
	MaximumInterval        time.Duration
	MaximumAttempts        int32 // 0: no bound
	NonRetryableErrorTypes []string
}

// Apply returns a context whose activities use p. It panics if neither
// closing time-out is set, which is a mistake of the program.
func (p Parameters) Apply(ctx workflow.Context) workflow.Context {
	if p.StartToClose == 0 && p.ScheduleToClose == 0 {
		panic("flow: Parameters need StartToClose or ScheduleToClose")
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              p.TaskQueue,
		StartToCloseTimeout:    p.StartToClose,
		ScheduleToCloseTimeout: p.ScheduleToClose,
		ScheduleToStartTimeout: p.ScheduleToStart,
		RetryPolicy:            p.retry(),
	})
}

func (p Parameters) retry() *temporal.RetryPolicy {
	r := temporal.RetryPolicy{
		InitialInterval:        p.InitialInterval,
		BackoffCoefficient:     p.BackoffCoefficient,
		MaximumInterval:        p.MaximumInterval,
		MaximumAttempts:        p.MaximumAttempts,
		NonRetryableErrorTypes: p.NonRetryableErrorTypes,
	}
	if r.InitialInterval == 0 && r.BackoffCoefficient == 0 && r.MaximumInterval == 0 && r.MaximumAttempts == 0 && r.NonRetryableErrorTypes == nil {
		return nil
	}
	if r.BackoffCoefficient == 0 {
		r.BackoffCoefficient = 2
	}
	if r.InitialInterval == 0 {
		r.InitialInterval = time.Second
	}
	return &r
}

// Parse calls parse_document. The context carries the activity options.
func Parse(ctx workflow.Context, ref payload.FileInput) (payload.Document, error) {
	var doc payload.Document
	err := workflow.ExecuteActivity(ctx, payload.ParseDocument, ref).Get(ctx, &doc)
	return doc, err
}

// Answer is an agent's gated output as the caller's type, and what it cost.
type Answer[T any] struct {
	Output T
	Result payload.AgentResult
}

// Agent calls the agent activity of a node and decodes its output into a T.
// An input over [MaxInput] fails with PayloadsTooLarge and is not scheduled.
func Agent[T any](ctx workflow.Context, node string, in payload.AgentInput) (Answer[T], error) {
	var a Answer[T]
	if err := fits(node, in); err != nil {
		return a, err
	}
	if err := workflow.ExecuteActivity(ctx, node, in).Get(ctx, &a.Result); err != nil {
		return a, err
	}
	if err := json.Unmarshal(a.Result.Output, &a.Output); err != nil {
		return a, Failure(fault.New(fault.PayloadValidation, "decode output of "+node, "Generate the type from the node's gate.", "%w", err))
	}
	return a, nil
}

func fits(node string, in payload.AgentInput) error {
	data, err := payload.Marshal(in)
	if err != nil {
		return Failure(fault.New(fault.PayloadValidation, "encode input of "+node, "Give values that marshal to JSON.", "%w", err))
	}
	if len(data) <= MaxInput {
		return nil
	}
	e := fault.New(fault.PayloadsTooLarge, "call "+node, "Send less: parse with pages, sheet or range, or summarise first.",
		"the input has %d bytes, over the limit of %d", len(data), MaxInput)
	e.Details = map[string]any{"size": len(data), "limit": MaxInput, "fix": []string{"pages", "sheet", "range"}}
	return Failure(e)
}

// Decide evaluates a table in workflow code. A table is workflow code: change
// it under versioning, and bump its version.
func Decide(t *decision.Table, facts any) (decision.Verdict, error) {
	v, err := t.Evaluate(facts)
	return v, Failure(err)
}

// Failure turns a fault into the application failure of its kind, so that the
// workflow fails by that name; nil and other errors pass. A workflow's own
// faults are never retryable: the same code would meet them again.
func Failure(err error) error {
	e, ok := fault.As(err)
	if !ok {
		return err
	}
	var details []any
	if e.Details != nil {
		details = []any{e.Details}
	}
	return temporal.NewNonRetryableApplicationError(e.Message(), string(e.Kind), nil, details...)
}

// IsFault says whether an activity or workflow failed with a fault of kind k.
func IsFault(err error, k fault.Kind) bool {
	e, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && e.Type() == string(k)
}

// OneFile returns the single file of a workflow that takes exactly one.
func OneFile(files []payload.FileInput) (payload.FileInput, error) {
	if len(files) == 1 {
		return files[0], nil
	}
	return payload.FileInput{}, Failure(fault.New(fault.Config, "read input", "Give one file, with --file PATH or as {\"files\": [{\"path\": …}]}.",
		"%s", fmt.Sprintf("this workflow takes one file, and there are %d", len(files))))
}
