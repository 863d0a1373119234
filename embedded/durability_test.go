package embedded_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holodeck-run/holodeck/embedded"
	"github.com/holodeck-run/holodeck/fault"
)

func TestWorkflowsSurviveAKillAndARestart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.db")
	address, cmd, _ := child(t, file)

	t.Run("another process is refused with the holder's id", func(t *testing.T) {
		_, err := embedded.Start(t.Context(), embedded.Options{DBFile: file})
		if f, ok := fault.As(err); !ok || !strings.Contains(f.Message(), "process "+strconv.Itoa(cmd.Process.Pid)) {
			t.Errorf("%v", err)
		}
	})

	c := dial(t, address, "default")
	stuck := &activities{entered: make(chan string, 10)}
	halt := work(t, c, stuck)
	begin := func(id string, wf any, args ...any) {
		t.Helper()
		o := client.StartWorkflowOptions{ID: id, TaskQueue: queue, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}}
		if _, err := c.ExecuteWorkflow(t.Context(), o, wf, args...); err != nil {
			t.Fatal(err)
		}
	}
	begin("waiting", Letter)
	begin("working", Greeting, "Ada")
	if got := <-stuck.entered; got != "Ada" {
		t.Fatalf("the activity was for %q", got)
	}
	begin("fresh", Letter) // its first task is on the way
	kill(t, cmd)
	halt()
	c.Close()

	address, cmd, in := child(t, file)
	c = dial(t, address, "default")
	for _, id := range []string{"waiting", "fresh"} {
		if err := c.SignalWorkflow(t.Context(), id, "", "name", id); err != nil {
			t.Fatalf("signal %s: %v", id, err)
		}
	}
	kill(t, cmd) // what was acknowledged is kept
	c.Close()
	if err := in.Close(); err != nil {
		t.Log(err)
	}

	address, cmd, in = child(t, file)
	c = dial(t, address, "default")
	halt = work(t, c, &activities{})
	for id, want := range map[string]string{"waiting": "hello waiting", "working": "hello Ada", "fresh": "hello fresh"} {
		result(t, c.GetWorkflow(t.Context(), id, ""), want)
	}
	halt()
	c.Close()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the graceful stop: %v", err)
	}

	s := start(t, embedded.Options{DBFile: file})
	result(t, dial(t, s.Address(), "default").GetWorkflow(t.Context(), "working", ""), "hello Ada")
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}
