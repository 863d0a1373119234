package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/payload"
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

// Values of OneOf and a Default that are texts may hold {{path}}, too. What a
// match finds is never expanded: the message cannot speak to the rules.

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
	for _, path := range r.paths {
		for i, c := range path {
			if _, taken := declared[path[:i]]; c == '.' && taken {
				return nil, fault.New(fault.Config, "read model.rules", "Keep one of the two rules.", "%s and %s fill the same place", path[:i], path)
			}
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
	if slices.Contains(strings.Split(path, "."), "") {
		return fmt.Errorf("the path has an empty step")
	}
	if !slices.Contains([]string{"", "string", "number", "integer", "boolean"}, rule.As) {
		return fmt.Errorf("as is %q; use string, number, integer or boolean", rule.As)
	}
	if len(rule.Match) == 0 && (rule.As != "" || rule.All) {
		return fmt.Errorf("as and all go with match")
	}
	for _, text := range rule.templates() {
		for _, ref := range placeholder.FindAllStringSubmatch(text, -1) {
			if other, ok := r.rules[ref[1]]; !ok || slices.ContainsFunc(other.templates(), placeholder.MatchString) || other.Text != "" {
				return fmt.Errorf("{{%s}} names no rule whose value stands by itself", ref[1])
			}
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
	found := map[string]json.RawMessage{}
	for _, path := range r.paths {
		found[path] = r.match(path, message)
	}
	value := func(path string) json.RawMessage {
		if v := found[path]; v != nil {
			return v
		}
		return r.rules[path].declared(message)
	}
	root := &object{}
	for _, path := range r.paths {
		if strings.HasPrefix(path, "_") {
			continue
		}
		v := found[path]
		if v == nil {
			v = fill(value(path), value)
		}
		if v != nil {
			root.set(strings.Split(path, "."), v)
		}
	}
	return Response{Text: root.String(), Model: "rules", Finish: "stop"}, nil
}

// match returns what a match rule finds; nil for nothing.
func (r rules) match(path, message string) json.RawMessage {
	for _, re := range r.regex[path] {
		if v := matched(re, message, r.rules[path]); v != nil {
			return v
		}
	}
	return nil
}

// declared returns what the rule itself says for a message: the choice whose
// keyword occurs, the text, else the default; nil for nothing.
func (r Rule) declared(message string) json.RawMessage {
	for _, c := range r.OneOf {
		if slices.ContainsFunc(c.Keywords, func(k string) bool { return hasWord(message, k) }) {
			return c.Value
		}
	}
	if r.Text != "" {
		return mustJSON(r.Text)
	}
	return r.Default
}

// templates returns the texts of the rule that may hold {{path}}.
func (r Rule) templates() []string {
	texts := []string{r.Text, plain(r.Default)}
	for _, c := range r.OneOf {
		texts = append(texts, plain(c.Value))
	}
	return texts
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

// fill replaces {{path}} in a declared value that is a text.
func fill(v json.RawMessage, value func(path string) json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(v, &text) != nil || !placeholder.MatchString(text) {
		return v
	}
	return mustJSON(placeholder.ReplaceAllStringFunc(text, func(ref string) string {
		return plain(value(ref[2 : len(ref)-2]))
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

// figure is a number as documents write it: a sign, a currency and thousands
// separators may stand in it. A comma elsewhere is no separator: 1.234,56 and
// 12,5 mean other things in other countries, and are not guessed.
var figure = regexp.MustCompile(`^(-?)[$€£]? ?(-?)(\d{1,3}(?:,\d{3})+|\d{1,3}(?:[ \x{a0}\x{202f}]\d{3})+|\d+)(\.\d+)? ?[$€£]?$`)

// number prints a figure as a JSON number; nil if it is none. Parentheses mean
// minus.
func number(text string) json.RawMessage {
	inner, negative := strings.CutPrefix(text, "(")
	if negative {
		inner, negative = strings.CutSuffix(inner, ")")
	}
	m := figure.FindStringSubmatch(strings.TrimSpace(inner))
	if m == nil || m[1]+m[2] == "--" || strings.HasPrefix(text, "(") && !negative {
		return nil
	}
	digits := strings.TrimLeft(strings.NewReplacer(",", "", " ", "", "\u00a0", "", "\u202f", "").Replace(m[3]), "0")
	if digits == "" {
		digits = "0"
	}
	if negative != (m[1]+m[2] == "-") {
		digits = "-" + digits
	}
	return json.RawMessage(digits + m[4])
}

// literal converts a found text; nil if it is no such thing.
func literal(text, as string) json.RawMessage {
	text = strings.TrimSpace(text)
	switch as {
	case "number":
		return number(text)
	case "integer":
		if n := number(text); n != nil && !bytes.ContainsRune(n, '.') {
			return n
		}
		return nil
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
	data, err := payload.Marshal(v)
	if err != nil {
		panic(err) // strings and lists of JSON always marshal
	}
	return data
}
