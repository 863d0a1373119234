// Package embedded runs a Temporal server inside this process: frontend,
// history, matching and worker services on SQLite, the Web UI, and their
// listeners.
//
// In go [Options]: where the data lives, which ports to bind, which namespaces
// and search attributes to have. Out comes a [Server] that answers, with the
// addresses it took. The zero Options give a server in memory on free ports of
// 127.0.0.1.
//
// Internal services are bound to 127.0.0.1 whatever the options say; only the
// frontend, its HTTP API and the UI follow them. There is no TLS and no
// authorization: this server is for a developer's machine.
//
// The package reads no environment and writes nothing to standard output or
// standard error; what the server logs goes to Options.Logger.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/server/common/headers"

	"github.com/holodeck-run/holodeck/fault"
)

// DefaultRetention is how long closed workflows are kept unless
// Options.Retention says otherwise.
const DefaultRetention = 30 * 24 * time.Hour

// Options say what to run. The zero value is a server in memory, on free ports
// of 127.0.0.1, without UI.
type Options struct {
	// DBFile is the SQLite file; empty keeps everything in memory. The folder
	// must exist; the file need not.
	DBFile string
	// Durable makes every commit reach the disk before it is acknowledged
	// (synchronous=FULL). Without it a crash of the process loses nothing,
	// but a power cut can lose the last commits.
	Durable bool
	// SQLitePragmas override what the package sets itself.
	SQLitePragmas map[string]string

	// Namespaces to have besides "default".
	Namespaces []string
	// SearchAttributes every namespace must have, by name: Text, Keyword, Int,
	// Double, Bool, Datetime or KeywordList. They are added to a file that
	// exists, too.
	SearchAttributes map[string]string
	// Retention of closed workflows, for the namespaces this start makes and,
	// if not zero, for those named here that exist. Zero is DefaultRetention.
	Retention time.Duration

	// IP the frontend and its HTTP API listen on; empty is 127.0.0.1.
	IP string
	// Port of the frontend (gRPC).
	Port Port
	// HTTPPort of the frontend's HTTP API.
	HTTPPort Port

	// UI switches the Web UI on.
	UI bool
	// UIIP the UI listens on; empty is IP.
	UIIP string
	// UIPort of the UI.
	UIPort Port
	// UIPublicPath is the path under which a proxy shows the UI, as "/temporal".
	UIPublicPath string
	// UIAssetPath is a folder of UI assets that replace the built-in ones.
	UIAssetPath string
	// UICodecEndpoint is the remote codec the UI offers.
	UICodecEndpoint string
	// UINewsFetch lets the UI ask the internet for news and new versions.
	UINewsFetch bool

	// Metrics serves Prometheus metrics. Counting costs some speed, so it is
	// off unless asked for.
	Metrics bool
	// MetricsPort of the metrics.
	MetricsPort Port

	// DynamicConfig overrides server settings: each entry is KEY=JSON.
	DynamicConfig []string

	// Logger gets what the server logs; nil drops it.
	Logger *slog.Logger
	// LogLevel is the least severe level that is logged: debug, info, warn,
	// error or never. Empty is warn.
	LogLevel string
	// LogConfig gets the server's configuration as YAML, if not nil.
	LogConfig io.Writer
}

// Server is a running Temporal server. Its methods may be called from any
// goroutine.
type Server struct {
	file    string
	ports   addresses
	log     *serverLog
	gate    *gate
	closers []closer // in the order in which they were opened

	stopOnce sync.Once
	stopped  chan struct{}
	stopErr  error
}

// closer undoes one step of the start.
type closer struct {
	what string
	run  func() error
}

// Start starts a server and returns when its frontend answers and the
// namespaces and search attributes are usable. A cancelled ctx ends the start;
// whatever fails, nothing is left running. ctx does not bound the server's
// life: Stop does. The first start of a process also sets the SDK's binary
// checksum, which is the process's for all its workers.
func Start(ctx context.Context, o Options) (*Server, error) {
	plan, err := o.plan()
	if err != nil {
		return nil, err
	}
	nameBinary()
	s := &Server{log: plan.log, gate: newGate(), stopped: make(chan struct{})}
	done := make(chan error, 1)
	// The server's constructors end their goroutine where they cannot go on,
	// so they get one of their own.
	go func() {
		err := errors.New("the server gave up")
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("the server panicked: %v", r)
			}
			if cause := s.log.fatalCause(); err != nil && cause != nil && ctx.Err() == nil {
				if _, ok := fault.As(err); !ok {
					err = cause
				}
			}
			done <- err
		}()
		err = s.start(ctx, plan)
	}()
	if err := <-done; err != nil {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		return nil, errors.Join(err, s.Stop(stopCtx))
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, p *plan) error {
	for _, step := range []func(context.Context, *plan) error{
		s.openStore, s.prepareNamespaces, s.claimPorts, s.serveMetrics, s.startServices, s.awaitHealth, s.serveUI,
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx, p); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// onStop registers what Stop must undo, last in first out.
func (s *Server) onStop(what string, run func() error) {
	s.closers = append(s.closers, closer{what, run})
}

// Address is where clients reach the frontend, as host:port.
func (s *Server) Address() string { return s.ports.frontend }

// HTTPAddress is where the frontend's HTTP API answers, as host:port.
func (s *Server) HTTPAddress() string { return s.ports.http }

// UIURL is where the Web UI answers; empty without UI.
func (s *Server) UIURL() string { return s.ports.ui }

// MetricsAddress is where Prometheus finds /metrics, as host:port; empty
// without metrics.
func (s *Server) MetricsAddress() string { return s.ports.metrics }

// DBFile is the absolute path of the database; empty in memory.
func (s *Server) DBFile() string { return s.file }

// ServerVersion is the version of the Temporal server inside.
func (s *Server) ServerVersion() string { return headers.ServerVersion }

// Fatal receives one error if a service of the server dies by itself. Stop
// must still be called.
func (s *Server) Fatal() <-chan error { return s.log.fatal }
