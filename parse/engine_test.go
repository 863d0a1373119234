package parse_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse"
)

func TestOneEngineServesManyDocumentsAtOnce(t *testing.T) {
	t.Parallel()
	p := parse.New(parse.Options{CacheDir: cacheDir(), Instances: 1})
	if err := p.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	data := fixture(t, "pdf-report/in.pdf")
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		f := wrap(t, "r.pdf", data)
		wg.Go(func() { _, errs[i] = p.Parse(t.Context(), parse.Request{File: f}) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Parse(t.Context(), parse.Request{File: wrap(t, "r.pdf", data)}); err == nil {
		t.Error("a closed parser reads on")
	}
}

func TestWaitingForTheEngineEndsWithTheContext(t *testing.T) {
	t.Parallel()
	p := parse.New(parse.Options{CacheDir: cacheDir(), Instances: 1})
	t.Cleanup(func() { _ = p.Close() })
	data := fixture(t, "pdf-report/in.pdf")
	reading, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	first := wrap(t, "r.pdf", data)
	go func() {
		var once sync.Once
		_, err := p.Parse(t.Context(), parse.Request{File: first, Progress: func(int, int) {
			once.Do(func() { close(reading); <-release })
		}})
		done <- err
	}()
	<-reading
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Parse(ctx, parse.Request{File: wrap(t, "r.pdf", data)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	late, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if _, err := p.Parse(late, parse.Request{File: wrap(t, "r.pdf", data)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAPageThatHangsIsGivenUpAndTheEngineLivesOn(t *testing.T) {
	t.Parallel()
	const engine = 1
	p := parse.New(parse.Options{CacheDir: cacheDir(), Instances: engine, PageTimeout: time.Nanosecond})
	t.Cleanup(func() { _ = p.Close() })
	for range 3 { // more often than there are instances
		_, err := p.Parse(t.Context(), parse.Request{File: open(t, "testdata/pdf-report/in.pdf")})
		if !fault.Is(err, fault.Document) || !strings.Contains(err.Error(), "in time") {
			t.Errorf("got %v, want a document fault that names the time", err)
		}
	}
}
