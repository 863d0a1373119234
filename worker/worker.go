// Package worker binds configuration to Temporal activities.
//
// In goes a worker.yaml with its agents and gates; out come [Activities]: one
// per node, and the built-in parse_document, registered with a worker of the
// user's ([NewPlugin]) or served by a process of our own ([Serve]). Everything
// that can be checked is checked when binding, before the first poll, and all
// faults of all nodes are listed together.
//
// This is the floor that knows Temporal: faults become application failures
// here, in one place, payloads are decoded strictly, and a result that history
// cannot carry fails once, with the fix in its message. The package reads no
// environment and starts no server.
package worker

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"golang.org/x/time/rate"

	"github.com/holodeck-run/holodeck/agent"
	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/parse"
	"github.com/holodeck-run/holodeck/payload"
)

// Options changes how a configuration is bound. The zero value works.
type Options struct {
	Lookup   config.Lookup     // the environment, for keys and ${NAME}; nil: none
	Model    string            // "provider:name", replaces every agent's model; HOLODECK_MODEL
	Record   string            // folder to keep real providers' answers in
	Roots    []string          // more folders that paths may point into
	CacheDir string            // where compiled code is kept; "" none
	Tracer   trace.Tracer      // nil: no spans of our own
	Meter    metric.Meter      // nil: no metrics of our own
	HTTP     http.RoundTripper // for model providers; nil: the default
	Parser   *parse.Parser     // shared with another binding; nil: one of its own
}

// Activities is a bound configuration. It is safe for concurrent use.
type Activities struct {
	cfg     *config.Worker
	parser  *parse.Parser
	files   *file.Source
	nodes   []*node
	sources []string // what the nodes were read from
	limits  limits
	parsing chan struct{} // slots
	calling chan struct{}
	rate    *rate.Limiter
	meters  meters
	tracer  trace.Tracer

	stopTime time.Duration // of the worker that serves them; 0: not known
}

// node is one bound agent activity.
type node struct {
	cfg   config.Node
	agent *agent.Agent
	name  string // of the agent
	model string // "provider:name"
}

// NewActivities binds cfg. Its fault lists everything that is wrong with any
// node; the kind is that of the first.
func NewActivities(cfg *config.Worker, o Options) (*Activities, error) {
	files, err := file.NewSource(file.Options{Roots: slices.Concat(cfg.Roots(), o.Roots), AllowHosts: cfg.Files.AllowHosts})
	if err != nil {
		return nil, err
	}
	a := &Activities{
		cfg: cfg, files: files, parser: o.Parser, tracer: o.Tracer,
		parsing: make(chan struct{}, max(cfg.Worker.MaxConcurrentParse, 1)),
		calling: make(chan struct{}, max(cfg.Worker.MaxConcurrentAgents, 1)),
	}
	if a.meters, err = newMeters(o.Meter); err != nil {
		return nil, err
	}
	if cfg.Worker.AgentsPerSecond > 0 {
		a.rate = rate.NewLimiter(rate.Limit(cfg.Worker.AgentsPerSecond), max(1, int(cfg.Worker.AgentsPerSecond)))
	}
	if err := a.bind(o); err != nil {
		return nil, err
	}
	if a.parser == nil {
		a.parser = parse.New(parse.Options{CacheDir: o.CacheDir})
	}
	return a, nil
}

// Names returns the names of the activities, sorted, built-ins first.
func (a *Activities) Names() []string {
	names := make([]string, 0, len(a.nodes)+1)
	for _, n := range a.nodes {
		names = append(names, n.cfg.ID)
	}
	slices.Sort(names)
	return append([]string{payload.ParseDocument}, names...)
}

// Sources returns the files that the nodes were read from, relative to the
// configuration's folder: agents, what they name, gates.
func (a *Activities) Sources() []string { return slices.Clone(a.sources) }

// Models returns which model each node calls, as "provider:name" by node id.
func (a *Activities) Models() map[string]string {
	models := map[string]string{}
	for _, n := range a.nodes {
		models[n.cfg.ID] = n.model
	}
	return models
}

// Warm starts what the first document would otherwise wait for.
func (a *Activities) Warm(ctx context.Context) error { return a.parser.Warm(ctx) }

// Close releases the document engine; no activity may run any more.
func (a *Activities) Close() error { return a.parser.Close() }

// Registry is what activities are registered with: a worker, or one of the
// SDK's test environments.
type Registry interface {
	RegisterActivityWithOptions(a any, o activity.RegisterOptions)
}

// Register registers every activity under its name.
func (a *Activities) Register(r Registry) { a.RegisterExcept(r, nil) }

// RegisterExcept registers all activities but those named.
func (a *Activities) RegisterExcept(r Registry, names []string) {
	add := func(name string, run func(context.Context, converter.RawValue) (converter.RawValue, error)) {
		if !slices.Contains(names, name) {
			r.RegisterActivityWithOptions(run, activity.RegisterOptions{Name: name})
		}
	}
	add(payload.ParseDocument, serve(a, payload.ParseDocument, a.parseDocument))
	for _, n := range a.nodes {
		add(n.cfg.ID, serve(a, n.cfg.ID, func(ctx context.Context, in payload.AgentInput) (payload.AgentResult, error) {
			return a.invoke(ctx, n, in)
		}))
	}
}

// resultOverhead is what a parse result needs beside its markdown: the
// reference, the metadata, the payload's own frame.
const resultOverhead = 16 << 10

func (a *Activities) parseDocument(ctx context.Context, ref payload.FileInput) (payload.Document, error) {
	if faults := ref.Faults(); faults != nil {
		return payload.Document{}, fault.New(fault.Config, "read file reference", "", "%w", payload.Faults(faults))
	}
	release, err := acquire(ctx, a.parsing)
	if err != nil {
		return payload.Document{}, err
	}
	defer release()
	start := time.Now()
	f, err := a.files.Open(ctx, ref)
	if err != nil {
		return payload.Document{}, err
	}
	defer func() { _ = f.Close() }()
	doc, err := a.parser.Parse(ctx, parse.Request{
		Ref: ref, File: f,
		Limit: a.limits.payload(ctx) - resultOverhead,
		Progress: func(done, total int) {
			activity.RecordHeartbeat(ctx, map[string]int{"done": done, "of": total})
		},
	})
	a.meters.parsed(ctx, f, time.Since(start), err)
	return doc, err
}

func (a *Activities) invoke(ctx context.Context, n *node, in payload.AgentInput) (payload.AgentResult, error) {
	release, err := acquire(ctx, a.calling)
	if err != nil {
		return payload.AgentResult{}, err
	}
	defer release()
	if a.rate != nil {
		if err := a.rate.Wait(ctx); err != nil {
			return payload.AgentResult{}, err
		}
	}
	ctx, span := a.startAgent(ctx, n)
	defer span.End()
	result, err := n.agent.Invoke(ctx, in)
	a.endAgent(ctx, span, n, result, err)
	return result, err
}

func acquire(ctx context.Context, slots chan struct{}) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join returns one fault for several errors; nil for none.
func join(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	if len(errs) == 1 {
		return errs[0]
	}
	kind := fault.Config
	if e, ok := fault.As(errs[0]); ok {
		kind = e.Kind
	}
	return &fault.Error{Kind: kind, Err: errors.Join(messages(errs)...)}
}

// messages keeps each fault's hint beside it.
func messages(errs []error) []error {
	out := make([]error, len(errs))
	for i, err := range errs {
		out[i] = err
		if e, ok := fault.As(err); ok {
			out[i] = errors.New(e.Message())
		}
	}
	return out
}
