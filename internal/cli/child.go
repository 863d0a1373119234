package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/holodeck-run/holodeck/fault"
)

// childOptions is the user's own command.
type childOptions struct {
	command []string
	stack   state
	watch   []string
}

// childGrace is how long a command may take to end before it is killed.
const childGrace = 2 * time.Second

// startChild runs the command until it ends, or until ctx does; with watch
// patterns it is restarted on change and its own end is only told. The result
// arrives once.
func (t *tool) startChild(ctx context.Context, o childOptions) <-chan error {
	result := make(chan error, 1)
	go func() { result <- t.runChild(ctx, o) }()
	return result
}

func (t *tool) runChild(ctx context.Context, o childOptions) error {
	changed := make(chan struct{}, 1)
	if len(o.watch) > 0 {
		dir := t.absolute(".")
		dirs, err := foldersBelow(dir)
		if err != nil {
			return err
		}
		w, err := watchFolders(ctx, dirs, globs(o.watch, dir), func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		})
		if err != nil {
			return err
		}
		defer w.wait()
	}
	for {
		restart, err := t.once(ctx, o, changed)
		if !restart {
			return err
		}
	}
}

// once runs the command one time.
func (t *tool) once(ctx context.Context, o childOptions, changed <-chan struct{}) (restart bool, err error) {
	cmd := exec.Command(o.command[0], o.command[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.Dir, t.Stdin, t.Stdout, t.Stderr
	cmd.Env = append(without(t.Environ, "TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "HOLODECK_TASK_QUEUE"),
		"TEMPORAL_ADDRESS="+o.stack.Address, "TEMPORAL_NAMESPACE="+o.stack.Namespace, "HOLODECK_TASK_QUEUE="+o.stack.TaskQueue)
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return false, fault.New(fault.Config, "run "+o.command[0], "Check the command after --.", "%w", plainExec(err))
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		signalGroup(cmd, os.Kill) // what it started may have stayed
		if len(o.watch) == 0 {
			return false, exitOf(err)
		}
		t.note("The command ended (%s); waiting for a change.", describeEnd(err))
		select {
		case <-changed:
			return true, nil
		case <-ctx.Done():
			return false, nil
		}
	case <-changed:
		t.note("A watched file changed: restarting the command.")
		endGroup(cmd, ended)
		return true, nil
	case <-ctx.Done():
		endGroup(cmd, ended)
		return false, nil
	}
}

func exitOf(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return childExit(exitCode(e.ProcessState))
	}
	return fmt.Errorf("the command ended: %w", err)
}

func describeEnd(err error) string {
	if err == nil {
		return "exit code 0"
	}
	return err.Error()
}

func plainExec(err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return e.Err
	}
	return fault.Cause(err)
}

func without(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(names, name)
	})
}

// endGroup asks the command and what it started to end, then makes them.
func endGroup(cmd *exec.Cmd, ended <-chan error) {
	signalGroup(cmd, os.Interrupt)
	select {
	case <-ended:
		signalGroup(cmd, os.Kill) // what it started may have stayed
	case <-time.After(childGrace):
		signalGroup(cmd, os.Kill)
		<-ended
	}
}
