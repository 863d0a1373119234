package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/embedded"
)

// childFile makes the test binary host a server on that file, print its
// address and serve until it is killed or its input ends.
const childFile = "HOLODECK_TEST_DB"

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		if err := host(file); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func host(file string) error {
	s, err := embedded.Start(context.Background(), embedded.Options{DBFile: file})
	if err != nil {
		return err
	}
	fmt.Println("ready", s.Address())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return s.Stop(context.Background())
}

// child starts a process that hosts a server on file.
func child(t *testing.T, file string) (address string, cmd *exec.Cmd, in io.Closer) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childFile+"="+file)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "ready ") {
		t.Fatalf("the child said %q: %v", line, err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "ready ")), cmd, stdin
}

// recorder keeps the lines a server logs.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, string(p))
	return len(p), nil
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "")
}

func (r *recorder) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// start starts a server that ends with the test.
func start(t *testing.T, o embedded.Options) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *embedded.Server) {
	t.Helper()
	if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func dial(t *testing.T, address, namespace string) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: address, Namespace: namespace, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func quiet() sdklog.Logger { return sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)) }

const queue = "q"

// work runs a worker for the test's workflows and returns what stops it.
func work(t *testing.T, c client.Client, a *activities) (stop func()) {
	t.Helper()
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflow(Greeting)
	w.RegisterWorkflow(Letter)
	w.RegisterActivity(a)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(w.Stop)
	t.Cleanup(stop)
	return stop
}

// activities of the test's workflows; entered gets one value for each call.
type activities struct{ entered chan string }

// Greeting is one activity.
func Greeting(ctx workflow.Context, name string) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 3 * time.Second})
	var a *activities
	var out string
	err := workflow.ExecuteActivity(ctx, a.Greet, name).Get(ctx, &out)
	return out, err
}

// Letter waits for the signal "name", then greets.
func Letter(ctx workflow.Context) (string, error) {
	var name string
	workflow.GetSignalChannel(ctx, "name").Receive(ctx, &name)
	return Greeting(ctx, name)
}

func greet(t *testing.T, c client.Client) {
	t.Helper()
	r, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: queue}, Greeting, "you")
	if err != nil {
		t.Fatal(err)
	}
	result(t, r, "hello you")
}

func result(t *testing.T, r client.WorkflowRun, want string) {
	t.Helper()
	var got string
	if err := r.Get(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("the workflow answered %q, want %q", got, want)
	}
}

// Greet greets. With entered it reports the call and then hangs like an
// activity whose process dies.
func (a *activities) Greet(ctx context.Context, name string) (string, error) {
	if a.entered != nil {
		a.entered <- name
		<-ctx.Done()
		return "", ctx.Err()
	}
	return "hello " + name, nil
}
