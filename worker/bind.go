package worker

import (
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holodeck-run/holodeck/agent"
	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/gate"
	"github.com/holodeck-run/holodeck/model"
)

// bind makes an agent of every node, or says everything that is wrong.
func (a *Activities) bind(o Options) error {
	var errs []error
	if a.cfg.Storage.URL != "" {
		errs = append(errs, fault.New(fault.Config, "read "+a.cfg.Home.File, "Remove storage.url.", "storage is not available in this version"))
	}
	for _, n := range a.cfg.Nodes {
		bound, nodeErrs := a.bindNode(n, o)
		a.nodes = append(a.nodes, bound)
		for _, err := range nodeErrs {
			errs = append(errs, inNode(n.ID, err))
		}
	}
	return join(errs)
}

func (a *Activities) bindNode(n config.Node, o Options) (*node, []error) {
	var errs []error
	g, err := a.loadGate(n.Gate.Schema)
	if err != nil {
		errs = append(errs, err)
	}
	cfg, err := config.LoadAgent(a.cfg.Home, n.Edge.Agent, o.Lookup)
	if err != nil {
		return nil, append(errs, err)
	}
	a.sources = append(a.sources, append(cfg.Sources, n.Gate.Schema)...)
	for _, w := range cfg.Warnings { // nodes may share an agent, and a configuration may be bound again
		if !slices.Contains(a.cfg.Warnings, w) {
			a.cfg.Warnings = append(a.cfg.Warnings, w)
		}
	}
	if _, err := gate.Compile(cfg.File+": response_format", cfg.Schema); err != nil {
		errs = append(errs, err)
	}
	spec, err := modelSpec(cfg, a.cfg.Home, o)
	if err != nil {
		return nil, append(errs, err)
	}
	if n.Limits.MaxCostUSD > 0 && cfg.Model.Price == (config.Price{}) {
		errs = append(errs, fault.New(fault.Config, "read "+cfg.File, "Set model.price {input, output} in US dollars for a million tokens.", "limits.max_cost_usd needs the model's price"))
	}
	client, err := newClient(spec, o, a)
	if err != nil {
		errs = append(errs, err)
	}
	if errs != nil {
		return nil, errs
	}
	return &node{
		cfg: n, name: cfg.Name, model: strings.TrimSuffix(spec.Provider+":"+spec.Name, ":"),
		agent: agent.New(agent.Spec{
			ID: n.ID, System: cfg.System, Schema: cfg.Schema, Gate: g, Client: client, Files: a.files, Reask: n.Reask,
			Limits: agent.Limits{
				Tokens: int64(n.Limits.MaxTokensTotal), CostUSD: n.Limits.MaxCostUSD,
				InputPrice: cfg.Model.Price.Input, OutPrice: cfg.Model.Price.Output,
			},
		}),
	}, nil
}

func (a *Activities) loadGate(name string) (*gate.Gate, error) {
	show := a.cfg.Home.Show(name)
	data, err := a.cfg.Home.Read(name)
	if err != nil {
		return nil, fault.New(fault.GateSchema, "read gate "+show, "Correct gate.schema; it is relative to the folder of "+a.cfg.Home.File+".", "%w", fault.Cause(err))
	}
	return gate.Compile(show, data)
}

func newClient(s model.Spec, o Options, a *Activities) (model.Client, error) {
	c, err := model.New(s)
	if err == nil && o.Record != "" && s.Provider != "rules" && s.Provider != "replay" {
		c, err = model.Recorder(c, o.Record)
	}
	if err != nil {
		return nil, err
	}
	return observed{c, s, a}, nil
}

// modelSpec merges the agent's model with the override of one run. The
// override keeps what is not tied to a provider.
func modelSpec(cfg *config.Agent, home config.Home, o Options) (model.Spec, error) {
	m := cfg.Model
	s := model.Spec{
		Provider: m.Provider, Name: m.Name, Endpoint: m.Endpoint, APIKey: m.APIKey, APIVersion: m.APIVersion,
		Temperature: m.Temperature, TopP: m.TopP, MaxTokens: m.MaxTokens, Timeout: m.Timeout,
		Recordings: recordings(m.Recordings, home, cfg.File), HTTP: o.HTTP,
	}
	if o.Model != "" {
		provider, name, ok := strings.Cut(o.Model, ":")
		if provider == "rules" && m.Provider != "rules" && len(m.Rules) == 0 {
			return s, fault.New(fault.Config, "apply HOLODECK_MODEL", "Name a provider and a model, such as openai:gpt-5-mini.", "agent %s has no rules", cfg.Name)
		}
		if provider != "rules" && (!ok || name == "") {
			return s, fault.New(fault.Config, "apply HOLODECK_MODEL", "Write provider:name, such as openai:gpt-5-mini.", "it is %q", o.Model)
		}
		if provider != m.Provider {
			s.Endpoint, s.APIKey, s.APIVersion = "", "", ""
		}
		s.Provider, s.Name = provider, name
		if provider == "replay" {
			s.Recordings, s.Name = name, ""
		}
	}
	if s.Endpoint == "" && s.Provider == "ollama" {
		s.Endpoint = ollamaHost(o.Lookup.Get("OLLAMA_HOST"))
	}
	if v := model.KeyVariable(s.Provider); s.APIKey == "" && v != "" {
		s.APIKey = o.Lookup.Get(v)
	}
	if s.Provider == "rules" {
		s.Rules = rules(m.Rules)
	}
	return s, nil
}

// ollamaHost reads OLLAMA_HOST as Ollama does: host, host:port or a URL; the
// port is 11434 unless a scheme says another.
func ollamaHost(v string) string {
	if v == "" || strings.Contains(v, "://") {
		return v
	}
	if u, err := url.Parse("http://" + v); err == nil && u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), "11434")
		return u.String()
	}
	return "http://" + v
}

func recordings(dir string, home config.Home, agentFile string) string {
	if dir == "" || filepath.IsAbs(dir) || home.Dir == "" {
		return dir
	}
	return filepath.Join(filepath.Dir(agentFile), dir)
}

func rules(declared map[string]config.Rule) map[string]model.Rule {
	out := map[string]model.Rule{}
	for path, r := range declared {
		rule := model.Rule{Match: r.Match, As: r.As, All: r.All, Text: r.Text}
		if r.Default != nil {
			rule.Default = r.Default.JSON
		}
		for _, c := range r.OneOf {
			rule.OneOf = append(rule.OneOf, model.Choice{Value: c.Value.JSON, Keywords: c.Keywords})
		}
		out[path] = rule
	}
	return out
}

// inNode says which node a fault belongs to.
func inNode(id string, err error) error {
	e, ok := fault.As(err)
	if !ok {
		return err
	}
	if _, positioned := e.Err.(config.Faults); positioned {
		return e // the faults name their file
	}
	out := *e
	out.Op = strings.TrimSuffix("node "+id+": "+e.Op, ": ")
	return &out
}
