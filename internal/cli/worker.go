package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"
	"go.temporal.io/sdk/client"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/internal/telemetry"
	"github.com/holodeck-run/holodeck/worker"
)

func (t *tool) workerCommand() *cli.Command {
	return &cli.Command{
		Name:  "worker",
		Usage: "serve the nodes of worker.yaml and parse_document against any Temporal cluster",
		Description: `Binds every node first and lists all faults at once; then connects, and serves
until SIGINT or SIGTERM. Running activities may finish within worker.stop_timeout;
a second signal ends at once.

Precedence: flag, environment (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
TEMPORAL_TASK_QUEUE), worker.yaml, the temporal.toml profile, default.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "worker.yaml `FILE`", Value: "worker.yaml"},
			&cli.StringFlag{Name: "address", Usage: "Temporal's `HOST:PORT`"},
			&cli.StringFlag{Name: "namespace", Aliases: []string{"n"}, Usage: "Temporal `NAMESPACE`"},
			&cli.StringFlag{Name: "task-queue", Aliases: []string{"t"}, Usage: "task `QUEUE` to serve"},
			&cli.DurationFlag{Name: "connect-timeout", Usage: "keep trying to connect for this `DURATION`", Value: 30 * time.Second},
			&cli.StringFlag{Name: "metrics-addr", Usage: "serve Prometheus metrics on `HOST:PORT`; beats telemetry.metrics"},
			&cli.StringFlag{Name: "health-addr", Usage: "serve /healthz and /readyz on `HOST:PORT`; beats telemetry.health"},
			&cli.StringFlag{Name: "record", Usage: "keep the answers of real models in this `DIR`, for the replay provider"},
			&cli.StringFlag{Name: "log-level", Usage: "log `LEVEL`: debug, info, warn, error or never", Value: "info"},
			&cli.StringFlag{Name: "log-format", Usage: "log `FORMAT`: text or json", Value: "text"},
		},
		Action: t.worker,
	}
}

func (t *tool) worker(c *cli.Context) error {
	if c.NArg() > 0 {
		return wrongUsage("Write holodeck worker --config FILE.", "worker takes no arguments, and there is %q", c.Args().First())
	}
	outliveReader()
	level, err := logLevel(c.String("log-level"))
	if err != nil {
		return err
	}
	handler, err := logHandler(t.Stderr, c.String("log-format"), level)
	if err != nil {
		return err
	}
	cfg, err := t.workerConfig(c)
	if err != nil {
		return err
	}
	observed, err := telemetry.New(c.Context, telemetry.Options{
		OTLPEndpoint: cfg.Telemetry.OTLPEndpoint, Metrics: cfg.Telemetry.Metrics != "", Version: t.version().Version,
	})
	if err != nil {
		return err
	}
	activities, err := worker.NewActivities(cfg, worker.Options{
		Lookup: t.env, Model: t.model(), Record: c.String("record"), CacheDir: t.cacheDir(), Tracer: observed.Tracer, Meter: observed.Meter,
	})
	if err != nil {
		return err
	}
	p := &workerProcess{t: t, cfg: cfg, activities: activities, observed: observed, logger: slog.New(handler)}
	err = p.run(c)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(err, observed.Shutdown(ctx), activities.Close())
}

// workerConfig reads worker.yaml and applies the flags.
func (t *tool) workerConfig(c *cli.Context) (*config.Worker, error) {
	cfg, err := t.loadConfig(c.String("config"), config.Options{TaskQueue: c.String("task-queue")})
	if err != nil {
		return nil, err
	}
	for flag, field := range map[string]*string{
		"address": &cfg.Temporal.Address, "namespace": &cfg.Temporal.Namespace,
		"metrics-addr": &cfg.Telemetry.Metrics, "health-addr": &cfg.Telemetry.Health,
	} {
		if c.IsSet(flag) {
			if strings.TrimSpace(c.String(flag)) == "" {
				return nil, wrongUsage("Give a value, or leave it out.", "--%s is blank", flag)
			}
			*field = c.String(flag)
		}
	}
	return cfg, nil
}

// ready says whether the worker polls and the cluster answers.
func (p *workerProcess) ready(ctx context.Context) error {
	cl := p.client.Load()
	if cl == nil {
		return errors.New("not polling")
	}
	return answers(ctx, *cl)
}

// workerProcess is one run of holodeck worker.
type workerProcess struct {
	t          *tool
	cfg        *config.Worker
	activities *worker.Activities
	observed   *telemetry.Telemetry
	logger     *slog.Logger
	client     atomic.Pointer[client.Client] // set once the worker polls
}

func (p *workerProcess) run(c *cli.Context) error {
	servers, err := listen(p.cfg.Telemetry, p.observed.Handler, p.ready)
	if err != nil {
		return err
	}
	defer servers.close()
	plugin, err := p.activities.Plugin() // for the client's converter and tracing; Serve registers
	if err != nil {
		return err
	}
	cl, o, err := worker.Dial(c.Context, worker.Connection{
		Temporal: p.cfg.Temporal, Home: p.cfg.Home, Lookup: p.t.env, Environ: p.t.Environ, Timeout: c.Duration("connect-timeout"),
		Waiting: func(err error) { p.t.note("Waiting: %s.", err) },
		Logger:  p.logger, Metrics: p.observed.SDK, Plugins: []client.Plugin{worker.ClientOnly(plugin)},
	})
	if err != nil {
		return err
	}
	defer cl.Close()
	deployment, err := p.deployment()
	if err != nil {
		return err
	}
	fatal := make(chan error, 1)
	running, err := worker.Serve(cl, worker.Service{
		TaskQueue: p.cfg.Temporal.TaskQueue, Activities: []*worker.Activities{p.activities}, Deployment: deployment,
		OnFatal: func(err error) {
			select {
			case fatal <- err:
			default:
			}
		},
	})
	if err != nil {
		return err
	}
	p.client.Store(&cl)
	p.announce(o)
	warm, stopWarming := context.WithCancel(c.Context)
	defer stopWarming()
	go func() { _ = p.activities.Warm(warm) }() // the first document does not wait; if it fails, that document will say so
	select {
	case <-c.Context.Done():
		p.t.note("Stopping: running activities have %s to finish. Ctrl-C again ends at once.", p.cfg.Worker.StopTimeout)
		p.client.Store(nil)
		running.Stop()
		p.t.note("Worker stopped.")
		return nil
	case err := <-fatal:
		running.Stop()
		return fmt.Errorf("the worker stopped: %w", err)
	}
}

func (p *workerProcess) deployment() (worker.DeploymentOptions, error) {
	data, err := p.cfg.Home.Read(filepath.Base(p.cfg.Home.File))
	if err != nil {
		data = nil // reached through a symlink: its agents and gates are digested all the same
	}
	return p.activities.Deployment(data)
}

func (p *workerProcess) announce(o client.Options) {
	t := p.t
	encryption := "off"
	if o.ConnectionOptions.TLS != nil {
		encryption = "on"
	}
	t.note("Connected to Temporal at %s", o.HostPort)
	t.note("  namespace:   %s", o.Namespace)
	t.note("  task queue:  %s", p.cfg.Temporal.TaskQueue)
	t.note("  TLS:         %s", encryption)
	models := p.activities.Models()
	for _, name := range p.activities.Names() {
		if m := models[name]; m != "" {
			name += "  (" + m + ")"
		}
		t.note("  activity:    %s", name)
	}
	for _, w := range p.cfg.Warnings {
		t.note("Warning: %s.", w)
	}
	t.note("Worker running. Press Ctrl+C to stop.")
}
