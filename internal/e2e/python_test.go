package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/holodeck-run/holodeck/samples"
)

// python returns an interpreter that has Temporal's SDK: HOLODECK_PYTHON, or
// the first of the usual names that has it.
func python(t *testing.T) string {
	t.Helper()
	candidates := []string{"python3", "python"}
	if own := os.Getenv("HOLODECK_PYTHON"); own != "" {
		candidates = []string{own}
	}
	for _, name := range candidates {
		if exec.Command(name, "-c", "import temporalio").Run() == nil {
			return name
		}
	}
	t.Skip("no python3 with temporalio; set HOLODECK_PYTHON to one")
	return ""
}

// program runs a Python program against the test's queue.
func (p place) program(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python(t), args...)
	cmd.Env = append(os.Environ(), "TEMPORAL_ADDRESS="+address, "HOLODECK_TASK_QUEUE="+p.queue, "PYTHONDONTWRITEBYTECODE=1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func TestThePythonSampleIsAClient(t *testing.T) {
	p := begin(t, nil)
	dir := pythonSample(t)
	p.serve(t, bind(t, dir), nil)
	out, errs, err := p.program(t, filepath.Join(dir, "statement.py"), filepath.Join(dir, "statement.txt"))
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	var got struct {
		Name    string
		Surplus float64
		Read    string
		Tokens  int
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Name == "" || got.Surplus == 0 || got.Read != "statement.txt" {
		t.Errorf("it printed %s", out)
	}
	_, errs, err = p.program(t, filepath.Join(dir, "statement.py"), filepath.Join(dir, "none.txt"))
	if err == nil || !strings.HasPrefix(errs, "FileNotFoundError: ") {
		t.Errorf("over a missing file it says %q (%v)", errs, err)
	}
}

// pythonSample copies the sample out of the binary.
func pythonSample(t *testing.T) string {
	t.Helper()
	for _, s := range samples.All() {
		if s.Name == "python" {
			dir := t.TempDir()
			if err := os.CopyFS(dir, s.Files); err != nil {
				t.Fatal(err)
			}
			return dir
		}
	}
	t.Fatal("there is no python sample")
	return ""
}

const wrongCall = `
import asyncio, os, sys, uuid
from datetime import timedelta
from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError
from temporalio.worker import Worker, UnsandboxedWorkflowRunner

@workflow.defn(name="wrong")
class Wrong:
    @workflow.run
    async def run(self, queue: str) -> None:
        await workflow.execute_activity("count", {"message": "?", "mesage": "?"}, task_queue=queue,
            start_to_close_timeout=timedelta(minutes=1))

async def main():
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])
    queue = os.environ["HOLODECK_TASK_QUEUE"]
    async with Worker(client, task_queue=queue + "-python", workflows=[Wrong], workflow_runner=UnsandboxedWorkflowRunner()):
        try:
            await client.execute_workflow("wrong", queue, id=queue, task_queue=queue + "-python")
        except WorkflowFailureError as failure:
            cause = failure.cause.cause
            print(cause.type, cause.non_retryable, cause.details[0]["faults"])

asyncio.run(main())
sys.stdout.flush()
os._exit(0)  # as in the sample
`

func TestAWrongKeyFromPythonFailsAtOnce(t *testing.T) {
	p := begin(t, nil)
	model := speak(t, completes(`{"id":1}`))
	dir := folder(t, model.URL)
	put(t, dir, "wrong.py", []byte(wrongCall))
	p.serve(t, bind(t, dir), nil)
	out, errs, err := p.program(t, filepath.Join(dir, "wrong.py"))
	if err != nil || out != "PayloadValidationError True ['mesage is not a field. Did you mean message?']\n" {
		t.Fatalf("it printed %q (%v)\n%s", out, err, errs)
	}
	var run client.WorkflowRun = p.GetWorkflow(t.Context(), p.queue, "")
	if end := only(t, p.history(t, run)); end.attempt != 1 || model.calls.Load() != 0 {
		t.Errorf("it took %d attempts and %d calls", end.attempt, model.calls.Load())
	}
}
