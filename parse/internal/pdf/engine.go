// Package pdf reads PDF documents into blocks.
//
// In go the bytes of a document and the pages wanted; out come, at a sink,
// page markers, headings, paragraphs and lists in reading order. PDFium does
// the decoding, compiled to WebAssembly, so that it needs no cgo and a fault
// in it stays in its sandbox; the layout is ours. The package recognises no
// text in pictures: a page without a text layer is reported, not guessed.
package pdf

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// memoryPages caps one instance at 512 MiB (a WebAssembly page is 64 KiB).
const memoryPages = 8192

// Engine is PDFium, started at the first use and shared by all documents of a
// process. It must be made by [NewEngine].
type Engine struct {
	cacheDir  string
	instances int

	mu      sync.Mutex
	pool    pdfium.Pool
	cache   wazero.CompilationCache
	started chan struct{} // closed when the start under way has ended
	closed  bool
}

// NewEngine returns an engine that is not started. cacheDir keeps compiled
// code between processes ("" = none); at most instances documents are read at
// a time (0 = one a processor).
func NewEngine(cacheDir string, instances int) *Engine {
	if instances <= 0 {
		instances = runtime.NumCPU()
	}
	return &Engine{cacheDir: cacheDir, instances: instances}
}

// Start compiles PDFium, or loads it from the cache; it does nothing if that
// is done. A caller whose ctx ends is let go while the start goes on.
func (e *Engine) Start(ctx context.Context) error {
	_, err := e.ready(ctx)
	return err
}

func (e *Engine) ready(ctx context.Context) (pdfium.Pool, error) {
	for {
		e.mu.Lock()
		switch {
		case e.closed:
			e.mu.Unlock()
			return nil, errors.New("the PDF engine is closed")
		case e.pool != nil:
			defer e.mu.Unlock()
			return e.pool, nil
		}
		begin := e.started == nil
		if begin {
			e.started = make(chan struct{})
		}
		started := e.started
		e.mu.Unlock()

		failed := make(chan error, 1)
		if begin {
			go e.start(started, failed)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case err := <-failed:
			return nil, err
		case <-started:
			select {
			case err := <-failed:
				return nil, err
			default:
			}
		}
	}
}

func (e *Engine) start(started chan struct{}, failed chan<- error) {
	pool, cache, err := launch(e.cacheDir, e.instances)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		failed <- errors.Join(ErrStart, err)
	} else if e.closed {
		shut(pool, cache)
	} else {
		e.pool, e.cache = pool, cache
	}
	e.started = nil
	close(started)
}

func launch(cacheDir string, instances int) (pool pdfium.Pool, cache wazero.CompilationCache, err error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(memoryPages)
	if cacheDir != "" && os.MkdirAll(cacheDir, 0o700) == nil {
		if cache, err = wazero.NewCompilationCacheWithDir(cacheDir); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	pool, err = webassembly.Init(webassembly.Config{
		Context:       experimental.WithCompilationWorkers(context.Background(), runtime.NumCPU()),
		MaxIdle:       1,
		MaxTotal:      instances,
		FSConfig:      wazero.NewFSConfig(), // the default would mount the whole disk
		RuntimeConfig: config,
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	})
	return pool, cache, err
}

// Close ends PDFium. Documents being read fail.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	pool, cache := e.pool, e.cache
	e.pool, e.cache = nil, nil
	return shut(pool, cache)
}

func shut(pool pdfium.Pool, cache wazero.CompilationCache) error {
	var errs []error
	if pool != nil {
		errs = append(errs, pool.Close())
	}
	if cache != nil {
		errs = append(errs, cache.Close(context.Background()))
	}
	return errors.Join(errs...)
}

// ErrStart reports that PDFium cannot be started on this machine.
var ErrStart = errors.New("the PDF engine does not start")

// errHung reports that PDFium was given up.
var errHung = errors.New("it took too long")

// session is one instance, for one document. Calls into PDFium cannot be
// interrupted, so each runs beside a watchdog: when the caller's context or
// the time for one call ends, the caller is let go, and the instance is
// closed as soon as it answers or killed if it does not.
type session struct {
	pdfium.Pdfium
	limit time.Duration
	lost  bool
}

func (e *Engine) open(ctx context.Context, limit time.Duration) (*session, error) {
	pool, err := e.ready(ctx)
	if err != nil {
		return nil, err
	}
	p, err := pool.GetInstanceWithContext(ctx)
	if ctx.Err() != nil {
		if err == nil {
			_ = p.Close()
		}
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return &session{Pdfium: p, limit: limit}, nil
}

// do runs one call. After an error from ctx or errHung the session is lost.
func (s *session) do(ctx context.Context, call func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- errors.New("the PDF engine stopped")
			}
		}()
		done <- call()
	}()
	timer := time.NewTimer(s.limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		s.lost = true
		_ = s.Kill()
		return errHung
	case <-ctx.Done():
		s.lost = true
		go s.leave(done)
		return ctx.Err()
	}
}

func (s *session) leave(done <-chan error) {
	timer := time.NewTimer(s.limit)
	defer timer.Stop()
	select {
	case <-done:
		_ = s.Pdfium.Close()
	case <-timer.C:
		_ = s.Kill()
	}
}

// Close gives the instance back.
func (s *session) Close() error {
	if s.lost {
		return nil
	}
	return s.Pdfium.Close()
}
