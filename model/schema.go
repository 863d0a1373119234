package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// This file fits a response schema to what a provider's structured output can
// express. The gate judges with the whole schema whatever is sent. Keywords
// are listed as taken, not as refused: a provider answers a keyword it does
// not know with a 400, and a node that meets one could never work.

// strictKeywords are those of OpenAI's strict mode.
// (developers.openai.com, Structured Outputs, "Supported schemas".)
func strictKeywords() []string {
	return []string{
		"$schema", "$defs", "definitions", "$ref", "title", "description", "type", "properties", "required", "additionalProperties",
		"items", "enum", "const", "anyOf", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"multipleOf", "minItems", "maxItems",
	}
}

func strictFormats() []string {
	return []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
}

// strictFits says whether OpenAI's strict mode takes the schema as it is:
// every object closed, every property required, no keyword it refuses. A
// schema that does not fit is sent without strict.
func strictFits(schema json.RawMessage) bool {
	var doc map[string]any
	if json.Unmarshal(schema, &doc) != nil || doc["type"] != "object" || doc["anyOf"] != nil {
		return false
	}
	fits := true
	walk(doc, func(s map[string]any) {
		fits = fits && onlyKeywords(s, strictKeywords()) && strictText(s)
		if _, isRef := s["$ref"]; isRef {
			return
		}
		if isObjectSchema(s) && !closedAndRequired(s) || !typed(s) {
			fits = false
		}
	})
	return fits
}

func onlyKeywords(s map[string]any, taken []string) bool {
	for keyword := range s {
		if !slices.Contains(taken, keyword) {
			return false
		}
	}
	return true
}

// strictText judges what strings are held against: known formats, and
// patterns without look-around.
func strictText(s map[string]any) bool {
	if format, has := s["format"].(string); has && !slices.Contains(strictFormats(), format) {
		return false
	}
	pattern, _ := s["pattern"].(string)
	return !strings.Contains(strings.ReplaceAll(pattern, "(?:", ""), "(?")
}

// typed says whether a schema names what it describes; {} describes anything.
func typed(s map[string]any) bool {
	for _, keyword := range []string{"type", "enum", "const", "anyOf"} {
		if _, has := s[keyword]; has {
			return true
		}
	}
	return false
}

func closedAndRequired(s map[string]any) bool {
	properties, declared := s["properties"].(map[string]any)
	if !declared || s["additionalProperties"] != false {
		return false
	}
	required, _ := s["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return true
}

// anthropicKeywords are those of Anthropic's structured output, and
// anthropicDropped those it refuses that only narrow the answer.
// (platform.claude.com, Structured outputs, "JSON Schema limitations".)
func anthropicKeywords() []string {
	return []string{
		"$defs", "definitions", "$ref", "title", "description", "type", "properties", "required", "additionalProperties",
		"items", "enum", "const", "anyOf", "format", "minItems", "default",
	}
}

func anthropicDropped() []string {
	return []string{
		"$schema", "$id", "$comment", "$anchor", "examples", "deprecated", "readOnly", "writeOnly", "minimum", "maximum",
		"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "maxItems", "uniqueItems",
		"minProperties", "maxProperties", "contentEncoding", "contentMediaType",
	}
}

// anthropicReduce drops what Anthropic's structured output refuses, and closes
// objects, which it demands. It reports false where the schema cannot be
// expressed: open maps, recursion, conditionals, combinations.
func anthropicReduce(schema json.RawMessage) (map[string]any, bool) {
	var doc map[string]any
	if json.Unmarshal(schema, &doc) != nil || doc["type"] != "object" || recursive(doc) {
		return nil, false
	}
	fits := true
	walk(doc, func(s map[string]any) {
		for _, keyword := range anthropicDropped() {
			delete(s, keyword)
		}
		if format, has := s["format"].(string); has && format != "uri" && !slices.Contains(strictFormats(), format) {
			delete(s, "format")
		}
		if n, has := s["minItems"].(float64); has && n > 1 {
			delete(s, "minItems")
		}
		fits = fits && onlyKeywords(s, anthropicKeywords())
		if isObjectSchema(s) {
			fits = fits && closeObject(s)
		}
	})
	if !fits {
		return nil, false
	}
	var source map[string]json.RawMessage
	_ = json.Unmarshal(schema, &source) // as doc above
	for key, v := range doc {
		if raw, has := source[key]; has {
			doc[key] = inOrder(raw, v)
		}
	}
	return doc, true
}

// inOrder prints a reduced schema with the keys in the order of the original,
// and its leaves by their own bytes: a model answers in the order of the
// properties, and digits must not pass through a float.
func inOrder(original json.RawMessage, reduced any) json.RawMessage {
	switch reduced := reduced.(type) {
	case map[string]any:
		out := &object{}
		d := json.NewDecoder(bytes.NewReader(original))
		_, _ = d.Token() // the brace
		for d.More() {
			key, _ := d.Token()
			var value json.RawMessage
			if d.Decode(&value) != nil {
				break
			}
			name, _ := key.(string)
			if v, kept := reduced[name]; kept {
				out.set([]string{name}, inOrder(value, v))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(reduced)) {
			if _, has := out.values[name]; !has {
				out.set([]string{name}, mustJSON(reduced[name]))
			}
		}
		return json.RawMessage(out.String())
	case []any:
		var items []json.RawMessage
		if json.Unmarshal(original, &items) != nil || len(items) != len(reduced) {
			return mustJSON(reduced)
		}
		for i := range items {
			items[i] = inOrder(items[i], reduced[i])
		}
		return mustJSON(items)
	default:
		return original
	}
}

// closeObject closes an object schema; false if it is a map of names that are
// not known.
func closeObject(s map[string]any) bool {
	if _, declared := s["properties"]; !declared {
		return false
	}
	if extra, has := s["additionalProperties"]; has && extra != false {
		return false
	}
	s["additionalProperties"] = false
	return true
}

// recursive says whether a $ref leads back to itself, or nowhere that can be
// followed here.
func recursive(doc map[string]any) bool {
	done := map[string]bool{}
	var loops func(s map[string]any, open []string) bool
	loops = func(s map[string]any, open []string) bool {
		found := false
		walk(s, func(sub map[string]any) {
			ref, has := sub["$ref"].(string)
			if !has || found || done[ref] {
				return
			}
			target, ok := resolve(doc, ref)
			found = !ok || slices.Contains(open, ref) || loops(target, append(slices.Clone(open), ref))
			done[ref] = !found
		})
		return found
	}
	return loops(doc, []string{"#"})
}

// resolve follows a JSON pointer of plain names, as #/$defs/name.
func resolve(doc map[string]any, ref string) (map[string]any, bool) {
	rest, ok := strings.CutPrefix(ref, "#")
	for ok && rest != "" {
		var name string
		name, rest, _ = strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		doc, ok = doc[name].(map[string]any)
		if rest != "" {
			rest = "/" + rest
		}
	}
	return doc, ok
}

func isObjectSchema(s map[string]any) bool {
	if t, ok := s["type"].([]any); ok {
		return slices.Contains(t, any("object"))
	}
	_, has := s["properties"]
	return s["type"] == "object" || has
}

// walk visits s and every schema below it; property names and values of
// const, enum, default and examples are data, not schemas.
func walk(s map[string]any, visit func(map[string]any)) {
	visit(s)
	for key, v := range s {
		switch key {
		case "const", "enum", "default", "examples", "required", "type":
			continue
		case "properties", "$defs", "definitions", "patternProperties", "dependentSchemas":
			if named, ok := v.(map[string]any); ok {
				for _, sub := range named {
					walkValue(sub, visit)
				}
			}
			continue
		}
		walkValue(v, visit)
	}
}

func walkValue(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		walk(v, visit)
	case []any:
		for _, item := range v {
			walkValue(item, visit)
		}
	}
}
