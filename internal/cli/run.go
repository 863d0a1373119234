package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holodeck-run/holodeck/embedded"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/payload"
	"github.com/holodeck-run/holodeck/samples"
)

func (t *tool) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "start a workflow by name and print its result",
		ArgsUsage: "WORKFLOW",
		Description: `Starts WORKFLOW and waits for its result, which is printed as JSON. It uses the
running stack (--address, TEMPORAL_ADDRESS, or the holodeck dev of this folder or
machine); if there is none, it starts one in this process for as long as the
workflow runs. The samples are always known: ` + strings.Join(sampleNames(), ", ") + `.

Each --file becomes an item of the input's "files", with its type told from the
name. A sample on a file that the stack found may not read has a stack of its own.`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "input", Usage: "the workflow's input: `JSON` or @FILE"},
			&cli.StringSliceFlag{Name: "file", Aliases: []string{"f"}, Usage: "a file for the workflow: `PATH` or URL; may be repeated"},
			&cli.StringFlag{Name: "id", Usage: "the workflow's `ID`; default: its name and a random part"},
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "worker.yaml `FILE` for a stack started here"},
			&cli.DurationFlag{Name: "timeout", Usage: "give up waiting after this `DURATION`; the workflow is then cancelled", DefaultText: "wait for ever"},
			&cli.BoolFlag{Name: "ephemeral", Usage: "start a stack here even if one is running"},
			&cli.StringFlag{Name: "record", Usage: "keep the answers of real models in this `DIR`, for the replay provider"},
		}, connectionFlags()...),
		Action: t.run,
	}
}

func connectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "address", Usage: "Temporal's `HOST:PORT`"},
		&cli.StringFlag{Name: "namespace", Aliases: []string{"n"}, Usage: "Temporal `NAMESPACE`"},
		&cli.StringFlag{Name: "task-queue", Aliases: []string{"t"}, Usage: "task `QUEUE` of the workflow"},
	}
}

func sampleNames() []string {
	var names []string
	for _, s := range samples.Runnable() {
		names = append(names, s.Name)
	}
	return names
}

func (t *tool) run(c *cli.Context) error {
	if c.NArg() != 1 {
		return wrongUsage("Write holodeck run WORKFLOW, for example holodeck run hardship --file STATEMENT.pdf.", "run takes one workflow, and there are %d", c.NArg())
	}
	name := c.Args().First()
	input, err := t.workflowInput(c.String("input"), c.StringSlice("file"))
	if err != nil {
		return err
	}
	target, err := t.findTarget(c, name)
	if err != nil {
		return err
	}
	defer target.close()
	return t.follow(c, target, name, input)
}

// workflowInput merges --file into --input. No input at all sends none, so
// that a workflow without parameters can be run.
func (t *tool) workflowInput(raw string, files []string) (_ any, err error) {
	if path, ok := strings.CutPrefix(raw, "@"); ok {
		data, err := os.ReadFile(t.path(path))
		if err != nil {
			return nil, fault.New(fault.FileNotFound, "read --input "+path, "Name a readable file after the @.", "%w", fault.Cause(err))
		}
		raw = string(data)
	}
	if raw != "" && !json.Valid([]byte(raw)) {
		var v any
		return nil, wrongUsage(`Write JSON, such as --input '{"key": "value"}'.`, "--input is not JSON: %v", json.Unmarshal([]byte(raw), &v))
	}
	if len(files) == 0 {
		if raw == "" {
			return nil, nil
		}
		return json.RawMessage(raw), nil
	}
	object := map[string]json.RawMessage{}
	if raw != "" {
		if err := json.Unmarshal([]byte(raw), &object); err != nil {
			return nil, wrongUsage("Give an object, which the files can join.", "--input with --file must be a JSON object")
		}
		if _, taken := object["files"]; taken {
			return nil, wrongUsage("Use one of them.", `--file and "files" of --input both name files`)
		}
	}
	refs := make([]payload.FileInput, len(files))
	for i, f := range files {
		refs[i] = t.reference(f)
	}
	if object["files"], err = payload.Marshal(refs); err != nil {
		return nil, err
	}
	data, err := payload.Marshal(object)
	return json.RawMessage(data), err
}

func (t *tool) reference(name string) payload.FileInput {
	if isURL(name) {
		return payload.FileInput{URL: name, Type: file.DeclaredBy(strings.SplitN(name, "?", 2)[0])}
	}
	return payload.FileInput{Path: t.absolute(name), Type: file.DeclaredBy(name)}
}

func isURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// target is where a workflow is started.
type target struct {
	client client.Client
	queue  string
	local  *stack // started here; nil: somebody else's
	where  string
}

func (g *target) close() {
	if g.local != nil {
		_ = g.local.stop() // the result is out; a server that stops badly loses nothing of it
		return
	}
	g.client.Close()
}

// findTarget uses the running stack, or starts one.
func (t *tool) findTarget(c *cli.Context, workflow string) (*target, error) {
	if c.Bool("ephemeral") && c.String("address") != "" {
		return nil, wrongUsage("Leave one of them out.", "--ephemeral starts a stack here, and --address names another one")
	}
	if !c.Bool("ephemeral") {
		g, err := t.runningStack(c)
		if err != nil || g != nil {
			return g, err
		}
	}
	return t.startTarget(c, workflow)
}

func (t *tool) startTarget(c *cli.Context, workflow string) (*target, error) {
	s := &stack{queue: t.queueOf(c), namespace: c.String("namespace"), configFlag: c.String("config"), record: c.String("record"), roots: []string{t.absolute(".")}}
	for _, f := range c.StringSlice("file") {
		if isURL(f) {
			continue
		}
		if err := t.mustExist(f); err != nil {
			return nil, err
		}
		s.roots = append(s.roots, filepath.Dir(t.absolute(f)))
	}
	if !isSample(workflow) {
		return nil, fault.New(fault.Config, "run "+workflow, "Start holodeck dev and the worker that has it, or run a sample: "+strings.Join(sampleNames(), ", ")+".",
			"no stack is running, and %s is no sample", workflow)
	}
	if err := t.bindStack(s); err != nil {
		return nil, err
	}
	if s.samplesModel != "" {
		t.note("Model: %s (HOLODECK_MODEL=rules stays offline)", s.samplesModel)
	}
	logger, dump := quietLog()
	if err := s.start(c.Context, embedded.Options{Logger: logger}, logger); err != nil {
		dump(t.Stderr)
		return nil, err
	}
	return &target{client: s.client, queue: s.queue, local: s, where: "a stack in this process at " + s.server.Address()}, nil
}

func isSample(name string) bool { return slices.Contains(sampleNames(), name) }

// mustExist fails at once for what a worker here would not find either.
func (t *tool) mustExist(name string) error {
	info, err := os.Stat(t.path(name))
	if err != nil {
		return fault.New(fault.FileNotFound, string(fault.FileNotFound)+": open "+name, "Check the path of --file.", "%w", fault.Cause(err))
	}
	if info.IsDir() {
		return fault.New(fault.FileNotFound, string(fault.FileNotFound)+": open "+name, "Name a file inside it.", "it is a folder")
	}
	return nil
}

func (t *tool) follow(c *cli.Context, g *target, name string, input any) error {
	ctx := c.Context
	if d := c.Duration("timeout"); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	var args []any
	if input != nil {
		args = []any{input}
	}
	run, err := g.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflowID(c.String("id"), name), TaskQueue: g.queue, EnableEagerStart: g.local != nil,
		WorkflowIDConflictPolicy:                 enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, name, args...)
	if err != nil {
		return startFault(name, c.String("id"), input, err)
	}
	waiting, end := t.progress(ctx, g, run)
	var result json.RawMessage
	err = run.Get(waiting, &result)
	end()
	if hopeless := given(waiting); err != nil && hopeless != nil {
		stop, cancel := context.WithTimeout(c.Context, 5*time.Second)
		defer cancel()
		return errors.Join(hopeless, g.client.TerminateWorkflow(stop, run.GetID(), run.GetRunID(), hopeless.Error()))
	}
	if err != nil {
		return t.outcome(c.Context, ctx, g, run, err)
	}
	return t.printJSON(result)
}

func workflowID(id, name string) string {
	if id != "" {
		return id
	}
	return name + "-" + strings.ToLower(rand.Text()[:8])
}

// largeInput is when a refused start is put down to the input's size: the
// server's limit is 2 MiB unless its operator lowered it.
const largeInput = 1 << 20

func startFault(name, id string, input any, err error) error {
	if _, running := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); running {
		return fault.New(fault.Config, "run "+name, "Choose another --id, or leave it out.", "a workflow with the id %s is running already", id)
	}
	_, refused := errors.AsType[*serviceerror.InvalidArgument](err)
	if data, ok := input.(json.RawMessage); ok && refused && len(data) > largeInput {
		return fault.New(fault.PayloadsTooLarge, "run "+name, "Put what is large into a file and name it with --file.", "the input has %d bytes, and Temporal refuses it: %w", len(data), err)
	}
	return fmt.Errorf("run %s: %w", name, err)
}

// outcome explains why there is no result.
func (t *tool) outcome(outer, inner context.Context, g *target, run client.WorkflowRun, err error) error {
	if outer.Err() != nil {
		if g.local == nil {
			t.note("The workflow %s goes on at %s.", run.GetID(), g.where)
		}
		return outer.Err()
	}
	_, late := errors.AsType[*serviceerror.DeadlineExceeded](err)
	if late || inner.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		ctx, cancel := context.WithTimeout(outer, 5*time.Second)
		defer cancel()
		if err := g.client.CancelWorkflow(ctx, run.GetID(), run.GetRunID()); err != nil {
			return fmt.Errorf("cancel %s: %w", run.GetID(), err)
		}
		return fault.New(fault.Execution, "run "+run.GetID(), "Raise --timeout, or look at its history.", "no result in time; it was cancelled")
	}
	return failureOf(err)
}

// failureOf digs the application failure out of what the SDK wraps it in.
func failureOf(err error) error {
	if a, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		text, hint := a.Message(), ""
		if i := strings.LastIndex(text, ". "); i > 0 && !strings.Contains(text[i:], "\n") {
			text, hint = text[:i], text[i+2:]
		}
		if a.Type() != "" && a.Type() != "wrapError" { // the SDK's own wrapping says nothing
			text = a.Type() + ": " + text
		}
		return fault.New(fault.Kind(a.Type()), "", hint, "%s", text)
	}
	if _, ok := errors.AsType[*temporal.TerminatedError](err); ok {
		return fault.New(fault.Execution, "", "Start it again if it is still wanted.", "the workflow was terminated")
	}
	if _, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return fault.New(fault.Execution, "", "See that a worker for it is running, and look at its history.", "the workflow, or an activity of it, timed out")
	}
	if _, ok := errors.AsType[*temporal.CanceledError](err); ok {
		return fault.New(fault.Execution, "", "Start it again if it is still wanted.", "the workflow was cancelled")
	}
	return err
}
