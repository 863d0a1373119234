package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holodeck-run/holodeck/fault"
)

// Rule fills one property of the answer from the message. Exactly one of
// Match, OneOf and Text leads; Default stands in when it finds nothing.
type Rule struct {
	Match   []string        // RE2, tried in order; the first group that took part, else the whole match
	As      string          // string (also when empty), number, integer or boolean
	All     bool            // a list of every match
	OneOf   []Choice        // the first whose keyword occurs as a word, case apart
	Text    string          // a text; {{path}} stands for another rule's value
	Default json.RawMessage // nil: the property is left out
}

// Choice is one value of a OneOf rule and the keywords that choose it.
type Choice struct {
	Value    json.RawMessage
	Keywords []string
}

// rules is an offline backend: extraction from the real text by declared
// patterns. It is deterministic; other documents give other answers.
type rules struct {
	paths []string // sorted; those that begin with _ are helpers, kept out of the answer
	rules map[string]Rule
	regex map[string][]*regexp.Regexp
}

func newRules(declared map[string]Rule) (Client, error) {
	r := rules{slices.Sorted(maps.Keys(declared)), declared, map[string][]*regexp.Regexp{}}
	for _, path := range r.paths {
		if err := r.compile(path, declared[path]); err != nil {
			return nil, &fault.Error{Kind: fault.Config, Op: "read model.rules." + path, Err: err, Hint: "Correct the rule in agent.yaml."}
		}
	}
	for i, path := range r.paths {
		if i+1 < len(r.paths) && strings.HasPrefix(r.paths[i+1], path+".") {
			return nil, fault.New(fault.Config, "read model.rules", "Keep one of the two rules.", "%s and %s fill the same place", path, r.paths[i+1])
		}
	}
	return r, nil
}

func (r rules) compile(path string, rule Rule) error {
	leads := 0
	for _, set := range []bool{len(rule.Match) > 0, len(rule.OneOf) > 0, rule.Text != ""} {
		if set {
			leads++
		}
	}
	if leads > 1 || leads == 0 && rule.Default == nil {
		return fmt.Errorf("give one of match, one_of and text, or default alone")
	}
	if !slices.Contains([]string{"", "string", "number", "integer", "boolean"}, rule.As) {
		return fmt.Errorf("as is %q; use string, number, integer or boolean", rule.As)
	}
	for _, ref := range placeholder.FindAllStringSubmatch(rule.Text, -1) {
		if other, ok := r.rules[ref[1]]; !ok || other.Text != "" {
			return fmt.Errorf("{{%s}} names no match or one_of rule", ref[1])
		}
	}
	for _, pattern := range rule.Match {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return err
		}
		r.regex[path] = append(r.regex[path], re)
	}
	return nil
}

// Generate implements Client: it reads the first user message.
func (r rules) Generate(ctx context.Context, q Request) (Response, error) {
	if err := ctx.Err(); err != nil {
		return Response{}, err
	}
	message := ""
	if len(q.Messages) > 0 {
		message = q.Messages[0].Text
	}
	values := map[string]json.RawMessage{}
	for _, path := range r.paths {
		if v := r.find(path, message); v != nil {
			values[path] = v
		}
	}
	for _, path := range r.paths {
		if v, ok := values[path]; ok || r.rules[path].Text != "" {
			values[path] = r.fill(path, v, values)
		}
	}
	root := &object{}
	for _, path := range r.paths {
		if v := values[path]; v != nil && !strings.HasPrefix(path, "_") {
			root.set(strings.Split(path, "."), v)
		}
	}
	return Response{Text: root.String(), Model: "rules", Finish: "stop"}, nil
}

// find returns the value of a match, one_of or default; nil for none.
func (r rules) find(path, message string) json.RawMessage {
	rule := r.rules[path]
	switch {
	case len(rule.Match) > 0:
		for _, re := range r.regex[path] {
			if v := matched(re, message, rule); v != nil {
				return v
			}
		}
	case len(rule.OneOf) > 0:
		for _, c := range rule.OneOf {
			if slices.ContainsFunc(c.Keywords, func(k string) bool { return hasWord(message, k) }) {
				return c.Value
			}
		}
	case rule.Text != "":
		return nil
	}
	return rule.Default
}

func matched(re *regexp.Regexp, message string, rule Rule) json.RawMessage {
	if !rule.All {
		if m := re.FindStringSubmatch(message); m != nil {
			return literal(group(m), rule.As)
		}
		return nil
	}
	var list []json.RawMessage
	for _, m := range re.FindAllStringSubmatch(message, -1) {
		if v := literal(group(m), rule.As); v != nil {
			list = append(list, v)
		}
	}
	if list == nil {
		return nil
	}
	return mustJSON(list)
}

var placeholder = regexp.MustCompile(`\{\{([^{}]+)\}\}`)

// fill replaces {{path}} in a text, or in a value that is a string.
func (r rules) fill(path string, v json.RawMessage, values map[string]json.RawMessage) json.RawMessage {
	text := r.rules[path].Text
	if text == "" && (json.Unmarshal(v, &text) != nil || !strings.Contains(text, "{{")) {
		return v
	}
	return mustJSON(placeholder.ReplaceAllStringFunc(text, func(ref string) string {
		return plain(values[ref[2:len(ref)-2]])
	}))
}

func plain(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

func group(m []string) string {
	for _, g := range m[1:] {
		if g != "" {
			return g
		}
	}
	return m[0]
}

// literal converts a found text; nil if it is no such thing. Numbers may carry
// thousands separators, a currency sign, or parentheses for minus.
func literal(text, as string) json.RawMessage {
	text = strings.TrimSpace(text)
	switch as {
	case "number", "integer":
		digits := strings.NewReplacer(",", "", " ", "", "$", "", "€", "", "£", "", "\u00a0", "").Replace(text)
		if inner, ok := strings.CutPrefix(digits, "("); ok {
			digits = "-" + strings.TrimSuffix(inner, ")")
		}
		if _, err := strconv.ParseInt(digits, 10, 64); as == "integer" && err != nil || !json.Valid([]byte(digits)) {
			return nil
		}
		return json.RawMessage(digits)
	case "boolean":
		switch strings.ToLower(text) {
		case "true", "yes", "y", "on":
			return json.RawMessage("true")
		case "false", "no", "n", "off":
			return json.RawMessage("false")
		}
		return nil
	default:
		return mustJSON(text)
	}
}

// hasWord finds a keyword that is not part of a longer word, so that
// "verified" is not found in "unverified".
func hasWord(text, word string) bool {
	text, word = strings.ToLower(text), strings.ToLower(word)
	for from := 0; word != ""; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		first, _ := utf8.DecodeRuneInString(word)
		last, _ := utf8.DecodeLastRuneInString(word)
		if !(letter(before) && letter(first)) && !(letter(after) && letter(last)) {
			return true
		}
		from = start + 1
	}
	return false
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// object is a JSON object whose keys keep the order they were set in.
type object struct {
	keys   []string
	values map[string]any // *object or json.RawMessage
}

func (o *object) set(path []string, v json.RawMessage) {
	if o.values == nil {
		o.values = map[string]any{}
	}
	child, seen := o.values[path[0]]
	if !seen {
		o.keys = append(o.keys, path[0])
	}
	if len(path) == 1 {
		o.values[path[0]] = v
		return
	}
	sub, ok := child.(*object)
	if !ok {
		sub = &object{}
		o.values[path[0]] = sub
	}
	sub.set(path[1:], v)
}

// String prints the object as compact JSON.
func (o *object) String() string {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(mustJSON(k))
		b.WriteByte(':')
		if sub, ok := o.values[k].(*object); ok {
			b.WriteString(sub.String())
		} else {
			b.Write(o.values[k].(json.RawMessage))
		}
	}
	b.WriteByte('}')
	return b.String()
}

func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and lists of JSON always marshal
	}
	return data
}
