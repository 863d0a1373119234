// Package cli is the holodeck command.
//
// In goes a [Process]: arguments, environment and streams; out comes an exit
// code. Results go to standard output, everything else to standard error. The
// commands turn flags into one library call each; what they know beyond that
// is how to tell a person what happened.
//
// It is the only package that knows flags, the environment and the terminal,
// and the only one but embedded that reaches the Temporal server.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/fault"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// Process is what a run of the command is given.
type Process struct {
	Args    []string // without the program's name
	Environ []string // as os.Environ
	Dir     string   // the working folder; empty: the process's
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Version string // empty: told from the build
}

// Run runs the command and returns its exit code. A cancelled ctx is an
// interrupt: servers stop in order and return 0, other commands 130.
func Run(ctx context.Context, p Process) int {
	t := &tool{Process: p}
	args, err := arrange(t.app(), p.Args)
	if err == nil {
		err = t.environment()
	}
	if err == nil {
		err = t.app().RunContext(ctx, append([]string{"holodeck"}, args...))
	}
	return t.exit(ctx, err)
}

// tool is one run of the command.
type tool struct {
	Process
	env config.Lookup
}

// usageError is a wrong command line.
type usageError struct{ text, hint string }

func (e usageError) Error() string { return e.text }

func wrongUsage(hint, format string, args ...any) error {
	return usageError{fmt.Sprintf(format, args...), hint}
}

// childExit carries the exit code of the user's own command.
type childExit int

func (e childExit) Error() string { return fmt.Sprintf("the command exited with code %d", int(e)) }

// exit prints an error and chooses the code.
func (t *tool) exit(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	if code, ok := errors.AsType[childExit](err); ok {
		return int(code)
	}
	if u, ok := errors.AsType[usageError](err); ok {
		t.complain(u.text, u.hint)
		return exitUsage
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		fmt.Fprintln(t.Stderr, "Interrupted.")
		return exitInterrupted
	}
	if s, ok := errors.AsType[silent](err); ok {
		return s.code
	}
	if e, ok := fault.As(err); ok {
		t.complain(e.Error(), e.Hint)
		return exitFailed
	}
	t.complain(err.Error(), "")
	return exitFailed
}

// silent is a failure that has been told already.
type silent struct{ code int }

func (silent) Error() string { return "told already" }

// complain prints what is wrong, and below it what to change.
func (t *tool) complain(text, hint string) {
	fmt.Fprintln(t.Stderr, "Error: "+sentence(text))
	if hint != "" {
		fmt.Fprintln(t.Stderr, sentence(hint))
	}
}

// sentence ends a one-line text with a full stop.
func sentence(s string) string {
	s = strings.TrimRight(s, " \n")
	if s == "" || strings.ContainsRune(s, '\n') || strings.ContainsAny(s[len(s)-1:], ".?!^") {
		return s
	}
	return s + "."
}

// note tells something on standard error.
func (t *tool) note(format string, args ...any) { fmt.Fprintf(t.Stderr, format+"\n", args...) }

const description = `Durable, schema-gated agents and documents on Temporal.

   holodeck run hardship --file STATEMENT.pdf   try it: no key, no server needed
   holodeck dev                                 a local Temporal stack with UI and worker
   holodeck parse FILE                          a document as markdown`

const exitHelp = `
EXIT CODES:
   0    success; a server that was stopped by Ctrl-C
   1    failed: the message says why
   2    wrong usage: an unknown command, flag or value
   130  interrupted
   Other codes are those of the COMMAND that dev was given.
`

func (t *tool) app() *cli.App {
	app := &cli.App{
		Name:                      "holodeck",
		Usage:                     "schema-gated agents and documents in durable Temporal workflows",
		Description:               description,
		UsageText:                 "holodeck COMMAND [ARGUMENTS…]",
		HideVersion:               true,
		EnableBashCompletion:      true,
		Reader:                    t.Stdin,
		Writer:                    t.Stdout,
		ErrWriter:                 t.Stderr,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              onUsageError,
		CustomAppHelpTemplate:     cli.AppHelpTemplate + exitHelp,
		DisableSliceFlagSeparator: true,
		Commands: []*cli.Command{
			t.runCommand(), t.devCommand(), t.workerCommand(), t.parseCommand(), t.checkCommand(),
			t.signalCommand(), t.samplesCommand(), t.completionCommand(), t.manCommand(), t.versionCommand(),
		},
		Flags: []cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version", Aliases: []string{"V"}}},
		Action: func(c *cli.Context) error {
			if c.Bool("version") {
				return t.printVersion(c)
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, c := range app.Commands {
		finish(c)
	}
	return app
}

// finish gives a command what every command has.
func finish(c *cli.Command) {
	c.OnUsageError = onUsageError
	c.HideHelpCommand = true // "h" and "help" may be a file's name; --help is there
	for _, f := range c.Flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.DisableDefaultText = true // that a switch is off needs no saying
		}
	}
	for _, sub := range c.Subcommands {
		finish(sub)
	}
}

func onUsageError(_ *cli.Context, err error, _ bool) error {
	return wrongUsage("See holodeck COMMAND --help.", "%v", err)
}
