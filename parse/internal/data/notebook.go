package data

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/web"
)

type notebook struct {
	Cells  []cell `json:"cells"`
	Sheets []struct {
		Cells []cell `json:"cells"`
	} `json:"worksheets"` // of version 3
	Metadata struct {
		Kernel struct {
			Language string `json:"language"`
			Name     string `json:"name"`
		} `json:"kernelspec"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

type cell struct {
	Type     string   `json:"cell_type"`
	Source   lines    `json:"source"`
	Input    lines    `json:"input"` // of version 3
	Language string   `json:"language"`
	Level    int      `json:"level"`
	Outputs  []output `json:"outputs"`
}

type output struct {
	Type  string                     `json:"output_type"`
	Text  lines                      `json:"text"`
	Data  map[string]json.RawMessage `json:"data"`
	Name  string                     `json:"ename"`
	Value string                     `json:"evalue"`
	Trace []string                   `json:"traceback"`
}

// lines is a text that may come as a list of its lines.
type lines string

// UnmarshalJSON takes a string, a list of strings, or null.
func (l *lines) UnmarshalJSON(data []byte) error {
	var whole string
	if err := json.Unmarshal(data, &whole); err == nil {
		*l = lines(whole)
		return nil
	}
	var parts []string
	err := json.Unmarshal(data, &parts)
	*l = lines(strings.Join(parts, ""))
	return err
}

// Notebook puts the cells of a notebook at sink, with what they printed.
func Notebook(ctx context.Context, data []byte, sink block.Sink) error {
	s, err := decoded(ctx, data, "")
	if err != nil {
		return err
	}
	if err := check(s, s, 0); err != nil {
		return err
	}
	var n notebook
	if err := json.Unmarshal([]byte(s), &n); err != nil {
		return notANotebook(err.Error())
	}
	for _, sheet := range n.Sheets {
		n.Cells = append(n.Cells, sheet.Cells...)
	}
	if len(n.Cells) == 0 {
		return notANotebook("it has no cells")
	}
	language := n.Metadata.Language.Name
	first(&language, n.Metadata.Kernel.Language)
	for _, c := range n.Cells {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.put(ctx, strings.ToLower(language), sink); err != nil {
			return err
		}
	}
	return nil
}

func notANotebook(why string) error {
	return fault.New(fault.Document, "", "Save it again in Jupyter, or give the file the extension .json.", "the file is no notebook: %s", why)
}

func (c *cell) put(ctx context.Context, language string, sink block.Sink) error {
	source := string(c.Source) + string(c.Input)
	if c.Language != "" {
		language = c.Language
	}
	var b block.Block
	switch c.Type {
	case "code":
		b = block.Code{Language: language, Text: source}
	case "heading":
		b = block.Heading{Level: c.Level, Text: block.Plain(source)}
	case "raw":
		b = block.Code{Text: source}
	default:
		b = block.Verbatim{Text: strings.Trim(source, "\n")}
	}
	if strings.TrimSpace(source) != "" {
		if err := sink.Put(b); err != nil {
			return err
		}
	}
	for _, o := range c.Outputs {
		if err := o.put(ctx, sink); err != nil {
			return err
		}
	}
	return nil
}

// put shows an output in the richest form that is text.
func (o *output) put(ctx context.Context, sink block.Sink) error {
	if o.Type == "error" || o.Type == "pyerr" {
		trace := strings.Join(o.Trace, "\n")
		first(&trace, o.Name+": "+o.Value)
		return printed(trace, sink)
	}
	if len(o.Data) == 0 {
		return printed(string(o.Text), sink)
	}
	if s := o.of("text/markdown", "text/latex"); s != "" {
		return sink.Put(block.Verbatim{Text: strings.Trim(s, "\n")})
	}
	if s := o.of("text/html"); s != "" {
		var c counter
		c.sink = sink
		if err := web.Fragment(ctx, s, &c); err != nil || c.n > 0 {
			return err
		}
	}
	for kind := range o.Data {
		if strings.HasPrefix(kind, "image/") {
			return sink.Put(block.Image{Alt: o.of("text/plain")})
		}
	}
	if raw, ok := o.Data["application/json"]; ok && o.of("text/plain") == "" {
		s, err := pretty(string(raw))
		if err != nil {
			return err
		}
		return sink.Put(block.Code{Language: "json", Text: s})
	}
	return printed(o.of("text/plain"), sink)
}

type counter struct {
	sink block.Sink
	n    int
}

// Put implements [block.Sink].
func (c *counter) Put(b block.Block) error {
	c.n++
	return c.sink.Put(b)
}

// of returns the first of some kinds that the output has as text.
func (o *output) of(kinds ...string) string {
	for _, k := range kinds {
		var l lines
		if raw, ok := o.Data[k]; ok && json.Unmarshal(raw, &l) == nil && strings.TrimSpace(string(l)) != "" {
			return string(l)
		}
	}
	return ""
}

// printed puts what a cell wrote to its terminal, without its colours.
func printed(s string, sink block.Sink) error {
	s = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]").ReplaceAllString(s, "")
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return sink.Put(block.Code{Text: strings.Trim(s, "\n")})
}
