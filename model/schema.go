package model

import (
	"encoding/json"
	"slices"
)

// This file fits a response schema to what a provider's structured output can
// express. The gate judges with the whole schema whatever is sent.

// strictFits says whether OpenAI's strict mode takes the schema as it is:
// every object closed, every property required, no keyword it refuses.
// (developers.openai.com, Structured Outputs, "Supported schemas".) A schema
// that does not fit is sent without strict.
func strictFits(schema json.RawMessage) bool {
	var doc map[string]any
	if json.Unmarshal(schema, &doc) != nil || doc["type"] != "object" {
		return false
	}
	fits := true
	walk(doc, func(s map[string]any) {
		for _, refused := range []string{"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties", "prefixItems", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "uniqueItems", "$dynamicRef"} {
			if _, has := s[refused]; has {
				fits = false
			}
		}
		if isObjectSchema(s) && !closedAndRequired(s) {
			fits = false
		}
	})
	return fits
}

func closedAndRequired(s map[string]any) bool {
	if s["additionalProperties"] != false {
		return false
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return true
}

// anthropicReduce drops the keywords that Anthropic's structured output
// refuses, and closes objects, which it demands. It reports false where the
// schema cannot be expressed: open maps, recursion, conditionals.
// (platform.claude.com, Structured outputs, "JSON Schema limitations".)
func anthropicReduce(schema json.RawMessage) (map[string]any, bool) {
	var doc map[string]any
	if json.Unmarshal(schema, &doc) != nil || doc["type"] != "object" {
		return nil, false
	}
	ok := true
	walk(doc, func(s map[string]any) {
		for _, refused := range []string{"oneOf", "not", "if", "then", "else", "patternProperties", "dependentRequired", "dependentSchemas", "propertyNames", "unevaluatedProperties", "prefixItems", "contains", "$dynamicRef", "$recursiveRef"} {
			if _, has := s[refused]; has {
				ok = false
			}
		}
		for _, dropped := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "maxItems", "uniqueItems", "minProperties", "maxProperties", "examples", "$schema", "$id"} {
			delete(s, dropped)
		}
		if n, has := s["minItems"].(float64); has && n > 1 {
			delete(s, "minItems")
		}
		if ref, has := s["$ref"].(string); has && ref == "#" {
			ok = false
		}
		if isObjectSchema(s) {
			if extra, has := s["additionalProperties"]; has && extra != false {
				ok = false
			}
			if _, has := s["properties"]; !has {
				ok = false
			}
			s["additionalProperties"] = false
		}
	})
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
