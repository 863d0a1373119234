package e2e_test

import (
	"os"
	"path/filepath"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/holodeck-run/holodeck/payload"
	"github.com/holodeck-run/holodeck/samples"
	"github.com/holodeck-run/holodeck/samples/hardship"
	"github.com/holodeck-run/holodeck/worker"
)

// recorded is a history of the hardship workflow as some earlier version ran
// it. Rewrite it with -update only together with a new version of the table or
// a patch in the workflow: open runs replay on the code they find.
const recorded = "../../samples/hardship/testdata/history.json"

func replay(t *testing.T, h *historypb.History) error {
	t.Helper()
	r, err := sdkworker.NewWorkflowReplayerWithOptions(sdkworker.WorkflowReplayerOptions{DataConverter: worker.DataConverter()})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples.Runnable() {
		r.RegisterWorkflowWithOptions(s.Workflow, workflow.RegisterOptions{Name: s.Name})
	}
	return r.ReplayWorkflowHistory(quiet{}, h)
}

func TestARunReplaysOnTheCodeThatMadeIt(t *testing.T) {
	p := begin(t, nil)
	const name = "statement-marginal.pdf"
	dir := t.TempDir()
	put(t, dir, name, statement(t, name))
	p.serve(t, sample(t, hardship.Files, worker.Options{Roots: []string{dir}}), samples.Register)
	run, _, err := p.hardship(t, payload.FileInput{Path: name})
	if err != nil {
		t.Fatal(err)
	}
	h := &historypb.History{Events: p.history(t, run)}
	if err := replay(t, h); err != nil {
		t.Error(err)
	}
	if *update {
		plain(h)
		data, err := protojson.MarshalOptions{Indent: " "}.Marshal(h)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(recorded), 0o755)
		}
		if err == nil {
			err = os.WriteFile(recorded, append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// plain takes out of a history what belongs to the machine that made it.
func plain(h *historypb.History) {
	const identity = "worker"
	for _, e := range h.GetEvents() {
		switch {
		case e.GetWorkflowExecutionStartedEventAttributes() != nil:
			e.GetWorkflowExecutionStartedEventAttributes().Identity = identity
		case e.GetWorkflowTaskStartedEventAttributes() != nil:
			e.GetWorkflowTaskStartedEventAttributes().Identity = identity
		case e.GetWorkflowTaskCompletedEventAttributes() != nil:
			e.GetWorkflowTaskCompletedEventAttributes().Identity = identity
		case e.GetActivityTaskStartedEventAttributes() != nil:
			e.GetActivityTaskStartedEventAttributes().Identity = identity
		case e.GetActivityTaskCompletedEventAttributes() != nil:
			e.GetActivityTaskCompletedEventAttributes().Identity = identity
		}
	}
}

func TestTheRecordedRunReplaysOnTodaysCode(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	var h historypb.History
	if err := protojson.Unmarshal(data, &h); err != nil {
		t.Fatal(err)
	}
	if err := replay(t, &h); err != nil {
		t.Errorf("%s no longer replays: %v", recorded, err)
	}
}

func TestAReplayNoticesOtherCode(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	var h historypb.History
	if err := protojson.Unmarshal(data, &h); err != nil {
		t.Fatal(err)
	}
	for _, e := range h.GetEvents() {
		if s := e.GetActivityTaskScheduledEventAttributes(); s.GetActivityType().GetName() == "letter" {
			s.ActivityType.Name = "other"
		}
	}
	if err := replay(t, &h); err == nil {
		t.Error("a history of other code replays")
	}
}
