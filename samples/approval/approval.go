// Package approval waits for a person, but not for ever.
//
// In goes what is to be approved; a signal is raced against a timer, and the
// result says who decided, or that nobody did in time. No agent is involved:
// human approval is signals, wait conditions and timers.
package approval

import (
	"embed"
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/flow"
)

// Name is the workflow's name; Signal the name of the signal that decides.
const (
	Name   = "approval"
	Signal = "decide"
)

// Files are the sample's sources.
//
//go:embed *.md *.go
var Files embed.FS

// Input is what the workflow takes. Its zero value runs with an example.
type Input struct {
	Subject string `json:"subject"` // what is to be approved
	SLA     string `json:"sla"`     // how long to wait, such as 30s or 24h; default 10m
}

// Decision is what the signal carries.
type Decision struct {
	Approved bool   `json:"approved"`
	By       string `json:"by"`
	Note     string `json:"note"`
}

// Result is what the workflow returns.
type Result struct {
	Subject string `json:"subject"`
	Outcome string `json:"outcome"` // approved, declined or escalated
	By      string `json:"by"`
	Note    string `json:"note"`
}

// Workflow is the approval workflow.
func Workflow(ctx workflow.Context, in Input) (Result, error) {
	if in.Subject == "" {
		in.Subject = "A payment break of three months"
	}
	if in.SLA == "" {
		in.SLA = "10m"
	}
	sla, err := time.ParseDuration(in.SLA)
	if err != nil || sla <= 0 {
		return Result{}, flow.Failure(fault.New(fault.Config, "read input", "Write a duration such as 30s or 24h.", "sla is %q", in.SLA))
	}
	status := "waiting for the signal " + Signal
	if err := workflow.SetQueryHandler(ctx, "status", func() (string, error) { return status, nil }); err != nil {
		return Result{}, fmt.Errorf("answer queries: %w", err)
	}
	timer, stopTimer := workflow.WithCancel(ctx)
	defer stopTimer()
	result := Result{Subject: in.Subject, Outcome: "escalated"}
	selector := workflow.NewSelector(ctx)
	selector.AddReceive(workflow.GetSignalChannel(ctx, Signal), func(c workflow.ReceiveChannel, _ bool) {
		var d Decision
		c.Receive(ctx, &d)
		result.Outcome, result.By, result.Note = "declined", d.By, d.Note
		if d.Approved {
			result.Outcome = "approved"
		}
	})
	selector.AddFuture(workflow.NewTimer(timer, sla), func(workflow.Future) {})
	selector.Select(ctx)
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	status = result.Outcome
	return result, nil
}
