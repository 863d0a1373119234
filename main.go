// Command holodeck puts schema-gated language-model agents and documents into
// durable Temporal workflows. See internal/cli for the commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // a static binary runs where there is no time-zone database

	"github.com/holodeck-run/holodeck/internal/cli"
)

// version is set at link time by release builds.
var version string

func main() { os.Exit(run()) }

// run turns the first interrupt into a cancelled context; the second ends the
// process at once.
func run() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupts
		cancel()
		<-interrupts
		os.Exit(130)
	}()
	return cli.Run(ctx, cli.Process{
		Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: version,
	})
}
