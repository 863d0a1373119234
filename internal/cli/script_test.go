package cli_test

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holodeck-run/holodeck/internal/cli"
)

// TestMain makes the test binary the command itself when it is called
// holodeck, so that the scripts run the real thing.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"holodeck": command})
}

func command() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.Run(ctx, cli.Process{Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: "test"}))
}

// TestScripts runs testdata/script: each is a session of a user.
func TestScripts(t *testing.T) {
	samples, err := filepath.Abs("../../samples")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir() // compiled PDFium, shared by the scripts
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SAMPLES", samples)
			e.Setenv("HOLODECK_CACHE_DIR", cache)
			e.Setenv("NO_COLOR", "1")
			// Nothing answers there: a script never meets a stack that is not its own.
			e.Setenv("TEMPORAL_CONFIG_FILE", filepath.Join(e.WorkDir, "none.toml"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command and asserts its exit code: exits CODE COMMAND ARGS….
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if e, ok := err.(*exec.ExitError); ok {
		got = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
