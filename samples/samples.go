// Package samples lists whole programs that a user can run and copy.
//
// Each sample is a folder: a workflow in Go, and where it calls agents a
// worker.yaml with its agents, gates and tables. They are compiled into the
// binary, so that they run in an empty folder, and use public packages only.
package samples

import (
	"embed"
	"io/fs"
	"slices"

	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/samples/approval"
	"github.com/holodeck-run/holodeck/samples/feedback"
	"github.com/holodeck-run/holodeck/samples/hardship"
)

//go:embed all:python
var python embed.FS

// Sample is one program.
type Sample struct {
	Name     string
	Summary  string // one line
	Usage    string // what to type after "holodeck run"
	Files    fs.FS  // the folder
	Config   string // its worker.yaml inside Files; empty if it serves no node
	Workflow any    // the workflow function; nil if the program brings its own
}

// All returns the samples in the order to try them.
func All() []Sample {
	sources, err := fs.Sub(python, "python")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	return []Sample{
		{hardship.Name, "a statement is parsed, judged by a table and answered by a letter", "hardship --file STATEMENT.pdf", hardship.Files, "worker.yaml", hardship.Workflow},
		{feedback.Name, "a business rule sends a plan back to its agent", "feedback", feedback.Files, "worker.yaml", feedback.Workflow},
		{approval.Name, "a signal is raced against a timer", "approval --id ID", approval.Files, "", approval.Workflow},
		{"python", "a Python workflow calls what holodeck serves", "", sources, "", nil},
	}
}

// Runnable returns the samples whose workflows are compiled in.
func Runnable() []Sample {
	return slices.DeleteFunc(All(), func(s Sample) bool { return s.Workflow == nil })
}

// Register registers the workflows of all samples.
func Register(r sdkworker.Registry) {
	for _, s := range Runnable() {
		r.RegisterWorkflowWithOptions(s.Workflow, workflow.RegisterOptions{Name: s.Name})
	}
}
