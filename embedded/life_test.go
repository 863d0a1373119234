package embedded_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-run/holodeck/embedded"
)

// settle waits until the number of goroutines is back to at most n.
func settle(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for runtime.NumGoroutine() > n {
		select {
		case <-tick.C:
		case <-ctx.Done():
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, want at most %d:\n%s", runtime.NumGoroutine(), n, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// These count goroutines, so they do not run beside others.

func TestAStopLeavesNothingRunningAndTheAddressesFree(t *testing.T) {
	before := runtime.NumGoroutine()
	file := filepath.Join(t.TempDir(), "a.db")
	for range 2 {
		s, err := embedded.Start(t.Context(), embedded.Options{DBFile: file, UI: true, Metrics: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Errorf("the second stop: %v", err)
		}
		for _, a := range []string{s.Address(), s.HTTPAddress(), s.MetricsAddress(), strings.TrimPrefix(s.UIURL(), "http://")} {
			l, err := net.Listen("tcp", a)
			if err != nil {
				t.Errorf("the address is not free: %v", err)
				continue
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
		settle(t, before)
	}
}

func TestACancelledStartLeavesNothingRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	file := filepath.Join(t.TempDir(), "a.db")
	for after := time.Duration(0); after < 100*time.Millisecond; after += 4 * time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		s, err := embedded.Start(ctx, embedded.Options{DBFile: file, UI: true})
		switch {
		case err == nil:
			stop(t, s)
		case !errors.Is(err, context.DeadlineExceeded):
			t.Errorf("cancelled after %v: %v", after, err)
		}
		cancel()
		settle(t, before)
	}
	s := start(t, embedded.Options{DBFile: file})
	c := dial(t, s.Address(), "default")
	work(t, c, &activities{})
	greet(t, c)
}

func TestAStopCutsLongPollsOff(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := embedded.Start(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, s.Address(), "default")
	halt := work(t, c, &activities{})
	greet(t, c)
	stop(t, s)
	halt()
	c.Close()
	settle(t, before)
}

func TestTwoServersInOneProcessDoNotKnowEachOther(t *testing.T) {
	t.Parallel()
	one, two := start(t, embedded.Options{Namespaces: []string{"one"}}), start(t, embedded.Options{Namespaces: []string{"two"}})
	a, b := dial(t, one.Address(), "one"), dial(t, two.Address(), "two")
	halt := work(t, a, &activities{})
	work(t, b, &activities{})
	greet(t, a)
	halt()
	a.Close()
	stop(t, one)
	greet(t, b)
	select {
	case err := <-two.Fatal():
		t.Error(err)
	default:
	}
}

func TestAHealthyLifeLogsNoWarning(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.db")
	for _, round := range []string{"new", "restarted", "restarted again"} {
		var lines recorder
		s, err := embedded.Start(t.Context(), embedded.Options{DBFile: file, UI: true, Metrics: true, Logger: lines.logger(), LogLevel: "info"})
		if err != nil {
			t.Fatal(err)
		}
		c := dial(t, s.Address(), "default")
		halt := work(t, c, &activities{})
		greet(t, c)
		halt()
		stop(t, s)
		log := lines.String()
		if !strings.Contains(log, "level=INFO") {
			t.Errorf("%s: nothing was logged", round)
		}
		for line := range strings.Lines(log) {
			if !strings.Contains(line, "level=INFO") {
				t.Errorf("%s: %s", round, line)
			}
		}
	}
}
