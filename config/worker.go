// Package config reads worker.yaml and the agent.yaml files it names.
//
// In goes a file and an environment; out comes a [Worker] with its agents, or
// every fault of the file at once, each with file:line:column and the nearest
// known name. Unknown keys, duplicate keys, wrong types and blank values are
// faults. Relative paths belong to the file's folder and may not leave it.
//
// The package opens no connection and compiles no schema: that is worker's.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/internal/strict"
	"github.com/holodeck-run/holodeck/payload"
)

// Fault is one thing wrong with a file, at its place.
type Fault = strict.Fault

// Faults is everything wrong with a configuration, in reading order.
type Faults = strict.Faults

// Lookup finds an environment variable, as os.LookupEnv does.
type Lookup func(name string) (value string, ok bool)

// Worker is worker.yaml.
type Worker struct {
	Temporal   Temporal   `yaml:"temporal"`
	Nodes      []Node     `yaml:"nodes"`
	Files      Files      `yaml:"files"`
	Storage    Storage    `yaml:"storage"`
	Worker     Limits     `yaml:"worker"`
	Telemetry  Telemetry  `yaml:"telemetry"`
	Deployment Deployment `yaml:"deployment"`

	Home     Home     `yaml:"-"` // where the file lies
	Warnings []string `yaml:"-"` // what was accepted but means nothing here
}

// Temporal is the cluster and the queue. Empty fields leave the choice to the
// temporal.toml profile and then to the default.
type Temporal struct {
	Address   string `yaml:"address"`
	Namespace string `yaml:"namespace"`
	TaskQueue string `yaml:"task_queue"`
	TLS       TLS    `yaml:"tls"`
	APIKeyEnv string `yaml:"api_key_env"` // names the variable that holds the key
	Profile   string `yaml:"profile"`     // of temporal.toml
}

// TLS is `true`, `false` or the files of a client certificate.
type TLS struct {
	Set        bool // the key is in the file
	Enabled    bool
	Cert       string
	Key        string
	CA         string
	ServerName string
}

// DecodeYAML implements strict.Unmarshaler.
func (t *TLS) DecodeYAML(d *strict.Decoder, n *yaml.Node, path string) {
	t.Set = true
	if n.Kind == yaml.ScalarNode {
		on, err := strict.ParseBool(n.Value)
		if err != nil {
			d.Add(n, path, fmt.Sprintf("must be true, false or {cert, key, ca, server_name}, got %q", n.Value))
		}
		t.Enabled = on
		return
	}
	var files struct {
		Cert       string `yaml:"cert"`
		Key        string `yaml:"key"`
		CA         string `yaml:"ca"`
		ServerName string `yaml:"server_name"`
	}
	d.Value(n, &files, path)
	if (files.Cert == "") != (files.Key == "") {
		d.Add(n, path, "cert and key belong together; give both or neither")
	}
	*t = TLS{true, true, files.Cert, files.Key, files.CA, files.ServerName}
}

// Node is one agent activity.
type Node struct {
	ID     string     `yaml:"id" rule:"required"`
	Edge   Edge       `yaml:"edge" rule:"required"`
	Gate   Gate       `yaml:"gate" rule:"required"`
	Source string     `yaml:"source"`
	Reask  int        `yaml:"reask"`
	Limits NodeLimits `yaml:"limits"`
}

// Edge names the agent that a node calls.
type Edge struct {
	Agent string `yaml:"agent" rule:"required"`
}

// Gate names the JSON Schema that a node's answer must pass.
type Gate struct {
	Schema string
}

// DecodeYAML implements strict.Unmarshaler. It takes the peer's other spelling,
// schema_path, too.
func (g *Gate) DecodeYAML(d *strict.Decoder, n *yaml.Node, path string) {
	var keys struct {
		Schema     string `yaml:"schema"`
		SchemaPath string `yaml:"schema_path"`
	}
	before := len(d.Faults())
	d.Value(n, &keys, path)
	switch {
	case keys.Schema != "" && keys.SchemaPath != "":
		d.Add(n, path, "schema and schema_path are the same key; give one")
	case keys.Schema == "" && keys.SchemaPath == "" && len(d.Faults()) == before:
		d.Add(n, path+".schema", "is missing; it is required")
	}
	g.Schema = keys.Schema + keys.SchemaPath
}

// NodeLimits bounds what one activity attempt may spend; 0 means no bound.
type NodeLimits struct {
	MaxTokensTotal int     `yaml:"max_tokens_total"`
	MaxCostUSD     float64 `yaml:"max_cost_usd"`
}

// Files says where references may point.
type Files struct {
	Roots      []string `yaml:"roots"`       // relative to the file's folder; default: that folder
	AllowHosts []string `yaml:"allow_hosts"` // exempt from the address guard
}

// Storage is the claim check.
type Storage struct {
	URL       string      `yaml:"url"`
	Threshold strict.Size `yaml:"threshold"`
}

// Limits bounds what the worker process does at once.
type Limits struct {
	MaxConcurrentParse  int           `yaml:"max_concurrent_parse"`
	MaxConcurrentAgents int           `yaml:"max_concurrent_agents"`
	AgentsPerSecond     float64       `yaml:"agents_per_second"` // 0: no bound
	StopTimeout         time.Duration `yaml:"stop_timeout"`
}

// Telemetry is where traces go and metrics and health can be asked for; empty
// means off.
type Telemetry struct {
	OTLPEndpoint string `yaml:"otlp_endpoint"`
	Metrics      string `yaml:"metrics"`
	Health       string `yaml:"health"`
}

// Deployment is Worker Versioning's name and build id; an empty name is off.
type Deployment struct {
	Name    string `yaml:"name"`
	BuildID string `yaml:"build_id"`
}

// Home is the folder of a configuration file, real or compiled in.
type Home struct {
	FS   fs.FS  // rooted at the folder; confines every path of the file
	File string // the file's name, as it is shown in messages
	Dir  string // the folder on disk; empty when compiled in
}

// Read returns the content of a file inside the folder. What is no regular
// file is refused: reading a pipe would wait for whoever writes to it.
func (h Home) Read(name string) ([]byte, error) {
	name = path.Clean(filepath.ToSlash(name))
	about, err := fs.Stat(h.FS, name)
	if err != nil {
		return nil, err
	}
	if !about.Mode().IsRegular() && !about.IsDir() { // a folder says so itself
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("not a regular file")}
	}
	return fs.ReadFile(h.FS, name)
}

// Show returns how to call a file of the folder in a message.
func (h Home) Show(name string) string {
	return filepath.Join(filepath.Dir(h.File), filepath.FromSlash(name))
}

// OpenHome returns the Home of a file on disk. The returned Home stays valid
// for the life of the process.
func OpenHome(file string) (Home, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return Home{}, fault.New(fault.FileNotFound, "read "+file, "Name the configuration with --config.", "no such file")
	}
	dir, err := filepath.Abs(filepath.Dir(real))
	if err != nil {
		return Home{}, fmt.Errorf("find folder of %s: %w", file, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Home{}, fmt.Errorf("open folder of %s: %w", file, err)
	}
	return Home{FS: root.FS(), File: file, Dir: dir}, nil
}

// Options changes what Load asks of a file.
type Options struct {
	Lookup    Lookup // the environment; nil: none
	TaskQueue string // from a flag; beats environment and file
	Local     bool   // for a local stack: no nodes and no task queue are fine
}

// Load reads the worker.yaml at file. Its fault is of kind Config (the cause
// is [Faults]) or FileNotFound.
func Load(file string, o Options) (*Worker, error) {
	home, err := OpenHome(file)
	if err != nil {
		return nil, err
	}
	data, err := home.Read(filepath.Base(resolved(file)))
	if err != nil {
		return nil, fault.New(fault.FileNotFound, "read "+file, "Name a readable file with --config.", "%w", fault.Cause(err))
	}
	return Parse(home, data, o)
}

// Parse reads a worker.yaml already in memory.
func Parse(home Home, data []byte, o Options) (*Worker, error) {
	w := &Worker{Home: home}
	d := strict.Decode(home.File, data, w)
	w.Warnings = d.Warnings()
	w.override(d, o)
	w.check(d, o)
	if d.Faults() != nil {
		return nil, &fault.Error{Kind: fault.Config, Err: d.Faults()}
	}
	w.defaults()
	return w, nil
}

// override applies the environment and the flag. A variable that is set but
// blank is a fault, not a default.
func (w *Worker) override(d *strict.Decoder, o Options) {
	for _, v := range []struct {
		name  string
		field *string
	}{
		{"TEMPORAL_ADDRESS", &w.Temporal.Address},
		{"TEMPORAL_NAMESPACE", &w.Temporal.Namespace},
		{"TEMPORAL_TASK_QUEUE", &w.Temporal.TaskQueue},
	} {
		text, err := o.Lookup.NonBlank(v.name)
		if err != nil {
			d.AddFault(Fault{File: "environment", Field: v.name, Text: "is set but blank; set a value or unset it"})
		} else if text != "" {
			*v.field = text
		}
	}
	if o.TaskQueue != "" {
		w.Temporal.TaskQueue = o.TaskQueue
	}
}

var nodeID = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// reserved names are those of built-in activities, present and promised.
func reserved() []string {
	return []string{payload.ParseDocument, "evaluate_table", "check_gate", "ingest_upload", "describe_uploads"}
}

func (w *Worker) check(d *strict.Decoder, o Options) {
	if w.Temporal.TaskQueue == "" && !o.Local && !d.Has("temporal.task_queue") {
		d.AddField("temporal.task_queue", "is missing; set it here, in TEMPORAL_TASK_QUEUE or with --task-queue")
	}
	if len(w.Nodes) == 0 && !o.Local && !d.Has("nodes") {
		d.AddField("nodes", "must hold at least one node")
	}
	w.checkNodes(d)
	for _, c := range []struct {
		field string
		bad   bool
	}{
		{"worker.max_concurrent_parse", w.Worker.MaxConcurrentParse < 0},
		{"worker.max_concurrent_agents", w.Worker.MaxConcurrentAgents < 0},
		{"worker.agents_per_second", w.Worker.AgentsPerSecond < 0},
	} {
		if c.bad {
			d.AddField(c.field, "must not be negative")
		}
	}
}

func (w *Worker) checkNodes(d *strict.Decoder) {
	first := map[string]int{}
	for i, n := range w.Nodes {
		at := fmt.Sprintf("nodes[%d]", i)
		switch {
		case n.ID == "":
		case !nodeID.MatchString(n.ID):
			d.AddField(at+".id", fmt.Sprintf("%q may hold letters, digits, '_', '.' and '-' only; it is the activity's name", n.ID))
		case isReserved(n.ID):
			d.AddField(at+".id", fmt.Sprintf("%q is a built-in activity; choose another name", n.ID))
		default:
			if j, dup := first[n.ID]; dup {
				d.AddField(at+".id", fmt.Sprintf("%q is already the id of nodes[%d]; ids are unique", n.ID, j))
			} else {
				first[n.ID] = i
			}
		}
		inside(d, at+".edge.agent", n.Edge.Agent)
		inside(d, at+".gate.schema", n.Gate.Schema)
		if n.Reask < 0 || n.Reask > 10 {
			d.AddField(at+".reask", "must lie between 0 and 10")
		}
		if n.Limits.MaxTokensTotal < 0 {
			d.AddField(at+".limits.max_tokens_total", "must not be negative")
		}
		if n.Limits.MaxCostUSD < 0 {
			d.AddField(at+".limits.max_cost_usd", "must not be negative")
		}
	}
}

func isReserved(id string) bool {
	return slices.Contains(reserved(), id)
}

// inside reports a path that leaves the folder by its spelling; one that
// leaves it by a symlink is refused when it is read.
func inside(d *strict.Decoder, field, name string) {
	if name != "" && !filepath.IsLocal(filepath.FromSlash(name)) {
		d.AddField(field, fmt.Sprintf("%q leaves the folder of the file; move it inside", name))
	}
}

func (w *Worker) defaults() {
	if w.Files.Roots == nil && w.Home.Dir != "" {
		w.Files.Roots = []string{"."}
	}
	if w.Worker.MaxConcurrentAgents == 0 {
		w.Worker.MaxConcurrentAgents = 100
	}
	if w.Worker.MaxConcurrentParse == 0 {
		w.Worker.MaxConcurrentParse = 2
	}
	if w.Worker.StopTimeout == 0 {
		w.Worker.StopTimeout = 60 * time.Second
	}
	if w.Storage.Threshold == 0 {
		w.Storage.Threshold = 256 << 10
	}
}

// Roots returns files.roots as absolute folders.
func (w *Worker) Roots() []string {
	roots := make([]string, len(w.Files.Roots))
	for i, r := range w.Files.Roots {
		if !filepath.IsAbs(r) {
			r = filepath.Join(w.Home.Dir, r)
		}
		roots[i] = r
	}
	return roots
}
