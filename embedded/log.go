package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"

	"github.com/holodeck-run/holodeck/fault"
)

// never is above every level the server uses.
const never = slog.Level(64)

var logLevels = []string{"debug", "info", "warn", "error", "never"}

func parseLevel(name string) (slog.Level, error) {
	switch name {
	case "", "warn":
		return slog.LevelWarn, nil
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "error":
		return slog.LevelError, nil
	case "never":
		return never, nil
	}
	return 0, fault.New(fault.Config, "read the log level", fault.DidYouMean(name, logLevels), "%q is not a level", name)
}

// serverLog is the root of the server's loggers. It decides what passes and
// catches what the server calls fatal.
type serverLog struct {
	handler slog.Handler
	level   atomic.Int64
	cause   atomic.Pointer[error]
	fatal   chan error
}

func newServerLog(l *slog.Logger, level slog.Level) *serverLog {
	s := &serverLog{handler: slog.DiscardHandler, fatal: make(chan error, 1)}
	if l != nil {
		s.handler = l.Handler()
	} else {
		level = never
	}
	s.level.Store(int64(level))
	return s
}

// mute drops everything from now on.
func (s *serverLog) mute() { s.level.Store(int64(never) + 1) }

// die reports the first reason for which the server cannot go on.
func (s *serverLog) die(err error) {
	if s.cause.CompareAndSwap(nil, &err) {
		s.fatal <- err
	}
}

func (s *serverLog) fatalCause() error {
	if p := s.cause.Load(); p != nil {
		return *p
	}
	return nil
}

// tagged is the server's logger interface over a slog handler.
type tagged struct {
	root *serverLog
	tags []tag.Tag
}

var (
	_ log.Logger     = tagged{}
	_ log.WithLogger = tagged{}
)

// With returns a logger that adds tags to every record.
func (t tagged) With(tags ...tag.Tag) log.Logger {
	return tagged{t.root, append(t.tags[:len(t.tags):len(t.tags)], tags...)}
}

// Debug logs at slog.LevelDebug.
func (t tagged) Debug(msg string, tags ...tag.Tag) { t.log(slog.LevelDebug, msg, tags) }

// Info logs at slog.LevelInfo.
func (t tagged) Info(msg string, tags ...tag.Tag) { t.log(slog.LevelInfo, msg, tags) }

// Warn logs at slog.LevelWarn.
func (t tagged) Warn(msg string, tags ...tag.Tag) { t.log(slog.LevelWarn, msg, tags) }

// Error logs at slog.LevelError.
func (t tagged) Error(msg string, tags ...tag.Tag) { t.log(slog.LevelError, msg, tags) }

// DPanic logs at slog.LevelError; it panics only in the server's own tests.
func (t tagged) DPanic(msg string, tags ...tag.Tag) { t.log(slog.LevelError, msg, tags) }

// Panic logs and panics: the server's callers recover where they expect it.
func (t tagged) Panic(msg string, tags ...tag.Tag) {
	t.log(slog.LevelError, msg, tags)
	panic(msg)
}

// Fatal would end the process in the server's own logger. Here it ends the
// goroutine and reports the error on Server.Fatal.
func (t tagged) Fatal(msg string, tags ...tag.Tag) {
	if t.root.level.Load() <= int64(never) {
		t.log(slog.LevelError, msg, tags)
		err := errors.New(msg)
		for _, tg := range tags {
			if cause, ok := tg.Value().(string); ok && tg.Key() == "error" {
				err = fmt.Errorf("%s: %s", msg, cause)
			}
		}
		t.root.die(err)
	}
	runtime.Goexit()
}

func (t tagged) log(level slog.Level, msg string, tags []tag.Tag) {
	if int64(level) < t.root.level.Load() || !t.root.handler.Enabled(context.Background(), level) {
		return
	}
	r := slog.NewRecord(time.Now(), level, msg, 0)
	for _, list := range [][]tag.Tag{t.tags, tags} {
		for _, tg := range list {
			r.AddAttrs(slog.Any(tg.Key(), tg.Value()))
		}
	}
	_ = t.root.handler.Handle(context.Background(), r) // there is nowhere left to report it
}
