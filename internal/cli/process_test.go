package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a running holodeck, as a user's terminal has it.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *lines
	stderr *lines
	done   chan struct{}
}

// lines collects output and lets a test wait for a line.
type lines struct {
	mu   sync.Mutex
	all  []string
	more chan struct{} // closed and replaced at each line
	end  bool
}

func (l *lines) add(line string, end bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !end {
		l.all = append(l.all, line)
	}
	l.end = l.end || end
	close(l.more)
	l.more = make(chan struct{})
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

// wait returns the first line after from that contains word, and its index.
func (l *lines) wait(t *testing.T, from int, word string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		l.mu.Lock()
		for i := from; i < len(l.all); i++ {
			if strings.Contains(l.all[i], word) {
				defer l.mu.Unlock()
				return l.all[i], i
			}
		}
		more, end := l.more, l.end
		l.mu.Unlock()
		if end {
			t.Fatalf("the output ended without %q:\n%s", word, l.text())
		}
		select {
		case <-more:
		case <-ctx.Done():
			t.Fatalf("no line with %q in:\n%s", word, l.text())
		}
	}
}

// cacheDir is shared by all processes of the tests.
var cacheDir = filepath.Join(os.TempDir(), "holodeck-test-cache")

func prepare(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{"holodeck"}, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOLODECK_CACHE_DIR="+cacheDir, "HOLODECK_MODEL=", "TEMPORAL_CONFIG_FILE="+filepath.Join(dir, "none.toml"))
	return cmd
}

// start starts holodeck in dir.
func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: prepare(t, dir, args...), done: make(chan struct{})}
	p.stdout, p.stderr = &lines{more: make(chan struct{})}, &lines{more: make(chan struct{})}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	for l, r := range map[*lines]*bufio.Scanner{p.stdout: bufio.NewScanner(out), p.stderr: bufio.NewScanner(errs)} {
		reading.Go(func() {
			for r.Scan() {
				l.add(r.Text(), false)
			}
			l.add("", true)
		})
	}
	go func() {
		reading.Wait()
		_ = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

// stop sends a signal and returns the exit code, and how long the end took.
func (p *process) stop(s syscall.Signal) (code int, took time.Duration) {
	p.t.Helper()
	begin := time.Now()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	return p.wait(), time.Since(begin)
}

func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		p.t.Fatalf("holodeck %v does not end:\n%s", p.cmd.Args[1:], p.stderr.text())
	}
	return p.cmd.ProcessState.ExitCode()
}

// stackState is the line that dev --json prints.
type stackState struct {
	Address   string
	TaskQueue string `json:"task_queue"`
	UI        string
}

// dev starts a local stack on free ports and waits until it is ready.
func dev(t *testing.T, dir string, args ...string) (*process, stackState) {
	t.Helper()
	p := start(t, dir, append([]string{"dev", "--json", "--port", "0", "--ui-port", "0"}, args...)...)
	line, _ := p.stdout.wait(t, 0, `"address"`)
	var s stackState
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		t.Fatal(err)
	}
	p.stderr.wait(t, 0, "Ready.")
	return p, s
}

// output runs holodeck to its end.
func output(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := prepare(t, dir, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), errs.String(), e.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), 0
}
