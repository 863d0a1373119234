// Package strict reads YAML strictly.
//
// In goes a file's text and a pointer to a struct; out comes the struct, or
// every fault at once, each with file:line:column and the nearest known name.
// Unknown keys, duplicate keys, wrong types and blank strings are faults.
//
// The package knows no file format in particular and opens nothing.
package strict

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/holodeck-run/holodeck/fault"
)

// Fault is one thing wrong with a file, at its place.
type Fault struct {
	File   string // as the user named it
	Line   int    // 1-based; 0 where the fault is not in a file (an environment variable)
	Column int    // 1-based
	Field  string // dotted path, "nodes[0].gate.schema"; empty for the file itself
	Text   string // what is wrong and what to change
}

// String gives file:line:column: field: text.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	b.WriteString(": ")
	if f.Field != "" {
		b.WriteString(f.Field + ": ")
	}
	b.WriteString(f.Text)
	return b.String()
}

// Faults is everything wrong with a configuration, in reading order.
type Faults []Fault

// Error gives one fault a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Decoder walks a YAML tree into Go values and collects faults. Struct fields
// are named by the `yaml` tag ("-": not in the file); the `rule` tag holds
// "required" or "peer" (a key of the peer's file that has no meaning here:
// accepted, with a warning).
type Decoder struct {
	file     string
	faults   Faults
	warnings []string
	at       map[string]*yaml.Node // field path → where its value stands
}

// Unmarshaler is a value that reads its own YAML and reports to d.
type Unmarshaler interface {
	DecodeYAML(d *Decoder, n *yaml.Node, path string)
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// Decode reads data into v, a pointer to a struct. The file name is for
// messages.
func Decode(file string, data []byte, v any) *Decoder {
	d := &Decoder{file: file, at: map[string]*yaml.Node{}}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		d.syntax(err)
		return d
	}
	if len(doc.Content) == 0 {
		d.addAt(1, 1, "", "the file is empty")
		return d
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		d.Add(root, "", "must be a mapping of keys to values, got "+Kind(root))
		return d
	}
	d.value(root, reflect.ValueOf(v).Elem(), "")
	return d
}

func (d *Decoder) syntax(err error) {
	line, text := 1, err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
		text = m[2]
	}
	d.addAt(line, 1, "", "not YAML: "+text)
}

// Add reports a fault at a node.
func (d *Decoder) Add(n *yaml.Node, field, text string) {
	d.addAt(n.Line, n.Column, field, text)
}

func (d *Decoder) addAt(line, column int, field, text string) {
	d.faults = append(d.faults, Fault{d.file, line, column, field, text})
}

// AddField reports a fault of the value at a field path, or of the nearest
// parent that is in the file.
func (d *Decoder) AddField(field, text string) {
	for p := field; ; {
		if n, ok := d.at[p]; ok {
			d.Add(n, field, text)
			return
		}
		i := strings.LastIndexAny(p, ".[")
		if i < 0 {
			d.addAt(1, 1, field, text)
			return
		}
		p = p[:i]
	}
}

// AddFault reports a fault that is not in the file.
func (d *Decoder) AddFault(f Fault) { d.faults = append(d.faults, f) }

// Has says whether field, or a parent of it, has a fault already.
func (d *Decoder) Has(field string) bool {
	return slices.ContainsFunc(d.faults, func(f Fault) bool {
		return f.Field == field || f.Field == "" || strings.HasPrefix(field, f.Field+".")
	})
}

// Present says whether the file holds the field.
func (d *Decoder) Present(field string) bool { return d.at[field] != nil }

// Warnings returns what was accepted although it means nothing here.
func (d *Decoder) Warnings() []string { return d.warnings }

// Faults returns the faults in reading order, nil if there are none.
func (d *Decoder) Faults() Faults {
	slices.SortStableFunc(d.faults, func(a, b Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return d.faults
}

// Value decodes a node into v, as Decode does for a whole file.
func (d *Decoder) Value(n *yaml.Node, v any, path string) {
	d.value(n, reflect.ValueOf(v).Elem(), path)
}

func (d *Decoder) value(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	d.at[path] = n
	if c, ok := v.Addr().Interface().(Unmarshaler); ok {
		c.DecodeYAML(d, n, path)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), path)
	case reflect.Struct:
		d.mapping(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Map:
		d.table(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

func (d *Decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if isNull(n) {
		d.required(n, v.Type(), nil, path)
		return
	}
	if n.Kind != yaml.MappingNode {
		d.Add(n, path, "must be a mapping, got "+Kind(n))
		return
	}
	known, index := keysOf(v.Type())
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		field := join(path, key.Value)
		if line, dup := seen[key.Value]; dup {
			d.Add(key, field, fmt.Sprintf("the key stands twice; it is already on line %d", line))
			continue
		}
		seen[key.Value] = key.Line
		j := slices.Index(known, key.Value)
		if j < 0 || key.Kind != yaml.ScalarNode {
			d.Add(key, field, "unknown key. "+fault.DidYouMean(key.Value, known))
			continue
		}
		f := v.Type().Field(index[j])
		if f.Tag.Get("rule") == "peer" {
			d.warnings = append(d.warnings, fmt.Sprintf("%s:%d: %s is not used by a gated activity", d.file, key.Line, field))
			continue
		}
		if isNull(val) && f.Tag.Get("rule") != "required" {
			continue
		}
		d.value(val, v.Field(index[j]), field)
	}
	d.required(n, v.Type(), seen, path)
}

func (d *Decoder) required(n *yaml.Node, t reflect.Type, seen map[string]int, path string) {
	keys, index := keysOf(t)
	for i, key := range keys {
		if _, ok := seen[key]; !ok && t.Field(index[i]).Tag.Get("rule") == "required" {
			d.Add(n, join(path, key), "is missing; it is required")
		}
	}
}

func (d *Decoder) list(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		d.Add(n, path, "must be a list, got "+Kind(n))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		d.value(item, out.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	v.Set(out)
}

func (d *Decoder) table(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.Add(n, path, "must be a mapping, got "+Kind(n))
		return
	}
	out := reflect.MakeMap(v.Type())
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if out.MapIndex(reflect.ValueOf(key.Value)).IsValid() {
			d.Add(key, join(path, key.Value), "the key stands twice")
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(n.Content[i+1], item, join(path, key.Value))
		out.SetMapIndex(reflect.ValueOf(key.Value), item)
	}
	v.Set(out)
}

func (d *Decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.Add(n, path, "must be "+wants(v)+", got "+Kind(n))
		return
	}
	var err error
	switch p := v.Addr().Interface().(type) {
	case *string:
		d.text(n, p, path)
	case *bool:
		*p, err = ParseBool(n.Value)
	case *time.Duration:
		if *p, err = time.ParseDuration(n.Value); err == nil && *p < 0 {
			err = strconv.ErrRange
		}
	case *Size:
		*p, err = ParseSize(n.Value)
	case *int:
		*p, err = strconv.Atoi(n.Value)
	case *float64:
		*p, err = strconv.ParseFloat(n.Value, 64)
		if err == nil && (math.IsNaN(*p) || math.IsInf(*p, 0)) {
			err = strconv.ErrRange
		}
	default:
		panic("strict: no decoding for " + v.Type().String())
	}
	if err != nil || (v.Kind() == reflect.Int || v.Kind() == reflect.Float64) && n.Tag == "!!str" {
		d.Add(n, path, fmt.Sprintf("must be %s, got %q", wants(v), n.Value))
	}
}

func (d *Decoder) text(n *yaml.Node, p *string, path string) {
	switch {
	case n.Tag != "!!str" && n.Tag != "!!timestamp":
		d.Add(n, path, fmt.Sprintf("must be a string, got %s %s; put it in quotes", Kind(n), n.Value))
	case strings.TrimSpace(n.Value) == "":
		d.Add(n, path, "must not be blank; give a value or leave the key out")
	default:
		*p = n.Value
	}
}

func wants(v reflect.Value) string {
	switch v.Interface().(type) {
	case string:
		return "a string"
	case bool:
		return "true or false"
	case time.Duration:
		return "a duration such as 30s or 2m"
	case Size:
		return "a size such as 256KiB or 2MiB"
	case int:
		return "a whole number"
	case float64:
		return "a number"
	default:
		return "a value"
	}
}

// ParseBool takes YAML 1.1's words too: yes, no, on, off.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "t", "y", "1":
		return true, nil
	case "false", "no", "off", "f", "n", "0":
		return false, nil
	default:
		return false, strconv.ErrSyntax
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// Kind names what a node is, for messages.
func Kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	case n.Tag == "!!int", n.Tag == "!!float":
		return "the number"
	case n.Tag == "!!bool":
		return "the boolean"
	default:
		return "a string"
	}
}

// keysOf returns the keys of a struct and the fields they belong to.
func keysOf(t reflect.Type) (keys []string, index []int) {
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "-" {
			keys, index = append(keys, key), append(index, i)
		}
	}
	return keys, index
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
