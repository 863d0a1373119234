package cli_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a stack")
	}
}

// stopLimit is what a user is promised for Ctrl-C.
const stopLimit = 3 * time.Second

func TestWorkSurvivesStopsAndCrashes(t *testing.T) {
	slow(t)
	dir := t.TempDir()
	first, s := dev(t, dir)
	if resp, err := http.Get(s.UI + "/healthz"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the UI at %s does not answer: %v", s.UI, err)
	}
	// The stack of this folder is found without being named.
	waiting := start(t, dir, "run", "approval", "--id", "a1")
	stopped := untilRunning(t, dir, "a1")
	if !stopped {
		t.Fatal("the workflow a1 is not running")
	}
	if code, took := first.stop(syscall.SIGINT); code != 0 || took > stopLimit {
		t.Errorf("Ctrl-C ends with %d after %s, want 0 within %s", code, took, stopLimit)
	}
	_ = waiting.cmd.Process.Kill()
	<-waiting.done

	second, _ := dev(t, dir)
	_ = second.cmd.Process.Kill() // kill -9
	<-second.done

	third, _ := dev(t, dir)
	if _, stderr, code := output(t, dir, "signal", "a1", "decide", "--input", `{"approved": true, "by": "Ada"}`); code != 0 {
		t.Errorf("signal after a restart and a crash: %s", stderr)
	}
	if _, stderr, code := output(t, dir, "signal", "nobody", "decide"); code != 1 || !strings.Contains(stderr, "no workflow with that id is running") {
		t.Errorf("signal to nobody = %d %s", code, stderr)
	}
	if _, stderr, code := output(t, dir, "dev"); code != 1 || !strings.Contains(stderr, "another server uses the file") {
		t.Errorf("a second dev on the same file = %d %s", code, stderr)
	}
	if code, _ := third.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("SIGTERM ends with %d, want 0", code)
	}
	if log, err := os.ReadFile(filepath.Join(dir, ".holodeck", "server.log")); err != nil || len(log) > 0 {
		t.Errorf("a healthy run logs %s (%v), want nothing", log, err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".holodeck", "dev.json")); err == nil {
		t.Error("dev.json is left behind")
	}
}

// untilRunning waits until a workflow can be signalled; it ignores the signal.
func untilRunning(t *testing.T, dir, id string, flags ...string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if _, _, code := output(t, dir, append([]string{"signal", id, "knock"}, flags...)...); code == 0 {
			return true
		}
	}
	return false
}

func TestRunUsesTheStackOfTheFolder(t *testing.T) {
	slow(t)
	dir := t.TempDir()
	samples, err := filepath.Abs("../../samples/hardship")
	if err != nil {
		t.Fatal(err)
	}
	p, s := dev(t, dir, "--ephemeral", "--headless", "--root", samples)
	stdout, stderr, code := output(t, dir, "run", "hardship", "--address", s.Address, "--file", filepath.Join(samples, "statement-affordable.pdf"))
	if code != 0 || !strings.Contains(stdout, `"affordability": "affordable"`) {
		t.Errorf("run = %d %s %s", code, stdout, stderr)
	}
	outside := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(outside, []byte("Net income: $1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := output(t, dir, "run", "hardship", "--address", s.Address, "--file", outside); code != 1 || !strings.Contains(stderr, "FileNotFoundError") || !strings.Contains(stderr, "--root") {
		t.Errorf("a file outside the roots = %d %s, want FileNotFoundError and --root", code, stderr)
	}
	p.stop(syscall.SIGINT)
}

func TestASampleOnAFileTheStackMayNotReadHasAStackOfItsOwn(t *testing.T) {
	slow(t)
	dir := t.TempDir()
	sample, err := filepath.Abs("../../samples/hardship/statement-affordable.pdf")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.pdf"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	p, s := dev(t, dir, "--headless")
	if _, stderr, code := output(t, dir, "run", "hardship", "-n", "wrong", "--file", sample); code != 1 || !strings.Contains(stderr, `there is no namespace "wrong"`) {
		t.Errorf("run in a namespace that the stack lacks = %d %s", code, stderr)
	}
	stdout, stderr, code := output(t, dir, "run", "hardship", "--file", sample)
	if code != 0 || !strings.Contains(stdout, `"affordability": "affordable"`) || !strings.Contains(stderr, "The stack at "+s.Address+" may not read") {
		t.Errorf("a file outside the stack's folders = %d %s %s", code, stdout, stderr)
	}
	stdout, stderr, code = output(t, dir, "run", "hardship", "--file", "mine.pdf")
	if code != 0 || stderr != "" || !strings.Contains(stdout, `"affordability": "affordable"`) {
		t.Errorf("a file of the stack's folder = %d %s %s", code, stdout, stderr)
	}
	p.stop(syscall.SIGINT)
}

func TestPortsInUse(t *testing.T) {
	slow(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	port := l.Addr().(*net.TCPAddr).Port
	_, stderr, code := output(t, t.TempDir(), "dev", "--ephemeral", "--port", strconv.Itoa(port))
	if code != 1 || !strings.Contains(stderr, strconv.Itoa(port)) || !strings.Contains(stderr, "--port") {
		t.Errorf("an asked-for port in use = %d %s, want a fault that names port and flag", code, stderr)
	}
	usual, err := net.Listen("tcp", "127.0.0.1:7233")
	if err == nil {
		defer func() { _ = usual.Close() }()
	} // else somebody else holds it, which is as good
	p := start(t, t.TempDir(), "dev", "--json", "--ephemeral", "--headless")
	line, _ := p.stderr.wait(t, 0, "Server  ")
	if strings.Contains(line, ":7233 ") || !strings.Contains(line, "port 7233 is in use") {
		t.Errorf("the usual port in use gives %q, want another one, said", line)
	}
	p.stop(syscall.SIGINT)
}

func TestEditsReplaceTheWorker(t *testing.T) {
	slow(t)
	dir := filepath.Join(t.TempDir(), "mine")
	if _, stderr, code := output(t, filepath.Dir(dir), "samples", "copy", "feedback", dir); code != 0 {
		t.Fatal(stderr)
	}
	p, s := dev(t, dir, "--ephemeral", "--headless")
	run := func() string {
		stdout, stderr, _ := output(t, dir, "run", "feedback", "--address", s.Address, "--input", `{"wish": "$100 a month", "arrears": 900, "surplus": 900}`)
		return stdout + stderr
	}
	if got := run(); !strings.Contains(got, `"months": 12`) {
		t.Errorf("before the edit: %s", got)
	}
	edit := func(old, with string) {
		file := filepath.Join(dir, "agents", "plan.yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, with, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("default: 12", "default: 24")
	_, at := p.stderr.wait(t, 0, ": serving ")
	if got := run(); !strings.Contains(got, `"months": 24`) {
		t.Errorf("after the edit: %s", got)
	}
	edit("provider: rules", "provider: rulse")
	p.stderr.wait(t, at+1, "Did you mean rules?")
	if got := run(); !strings.Contains(got, `"months": 24`) {
		t.Errorf("after a faulty edit: %s, want the last good one", got)
	}
	if err := os.Remove(filepath.Join(dir, "worker.yaml")); err != nil {
		t.Fatal(err)
	}
	p.stderr.wait(t, at+1, "no such file")
	if got := run(); !strings.Contains(got, `"months": 24`) {
		t.Errorf("after worker.yaml went away: %s, want the last good one", got)
	}
	if code, _ := p.stop(syscall.SIGINT); code != 0 {
		t.Errorf("dev ends with %d", code)
	}
}

func TestTheUsersCommandRunsBesideTheStack(t *testing.T) {
	slow(t)
	dir := t.TempDir()
	stdout, _, code := output(t, dir, "dev", "--ephemeral", "--headless", "--port", "0", "--task-queue", "mine", "--",
		"sh", "-c", `echo "$TEMPORAL_NAMESPACE $HOLODECK_TASK_QUEUE $TEMPORAL_ADDRESS"; exit 3`)
	if code != 3 || !strings.HasPrefix(stdout, "default mine 127.0.0.1:") {
		t.Errorf("dev -- sh = %d %q, want 3 and the stack's names", code, stdout)
	}
	if _, _, code := output(t, dir, "dev", "--ephemeral", "--headless", "--port", "0", "--", "sh", "-c", "kill -KILL $$"); code != 137 {
		t.Errorf("dev with a command that is killed = %d, want 137 as a shell gives", code)
	}
	if _, stderr, code := output(t, dir, "dev", "--ephemeral", "--headless", "--port", "0", "--", "no-such-command"); code != 1 || !strings.Contains(stderr, "no-such-command") {
		t.Errorf("dev -- no-such-command = %d %s", code, stderr)
	}
}

func TestDevOutlivesTheReaderOfItsOutput(t *testing.T) {
	slow(t)
	cmd := prepare(t, t.TempDir(), "dev", "--ephemeral", "--headless", "--port", "0")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.Contains(lines.Text(), "Ctrl-C"); {
	}
	if err := errors.Join(out.Close(), cmd.Process.Signal(syscall.SIGINT)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("dev whose output nobody reads ends with %v, want 0", err)
	}
}

func TestTheUsersCommandIsRestartedOnChange(t *testing.T) {
	slow(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "say.sh")
	write := func(word string) {
		if err := os.WriteFile(script, []byte("echo said "+word+"\n"+"exec tail -f /dev/null\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	p := start(t, dir, "dev", "--ephemeral", "--headless", "--port", "0", "--watch", "*.sh", "--", "sh", script)
	_, at := p.stdout.wait(t, 0, "said one")
	write("two")
	p.stdout.wait(t, at+1, "said two")
	if code, took := p.stop(syscall.SIGINT); code != 0 || took > stopLimit {
		t.Errorf("Ctrl-C ends with %d after %s", code, took)
	}
}

func TestAWorkerServesAClusterAndTellsItsHealth(t *testing.T) {
	slow(t)
	dir := filepath.Join(t.TempDir(), "mine")
	if _, stderr, code := output(t, filepath.Dir(dir), "samples", "copy", "hardship", dir); code != 0 {
		t.Fatal(stderr)
	}
	_, s := dev(t, t.TempDir(), "--ephemeral", "--headless", "--task-queue", "elsewhere")
	health, metrics := freeAddress(t), freeAddress(t)
	w := start(t, dir, "worker", "--address", s.Address, "--task-queue", "elsewhere", "--health-addr", health, "--metrics-addr", metrics)
	w.stderr.wait(t, 0, "Worker running.")
	for _, want := range []string{"Connected to Temporal at " + s.Address, "task queue:  elsewhere", "TLS:         off", "activity:    evidence  (rules)", "activity:    parse_document"} {
		if !strings.Contains(w.stderr.text(), want) {
			t.Errorf("no %q in:\n%s", want, w.stderr.text())
		}
	}
	if _, stderr, code := output(t, dir, "run", "hardship", "--address", s.Address, "--task-queue", "elsewhere", "--file", "statement-affordable.pdf"); code != 0 && !strings.Contains(stderr, "FileNotFoundError") {
		t.Errorf("run = %d %s", code, stderr) // either worker may take the document; the stack's does not see this folder
	}
	for url, want := range map[string]string{"http://" + health + "/healthz": "ok", "http://" + health + "/readyz": "ok", "http://" + metrics + "/metrics": "temporal_"} {
		if got := get(t, url); !strings.Contains(got, want) {
			t.Errorf("%s = %.200s, want %q", url, got, want)
		}
	}
	if code, _ := w.stop(syscall.SIGTERM); code != 0 || !strings.Contains(w.stderr.text(), "Worker stopped.") {
		t.Errorf("SIGTERM ends with %d:\n%s", code, w.stderr.text())
	}
	if _, stderr, code := output(t, dir, "worker", "--address", "127.0.0.1:1", "--connect-timeout", "300ms"); code != 1 || !strings.Contains(stderr, "no answer") {
		t.Errorf("a worker without a cluster = %d %s", code, stderr)
	}
	if _, stderr, code := output(t, dir, "worker", "--address", s.Address, "--namespace", "nowhere"); code != 1 || !strings.Contains(stderr, `there is no namespace "nowhere"`) {
		t.Errorf("a worker without a namespace = %d %s", code, stderr)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestAWorkflowThatNobodyHasEndsTheWait(t *testing.T) {
	slow(t)
	_, s := dev(t, t.TempDir(), "--ephemeral", "--headless")
	_, stderr, code := output(t, t.TempDir(), "run", "hardshp", "--address", s.Address)
	if code != 1 || !strings.Contains(stderr, "has no such workflow") || !strings.Contains(stderr, "hardship") {
		t.Errorf("run of an unknown workflow = %d %s, want a fault that lists the known ones", code, stderr)
	}
}

func TestAnInputThatHistoryCannotCarryIsRefused(t *testing.T) {
	slow(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "big.json"), []byte(`{"wish": "`+strings.Repeat("x", 3_000_000)+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := output(t, dir, "run", "feedback", "--ephemeral", "--input", "@big.json")
	if code != 1 || !strings.Contains(stderr, "the input has 3000012 bytes") || !strings.Contains(stderr, "--file") {
		t.Errorf("run with 3 MB of input = %d %s, want a fault with the size and the way out", code, stderr)
	}
}
