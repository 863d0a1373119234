package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/embedded"
)

// subject is what one child measures.
type subject struct {
	who, file        string
	born             time.Time
	profile, dynamic string
}

// server is either side of the comparison.
type server struct {
	address string
	stop    func() error
}

func (s subject) start(ctx context.Context) (server, error) {
	if s.who == "plain" {
		return startPlain(s.file)
	}
	o := embedded.Options{DBFile: s.file, UI: true, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	if s.dynamic != "" {
		o.DynamicConfig = strings.Split(s.dynamic, ";")
	}
	ours, err := embedded.Start(ctx, o)
	if err != nil {
		return server{}, err
	}
	return server{ours.Address(), func() error { return ours.Stop(ctx) }}, nil
}

const queue = "bench"

func greet(_ context.Context, name string) (string, error) { return "hello " + name, nil }

func trivial(ctx workflow.Context, name string) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	var out string
	err := workflow.ExecuteActivity(ctx, greet, name).Get(ctx, &out)
	return out, err
}

// measure hosts the subject's server and prints its figures as JSON.
func (b bench) measure(ctx context.Context, s subject) (err error) {
	srv, err := s.start(ctx)
	if err != nil {
		return err
	}
	c, err := client.DialContext(ctx, client.Options{HostPort: srv.address, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		return err
	}
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflow(trivial)
	w.RegisterActivity(greet)
	if err := w.Start(); err != nil {
		return err
	}
	var f figures
	if _, err := run(ctx, c); err != nil {
		return err
	}
	f.First = ms(time.Since(s.born))
	time.Sleep(time.Second)
	f.RSS = resident()
	if err := b.latency(ctx, c, &f); err != nil {
		return err
	}
	if err := b.throughput(ctx, c, s.profile, &f); err != nil {
		return err
	}
	w.Stop()
	c.Close()
	begin := time.Now()
	if err := srv.stop(); err != nil {
		return err
	}
	f.Stop = ms(time.Since(begin))
	return json.NewEncoder(os.Stdout).Encode(f)
}

func (b bench) latency(ctx context.Context, c client.Client, f *figures) error {
	var took []float64
	for range b.single {
		d, err := run(ctx, c)
		if err != nil {
			return err
		}
		took = append(took, ms(d))
	}
	if len(took) == 0 {
		return nil
	}
	slices.Sort(took)
	f.P50, f.P99, f.Max = took[len(took)/2], took[len(took)*99/100], took[len(took)-1]
	return nil
}

func (b bench) throughput(ctx context.Context, c client.Client, profile string, f *figures) error {
	var out io.WriteCloser
	if profile != "" {
		var err error
		if out, err = os.Create(profile); err != nil {
			return err
		}
		defer out.Close() //nolint:errcheck // a profile for the eye
		if err := pprof.StartCPUProfile(out); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var left atomic.Int64
	left.Store(int64(b.many))
	errs := make([]error, 20)
	begin := time.Now()
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for errs[i] == nil && left.Add(-1) >= 0 {
				_, errs[i] = run(ctx, c)
			}
		})
	}
	wg.Wait()
	f.Rate = float64(b.many) / time.Since(begin).Seconds()
	return errors.Join(errs...)
}

// run starts one workflow and waits for its result.
func run(ctx context.Context, c client.Client) (time.Duration, error) {
	begin := time.Now()
	r, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: queue}, trivial, "you")
	if err != nil {
		return 0, err
	}
	var out string
	if err := r.Get(ctx, &out); err != nil {
		return 0, err
	}
	if out != "hello you" {
		return 0, fmt.Errorf("the workflow answered %q", out)
	}
	return time.Since(begin), nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// resident is the process's resident memory in MiB; 0 where the system does
// not tell.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			return kb / 1024
		}
	}
	return 0
}
