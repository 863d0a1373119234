package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/worker"
)

// state is what a running dev says of itself in .holodeck/dev.json.
type state struct {
	PID       int      `json:"pid"`
	Address   string   `json:"address"`
	Namespace string   `json:"namespace"`
	TaskQueue string   `json:"task_queue"`
	UI        string   `json:"ui"`
	Roots     []string `json:"roots"` // folders that file paths may point into
	Metrics   string   `json:"metrics"`
	HTTP      string   `json:"http"`
}

const stateFile = "dev.json"

func (t *tool) readState() (state, bool) {
	data, err := os.ReadFile(filepath.Join(t.absolute(stateDir), stateFile))
	if err != nil {
		return state{}, false
	}
	var s state
	return s, json.Unmarshal(data, &s) == nil && s.Address != ""
}

// queueOf returns the task queue that the user names; "" for none.
func (t *tool) queueOf(c *cli.Context) string {
	for _, q := range []string{c.String("task-queue"), t.env.Get("HOLODECK_TASK_QUEUE"), t.env.Get("TEMPORAL_TASK_QUEUE")} {
		if q != "" {
			return q
		}
	}
	return ""
}

// runningStack connects to the stack that the user names, else to the dev of
// this folder, else to one at the default address whose queue a worker polls.
// It returns nil if there is none.
func (t *tool) runningStack(c *cli.Context) (*target, error) {
	address := c.String("address")
	if address == "" {
		address = t.env.Get("TEMPORAL_ADDRESS")
	}
	profile := t.env.Get("TEMPORAL_PROFILE") != ""
	if address != "" || profile {
		return t.connect(c, config.Temporal{Address: address, Namespace: c.String("namespace"), TaskQueue: t.queueOf(c)}, 5*time.Second)
	}
	if s, ok := t.readState(); ok {
		queue := t.queueOf(c)
		if queue == "" {
			queue = s.TaskQueue
		}
		namespace := c.String("namespace")
		if namespace == "" {
			namespace = s.Namespace
		}
		g, err := t.connect(c, config.Temporal{Address: s.Address, Namespace: namespace, TaskQueue: queue}, 0)
		if err == nil {
			return t.ifItSees(c, g, s.Roots), nil
		}
		if refused(c, err) {
			return nil, err
		}
	}
	g, err := t.connect(c, config.Temporal{Address: client.DefaultHostPort, Namespace: c.String("namespace"), TaskQueue: t.queueOf(c)}, 0)
	if refused(c, err) {
		return nil, err
	}
	if err != nil {
		return nil, nil // nothing answers there: the caller starts a stack
	}
	if t.queueOf(c) == "" && !polled(c.Context, g) {
		g.close()
		return nil, nil
	}
	return t.ifItSees(c, g, nil), nil
}

// refused says whether a stack that is there lacks what the user asked for by
// name: another stack would not be what was asked for.
func refused(c *cli.Context, err error) bool {
	return c.String("namespace") != "" && fault.Is(err, fault.Config)
}

// ifItSees returns g, or nil when a sample is to read files that the found
// stack's worker may not: a stack of its own is then started. Roots are those
// of a dev of this folder; what another one may read is not known.
func (t *tool) ifItSees(c *cli.Context, g *target, roots []string) *target {
	if !isSample(c.Args().First()) {
		return g
	}
	for _, f := range c.StringSlice("file") {
		if isURL(f) || slices.ContainsFunc(roots, func(root string) bool { return below(root, t.absolute(f)) }) {
			continue
		}
		t.note("The stack at %s may not read %s: this run has a stack of its own.", g.where, f)
		g.close()
		return nil
	}
	return g
}

// below says whether a path lies in a folder, symlinks of both resolved.
func below(folder, path string) bool {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

func (t *tool) connect(c *cli.Context, to config.Temporal, timeout time.Duration) (*target, error) {
	cl, o, err := worker.Dial(c.Context, worker.Connection{Temporal: to, Lookup: t.env, Environ: t.Environ, Timeout: timeout})
	if err != nil {
		return nil, err
	}
	queue := to.TaskQueue
	if queue == "" {
		queue = defaultQueue
	}
	g := &target{client: cl, queue: queue, where: o.HostPort}
	if timeout > 0 && !polled(c.Context, g) {
		t.note("No worker polls the task queue %s at %s; waiting for one.", queue, o.HostPort)
	}
	return g, nil
}

// polled says whether a worker polls the target's queue for workflows.
func polled(ctx context.Context, g *target) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	d, err := g.client.DescribeTaskQueue(ctx, g.queue, enums.TASK_QUEUE_TYPE_WORKFLOW)
	return err == nil && len(d.GetPollers()) > 0
}

// oneStack is for commands that need a running stack.
func (t *tool) oneStack(c *cli.Context) (*target, error) {
	g, err := t.runningStack(c)
	if err != nil {
		return nil, err
	}
	if g == nil {
		return nil, fault.New(fault.Config, "", "Start holodeck dev, or name a cluster with --address.", "no stack is running here")
	}
	return g, nil
}
