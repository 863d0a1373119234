// Package feedback lets a business rule send a plan back to its author.
//
// In go a customer's wish and figures; an agent proposes a repayment plan, the
// workflow holds it against a rule that no schema can express, and asks again
// with the rule's finding in the context, a bounded number of times.
package feedback

import (
	"embed"
	"fmt"
	"math"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/flow"
	"github.com/holodeck-run/holodeck/payload"
)

// Name is the workflow's name.
const Name = "feedback"

// Files are the sample's configuration, agent and gate.
//
//go:embed worker.yaml agents gates *.md *.go
var Files embed.FS

// Input is what the workflow takes. Its zero value runs with an example.
type Input struct {
	Wish    string  `json:"wish"`    // what the customer writes
	Arrears float64 `json:"arrears"` // owed, in dollars
	Surplus float64 `json:"surplus"` // left each month, in dollars
}

// Plan is what the plan node's gate lets through.
type Plan struct {
	Instalment float64 `json:"instalment"`
	Months     int     `json:"months"`
}

// Finding is what the rule says of a plan it refuses.
type Finding struct {
	Problem           string  `json:"problem"`
	HighestInstalment float64 `json:"highest_instalment"`
	MonthsAtThat      int     `json:"months_at_that"`
}

// Result is what the workflow returns.
type Result struct {
	Plan     Plan      `json:"plan"`
	Attempts int       `json:"attempts"`
	Findings []Finding `json:"findings"` // one for each plan that was refused
}

// maxAttempts bounds how often the agent is asked.
const maxAttempts = 3

// Workflow is the feedback workflow.
func Workflow(ctx workflow.Context, in Input) (Result, error) {
	if in == (Input{}) {
		in = Input{Wish: "I can pay $500 a month for 6 months.", Arrears: 2400, Surplus: 900}
	}
	ctx = flow.Parameters{StartToClose: time.Minute, MaximumAttempts: 3}.Apply(ctx)
	result := Result{Findings: []Finding{}}
	var outcome any
	for result.Attempts = 1; result.Attempts <= maxAttempts; result.Attempts++ {
		input := payload.AgentInput{Message: in.Wish}
		if outcome != nil {
			input.Context = map[string]any{"business_rules_validation_outcome": outcome}
		}
		plan, err := flow.Agent[Plan](ctx, "plan", input)
		if err != nil {
			return Result{}, err
		}
		finding := check(plan.Output, in)
		if finding == nil {
			result.Plan = plan.Output
			return result, nil
		}
		result.Findings = append(result.Findings, *finding)
		outcome = finding
	}
	return Result{}, flow.Failure(fault.New(fault.Execution, "agree on a plan", "Look at the findings in the history.",
		"%d plans in a row broke the rule", maxAttempts))
}

// check is the rule: no instalment over a third of the surplus, and the
// arrears paid in the time.
func check(p Plan, in Input) *Finding {
	highest := math.Floor(in.Surplus / 3)
	if highest < 1 {
		highest = 1
	}
	f := Finding{HighestInstalment: highest, MonthsAtThat: int(math.Ceil(in.Arrears / highest))}
	switch {
	case p.Instalment > highest:
		f.Problem = fmt.Sprintf("an instalment of %g is over a third of the surplus", p.Instalment)
	case p.Instalment*float64(p.Months) < in.Arrears:
		f.Problem = fmt.Sprintf("%d instalments of %g do not pay the arrears of %g", p.Months, p.Instalment, in.Arrears)
	default:
		return nil
	}
	return &f
}
