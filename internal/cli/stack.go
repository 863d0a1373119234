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
	if cfg != nil {
		a, err := worker.NewActivities(cfg, worker.Options{Lookup: t.env, Model: t.model(), Record: s.record, Roots: s.roots, Parser: s.parser})
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
		s.namespace = client.DefaultNamespace
	}
	return t.bindSamples(s)
}

// bindSamples binds the samples' nodes. A file that the user may read, the
// samples may read.
func (t *tool) bindSamples(s *stack) error {
	roots := s.roots
	if s.cfg != nil {
		roots = append(s.cfg.Roots(), roots...)
	}
	s.samplesModel = t.sampleModel()
	for _, sample := range samples.All() {
		if sample.Config == "" {
			continue
		}
		cfg, err := sampleConfig(sample)
		if err != nil {
			return err
		}
		a, err := worker.NewActivities(cfg, worker.Options{Lookup: t.env, Model: s.samplesModel, Record: s.record, Roots: roots, Parser: s.parser})
		if err != nil {
			return err
		}
		s.activities = append(s.activities, a)
	}
	return nil
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
	s.client, err = client.DialContext(ctx, client.Options{
		HostPort: s.server.Address(), Namespace: s.namespace, DataConverter: worker.DataConverter(), Logger: log.NewStructuredLogger(logger),
	})
	if err != nil {
		return err
	}
	return s.serve()
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
	if s.running != nil {
		s.running.Stop()
	}
	if s.client != nil {
		s.client.Close()
	}
	var errs []error
	if s.parser != nil {
		errs = append(errs, s.parser.Close())
	}
	if s.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
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
		return "", fault.New(fault.Config, "make "+dir, "Run in a folder that can be written, or use --ephemeral.", "%w", err)
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o644); err != nil {
			return "", fault.New(fault.Config, "write "+ignore, "Run in a folder that can be written, or use --ephemeral.", "%w", err)
		}
	}
	return dir, nil
}
