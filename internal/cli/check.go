package cli

import (
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/worker"
)

func (t *tool) checkCommand() *cli.Command {
	return &cli.Command{
		Name:  "check",
		Usage: "check worker.yaml, its agents and gates without connecting",
		Description: `Does everything that worker does before it connects, and lists all faults at once.
The exit code says whether there are some.`,
		ArgsUsage: "[FILE]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "worker.yaml `FILE`", Value: "worker.yaml"},
			&cli.StringFlag{Name: "task-queue", Aliases: []string{"t"}, Usage: "task `QUEUE`"},
			&cli.BoolFlag{Name: "json", Usage: "print what was bound as JSON"},
		},
		Action: t.check,
	}
}

func (t *tool) check(c *cli.Context) error {
	name := c.String("config")
	switch {
	case c.NArg() > 1 || c.NArg() == 1 && c.IsSet("config"):
		return wrongUsage("Write holodeck check FILE.", "check takes one file")
	case c.NArg() == 1:
		name = c.Args().First()
	}
	cfg, err := t.loadConfig(name, config.Options{TaskQueue: c.String("task-queue")})
	if err != nil {
		return err
	}
	a, err := worker.NewActivities(cfg, worker.Options{Lookup: t.env, Model: t.model(), CacheDir: t.cacheDir()})
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	if c.Bool("json") {
		warnings := cfg.Warnings
		if warnings == nil {
			warnings = []string{}
		}
		data, err := json.Marshal(map[string]any{
			"config": name, "task_queue": cfg.Temporal.TaskQueue, "activities": a.Names(), "models": a.Models(), "warnings": warnings,
		})
		if err != nil {
			return err
		}
		return t.printJSON(data)
	}
	for _, w := range cfg.Warnings {
		t.note("Warning: %s.", w)
	}
	models := a.Models()
	for _, n := range a.Names() {
		fmt.Fprintf(t.Stdout, "%-24s %s\n", n, models[n])
	}
	t.note("%s is right: %d activities on task queue %s.", name, len(a.Names()), cfg.Temporal.TaskQueue)
	return nil
}
