// Package hardship decides on a request for help with payments.
//
// In goes one financial statement; it is parsed, an agent takes the evidence
// out of it, a decision table decides, and a second agent writes the letter.
// The agents never decide, and the table never reads prose.
package hardship

import (
	"embed"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/decision"
	"github.com/holodeck-run/holodeck/flow"
	"github.com/holodeck-run/holodeck/payload"
)

// Name is the workflow's name.
const Name = "hardship"

// Files are the sample's configuration, agents, gates, table and statements.
//
//go:embed worker.yaml agents gates tables *.pdf *.txt *.md *.go
var Files embed.FS

// table is workflow code: its version is the worker's version.
//
//go:embed tables/hardship.dmn.yaml
var table []byte

// policy is the compiled table; it is immutable.
var policy = decision.MustLoad("hardship.dmn.yaml", table)

// Input is what the workflow takes.
type Input struct {
	Files []payload.FileInput `json:"files"` // exactly one: the statement
}

// Evidence is what the evidence node's gate lets through.
type Evidence struct {
	Customer struct {
		Name    string `json:"name"`
		Account string `json:"account"`
	} `json:"customer"`
	Income struct {
		Net      float64 `json:"net"`
		Expenses float64 `json:"expenses"`
	} `json:"income"`
	Residency struct {
		Status string `json:"status"`
	} `json:"residency"`
}

// Letter is what the letter node's gate lets through.
type Letter struct {
	Letter string `json:"letter"`
	Tone   string `json:"tone"`
}

// Result is what the workflow returns.
type Result struct {
	Affordability string           `json:"affordability"`
	Letter        string           `json:"letter"`
	Tone          string           `json:"tone"`
	Verdict       decision.Verdict `json:"verdict"`
	Evidence      Evidence         `json:"evidence"`
}

// Workflow is the hardship workflow.
func Workflow(ctx workflow.Context, in Input) (Result, error) {
	statement, err := flow.OneFile(in.Files)
	if err != nil {
		return Result{}, err
	}
	ctx = flow.Parameters{StartToClose: 3 * time.Minute, MaximumAttempts: 3, InitialInterval: 2 * time.Second}.Apply(ctx)
	doc, err := flow.Parse(ctx, statement)
	if err != nil {
		return Result{}, err
	}
	evidence, err := flow.Agent[Evidence](ctx, "evidence", payload.AgentInput{Message: doc.MarkdownContent})
	if err != nil {
		return Result{}, err
	}
	verdict, err := flow.Decide(policy, evidence.Result.Output)
	if err != nil {
		return Result{}, err
	}
	letter, err := flow.Agent[Letter](ctx, "letter", payload.AgentInput{
		Message: "Write the letter to the customer.",
		Context: map[string]any{
			"affordability":  verdict.Output("affordability"),
			"reason":         verdict.MatchedRuleAnnotation,
			"policy_version": verdict.TableVersion,
			"evidence":       evidence.Result.Output,
		},
	})
	if err != nil {
		return Result{}, err
	}
	return Result{
		Affordability: verdict.Output("affordability"),
		Letter:        letter.Output.Letter,
		Tone:          letter.Output.Tone,
		Verdict:       verdict,
		Evidence:      evidence.Output,
	}, nil
}
