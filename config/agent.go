package config

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/internal/strict"
)

// Agent is agent.yaml.
type Agent struct {
	Name           string         `yaml:"name" rule:"required"`
	Description    string         `yaml:"description"`
	Author         string         `yaml:"author"`
	Model          Model          `yaml:"model" rule:"required"`
	Instructions   Instructions   `yaml:"instructions" rule:"required"`
	ResponseFormat ResponseFormat `yaml:"response_format" rule:"required"`

	Tools             any `yaml:"tools" rule:"peer"`
	Evaluations       any `yaml:"evaluations" rule:"peer"`
	TestCases         any `yaml:"test_cases" rule:"peer"`
	Execution         any `yaml:"execution" rule:"peer"`
	Observability     any `yaml:"observability" rule:"peer"`
	Deployment        any `yaml:"deployment" rule:"peer"`
	EmbeddingProvider any `yaml:"embedding_provider" rule:"peer"`
	Claude            any `yaml:"claude" rule:"peer"`
	OpenAI            any `yaml:"openai" rule:"peer"`

	File     string   `yaml:"-"` // as shown in messages
	System   string   `yaml:"-"` // the instructions' text
	Schema   []byte   `yaml:"-"` // the response format as JSON
	Sources  []string `yaml:"-"` // the files that were read, relative to the configuration's folder
	Warnings []string `yaml:"-"`
}

// Providers are the values of model.provider.
func Providers() []string {
	return []string{"openai", "azure_openai", "anthropic", "ollama", "rules", "replay"}
}

// Model is the language model that an agent calls.
type Model struct {
	Provider     string          `yaml:"provider" rule:"required"`
	Name         string          `yaml:"name"`
	Temperature  *float64        `yaml:"temperature"` // default 0.3
	MaxTokens    int             `yaml:"max_tokens"`  // default 1000
	TopP         *float64        `yaml:"top_p"`
	Endpoint     string          `yaml:"endpoint"`
	APIKey       string          `yaml:"api_key"`
	APIVersion   string          `yaml:"api_version"`
	Timeout      time.Duration   `yaml:"timeout"`
	Price        Price           `yaml:"price"`      // for limits.max_cost_usd
	Rules        map[string]Rule `yaml:"rules"`      // provider rules: response path → rule
	Recordings   string          `yaml:"recordings"` // provider replay: a folder of answers
	AuthProvider any             `yaml:"auth_provider" rule:"peer"`
}

// Price is what a million tokens cost in US dollars.
type Price struct {
	Input  float64 `yaml:"input"`
	Output float64 `yaml:"output"`
}

// Rule fills one property of a response from the message.
type Rule struct {
	Match   Patterns `yaml:"match"`   // RE2, one or several; the first that matches gives the value
	As      string   `yaml:"as"`      // string (default), number, integer or boolean
	All     bool     `yaml:"all"`     // a list of every match
	OneOf   Choices  `yaml:"one_of"`  // the first whose keyword occurs
	Text    string   `yaml:"text"`    // a text with {{path}} for the values of other rules
	Default *Literal `yaml:"default"` // when nothing matches
}

// Patterns is written as one pattern or a list of them.
type Patterns []string

// DecodeYAML implements strict.Unmarshaler.
func (p *Patterns) DecodeYAML(d *strict.Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode {
		var one string
		d.Value(n, &one, path)
		*p = Patterns{one}
		return
	}
	var list []string
	d.Value(n, &list, path)
	*p = list
}

// Choice is one value of a one_of rule and the keywords that choose it.
type Choice struct {
	Value    Literal  `yaml:"value"`
	Keywords []string `yaml:"keywords"`
}

// Choices is written as a list of {value, keywords}, or shorter as a mapping of
// each value to its keyword or keywords; either way the order counts.
type Choices []Choice

// DecodeYAML implements strict.Unmarshaler.
func (c *Choices) DecodeYAML(d *strict.Decoder, n *yaml.Node, path string) {
	if n.Kind != yaml.MappingNode {
		var list []Choice
		d.Value(n, &list, path)
		*c = list
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, words := n.Content[i], n.Content[i+1]
		choice := Choice{}
		choice.Value.DecodeYAML(d, key, path)
		if words.Kind == yaml.ScalarNode {
			words = &yaml.Node{Kind: yaml.SequenceNode, Line: words.Line, Column: words.Column, Content: []*yaml.Node{words}}
		}
		d.Value(words, &choice.Keywords, path+"."+key.Value)
		*c = append(*c, choice)
	}
}

// Literal is any YAML value, as JSON.
type Literal = strict.Literal

// Instructions is the system prompt, inline or in a file.
type Instructions struct {
	Inline string `yaml:"inline"`
	File   string `yaml:"file"`
}

// ResponseFormat is a JSON Schema, inline or in a file.
type ResponseFormat struct {
	Inline []byte
	File   string
}

// DecodeYAML implements strict.Unmarshaler.
func (r *ResponseFormat) DecodeYAML(d *strict.Decoder, n *yaml.Node, path string) {
	switch {
	case n.Kind == yaml.MappingNode:
		text, err := strict.JSON(n)
		if err != nil {
			d.Add(n, path, err.Error())
		}
		r.Inline = text
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str" && strings.TrimSpace(n.Value) != "":
		r.File = n.Value
	default:
		d.Add(n, path, "must be a JSON Schema or the path of one, got "+strict.Kind(n))
	}
}

// LoadAgent reads the agent.yaml called name inside home. ${NAME} is expanded
// from the environment over the file's whole text first.
func LoadAgent(home Home, name string, env Lookup) (*Agent, error) {
	show := home.Show(name)
	data, err := home.Read(name)
	if err != nil {
		return nil, fault.New(fault.Config, "read "+show, "Correct edge.agent; it is relative to the folder of "+home.File+".", "%w", fault.Cause(err))
	}
	text, faults := expand(show, string(data), env)
	if faults != nil {
		return nil, &fault.Error{Kind: fault.Config, Err: faults}
	}
	a := &Agent{File: show, Sources: []string{path.Clean(filepath.ToSlash(name))}}
	d := strict.Decode(show, []byte(text), a)
	a.Warnings = d.Warnings()
	a.check(d)
	a.load(d, home)
	if d.Faults() != nil {
		return nil, &fault.Error{Kind: fault.Config, Err: d.Faults()}
	}
	return a, nil
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME}, comments and quoted text included, as the peer does.
func expand(file, text string, env Lookup) (string, Faults) {
	var faults Faults
	var out strings.Builder
	last := 0
	for _, m := range variable.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		value, ok := "", false
		if env != nil {
			value, ok = env(name)
		}
		if !ok {
			before := text[:m[0]]
			line := strings.Count(before, "\n") + 1
			column := m[0] - strings.LastIndexByte(before, '\n')
			faults = append(faults, Fault{File: file, Line: line, Column: column, Text: fmt.Sprintf("the environment has no variable %s; set it, or remove ${%s}", name, name)})
		}
		out.WriteString(text[last:m[0]])
		out.WriteString(value)
		last = m[1]
	}
	out.WriteString(text[last:])
	return out.String(), faults
}

func (a *Agent) check(d *strict.Decoder) {
	m := a.Model
	if m.Provider != "" && !slices.Contains(Providers(), m.Provider) {
		d.AddField("model.provider", fmt.Sprintf("%q is unknown. %s", m.Provider, fault.DidYouMean(m.Provider, Providers())))
	}
	if m.Name == "" && m.Provider != "rules" && m.Provider != "replay" && !d.Has("model.name") {
		d.AddField("model.name", "is missing; it is required")
	}
	if m.Temperature != nil && (*m.Temperature < 0 || *m.Temperature > 2) {
		d.AddField("model.temperature", "must lie between 0 and 2")
	}
	if m.TopP != nil && (*m.TopP < 0 || *m.TopP > 1) {
		d.AddField("model.top_p", "must lie between 0 and 1")
	}
	if m.MaxTokens < 0 || m.MaxTokens == 0 && d.Present("model.max_tokens") && !d.Has("model.max_tokens") {
		d.AddField("model.max_tokens", "must be greater than 0")
	}
	if m.Price.Input < 0 || m.Price.Output < 0 {
		d.AddField("model.price", "must not be negative")
	}
	if m.Provider == "azure_openai" && m.Endpoint == "" && !d.Has("model.endpoint") {
		d.AddField("model.endpoint", "is missing; azure_openai needs it")
	}
	if m.Provider == "rules" && len(m.Rules) == 0 && !d.Has("model.rules") {
		d.AddField("model.rules", "is missing; the rules provider needs at least one")
	}
	if m.Provider == "replay" && m.Recordings == "" && !d.Has("model.recordings") {
		d.AddField("model.recordings", "is missing; the replay provider needs a folder")
	}
	if in := a.Instructions; (in.Inline == "") == (in.File == "") && !d.Has("instructions.inline") && !d.Has("instructions.file") {
		d.AddField("instructions", "must hold exactly one of inline and file")
	}
}

// load reads the files that the agent names, relative to its own folder.
func (a *Agent) load(d *strict.Decoder, home Home) {
	a.System = a.Instructions.Inline
	if f := a.Instructions.File; f != "" {
		a.System = frontmatter(string(a.readBeside(d, home, "instructions.file", f)))
		if strings.TrimSpace(a.System) == "" && !d.Has("instructions.file") {
			d.AddField("instructions.file", "is empty")
		}
	}
	a.Schema = a.ResponseFormat.Inline
	if f := a.ResponseFormat.File; f != "" {
		a.Schema = a.readBeside(d, home, "response_format", f)
	}
	if a.Schema != nil && !isObject(a.Schema) && !d.Has("response_format") {
		d.AddField("response_format", "must be a JSON Schema object")
	}
}

func (a *Agent) readBeside(d *strict.Decoder, home Home, field, name string) []byte {
	inHome := path.Join(path.Dir(a.Sources[0]), filepath.ToSlash(name))
	if !filepath.IsLocal(inHome) || filepath.IsAbs(name) {
		d.AddField(field, fmt.Sprintf("%q leaves the folder of %s; move it inside", name, home.File))
		return nil
	}
	data, err := home.Read(inHome)
	if err != nil {
		d.AddField(field, fmt.Sprintf("read %s: %v", home.Show(inHome), fault.Cause(err)))
	}
	a.Sources = append(a.Sources, inHome)
	return data
}

// frontmatter drops a leading YAML block, which is metadata of the prompt.
func frontmatter(text string) string {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if i := strings.Index(rest, "\n---\n"); i >= 0 {
			return strings.TrimLeft(rest[i+len("\n---\n"):], "\n")
		}
	}
	return text
}

func isObject(data []byte) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(data, &m) == nil && m != nil
}
