package embedded

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"go.temporal.io/server/common/log/tag"
)

func TestWhatTheServerCallsFatalEndsTheGoroutineNotTheProcess(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	l := newServerLog(slog.New(slog.NewTextHandler(&out, nil)), slog.LevelWarn)
	done, after := make(chan struct{}), false
	go func() {
		defer close(done)
		tagged{root: l}.With(tag.String("service", "frontend")).Fatal("serve the listener", tag.Error(errors.New("no more sockets")))
		after = true
	}()
	<-done
	if err := <-l.fatal; err.Error() != "serve the listener: no more sockets" {
		t.Errorf("reported %q", err)
	}
	if after {
		t.Error("the goroutine went on")
	}
	if !strings.Contains(out.String(), `level=ERROR msg="serve the listener" service=frontend error="no more sockets"`) {
		t.Errorf("logged %q", out.String())
	}
	l.die(errors.New("another")) // nobody listens twice
}

func TestAMutedLogDropsEverything(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	l := newServerLog(slog.New(slog.NewTextHandler(&out, nil)), slog.LevelInfo)
	tagged{root: l}.Debug("too little")
	tagged{root: l}.Info("heard")
	l.mute()
	tagged{root: l}.Error("cut off")
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "heard") {
		t.Errorf("logged %q", got)
	}
}
