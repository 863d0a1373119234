package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/embedded"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/internal/telemetry"
	"github.com/holodeck-run/holodeck/parse"
	"github.com/holodeck-run/holodeck/samples"
	"github.com/holodeck-run/holodeck/worker"
)

// defaultQueue is the task queue of a local stack.
const defaultQueue = "holodeck"

// stack is a local Temporal server with a worker, in this process.
type stack struct {
	server  *embedded.Server
	client  client.Client
	parser  *parse.Parser
	running *worker.Running
	fatal   chan error

	queue, namespace string
	roots            []string
	samplesModel     string
	record           string
	configFlag       string
	activities       []*worker.Activities
	cfg              *config.Worker // the user's; may be nil
	observed         *telemetry.Telemetry
	servers          endpoints
}

// bindStack binds the user's configuration and the samples, before anything
// is started.
func (t *tool) bindStack(s *stack) error {
	cfg, err := t.loadConfig(s.configFlag, config.Options{TaskQueue: s.queue, Local: true})
	if err != nil {
		return err
	}
	s.cfg, s.activities = cfg, nil
	if s.parser == nil {
		s.parser = parse.New(parse.Options{CacheDir: t.cacheDir()})
	}
	if err := t.observe(s); err != nil {
		return err
	}
	if cfg != nil {
		a, err := worker.NewActivities(cfg, t.binding(s, t.model(), s.roots))
		if err != nil {
			return err
		}
		s.activities = append(s.activities, a)
		if s.queue == "" {
			s.queue = cfg.Temporal.TaskQueue
		}
		if s.namespace == "" {
			s.namespace = cfg.Temporal.Namespace
		}
	}
	if s.queue == "" {
		s.queue = defaultQueue
	}
	if s.namespace == "" {
		s.namespace = t.env.Get("TEMPORAL_NAMESPACE")
	}
	if s.namespace == "" {
		s.namespace = client.DefaultNamespace
	}
	return t.bindSamples(s)
}

// observe sets telemetry up, as the user's configuration has it at the start.
func (t *tool) observe(s *stack) (err error) {
	if s.observed != nil {
		return nil
	}
	var to config.Telemetry
	if s.cfg != nil {
		to = s.cfg.Telemetry
	}
	s.observed, err = telemetry.New(context.Background(), telemetry.Options{OTLPEndpoint: to.OTLPEndpoint, Metrics: to.Metrics != "", Version: t.version().Version})
	return err
}

func (t *tool) binding(s *stack, model string, roots []string) worker.Options {
	return worker.Options{
		Lookup: t.env, Model: model, Record: s.record, Roots: roots, Parser: s.parser, Tracer: s.observed.Tracer, Meter: s.observed.Meter,
	}
}

// bindSamples binds the samples' nodes. A file that the user may read, the
// samples may read.
func (t *tool) bindSamples(s *stack) error {
	roots := s.allRoots()
	s.samplesModel = t.sampleModel()
	for _, sample := range samples.All() {
		if sample.Config == "" {
			continue
		}
		cfg, err := sampleConfig(sample)
		if err != nil {
			return err
		}
		a, err := worker.NewActivities(cfg, t.binding(s, s.samplesModel, roots))
		if err != nil {
			return err
		}
		s.activities = append(s.activities, a)
	}
	return nil
}

// allRoots are the folders that file paths may point into.
func (s *stack) allRoots() []string {
	if s.cfg == nil {
		return s.roots
	}
	return append(s.cfg.Roots(), s.roots...)
}

func sampleConfig(s samples.Sample) (*config.Worker, error) {
	home := config.Home{FS: s.Files, File: "samples/" + s.Name + "/" + s.Config}
	data, err := home.Read(s.Config)
	if err != nil {
		return nil, err
	}
	return config.Parse(home, data, config.Options{Local: true})
}

// start starts the server, then the worker. What was started is stopped again
// when a later step fails.
func (s *stack) start(ctx context.Context, o embedded.Options, logger *slog.Logger) (err error) {
	s.fatal = make(chan error, 1)
	if s.namespace != client.DefaultNamespace {
		o.Namespaces = append(o.Namespaces, s.namespace)
	}
	if s.server, err = embedded.Start(ctx, o); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	plugin, err := s.activities[0].Plugin() // for the client's converter and tracing; serve registers
	if err != nil {
		return err
	}
	s.client, err = client.DialContext(ctx, client.Options{
		HostPort: s.server.Address(), Namespace: s.namespace, Logger: log.NewStructuredLogger(logger),
		MetricsHandler: s.observed.SDK, Plugins: []client.Plugin{worker.ClientOnly(plugin)},
	})
	if err != nil {
		return err
	}
	if err := s.serve(); err != nil {
		return err
	}
	if s.cfg != nil {
		s.servers, err = listen(s.cfg.Telemetry, s.observed.Handler, func(ctx context.Context) error { return answers(ctx, s.client) })
	}
	return err
}

// localStop is how long a local worker lets activities finish: a call that is
// cut is run again, since the server remembers it.
const localStop = time.Second

// serve starts a worker with the present binding, and only then stops the
// previous one.
func (s *stack) serve() error {
	previous := s.running
	running, err := worker.Serve(s.client, worker.Service{
		TaskQueue: s.queue, Activities: s.activities, Workflows: samples.Register, Stop: localStop,
		OnFatal: func(err error) {
			select {
			case s.fatal <- err:
			default:
			}
		},
	})
	if err != nil {
		return err
	}
	s.running = running
	if previous != nil {
		previous.Stop()
	}
	return nil
}

// stop stops everything in the opposite order. It is safe on a stack that was
// started in part.
func (s *stack) stop() error {
	s.servers.close()
	if s.running != nil {
		s.running.Stop()
	}
	if s.client != nil {
		s.client.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	errs := []error{s.observed.Shutdown(ctx)}
	if s.parser != nil {
		errs = append(errs, s.parser.Close())
	}
	if s.server != nil {
		errs = append(errs, s.server.Stop(ctx))
	}
	return errors.Join(errs...)
}

// stateDir is where a local stack keeps its data, below the working folder.
const stateDir = ".holodeck"

// makeStateDir makes the folder, which ignores itself in git.
func (t *tool) makeStateDir() (string, error) {
	dir := t.absolute(stateDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fault.New(fault.Config, "make "+dir, "Run in a folder that can be written, or use --ephemeral.", "%w", fault.Cause(err))
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o644); err != nil {
			return "", fault.New(fault.Config, "write "+ignore, "Run in a folder that can be written, or use --ephemeral.", "%w", fault.Cause(err))
		}
	}
	return dir, nil
}
