package model_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holodeck-run/holodeck/model"
)

func TestStrictIsAskedForWhereTheSchemaAllowsIt(t *testing.T) {
	t.Parallel()
	object := func(property string) string {
		return `{"type":"object","properties":{"a":` + property + `},"required":["a"],"additionalProperties":false}`
	}
	cases := map[string]struct {
		schema string
		strict bool
	}{
		"closed and required":          {object(`{"type":"string"}`), true},
		"an annotated one":             {`{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"T","type":"object","properties":{},"required":[],"additionalProperties":false}`, true},
		"a nullable property":          {object(`{"type":["string","null"]}`), true},
		"an enumeration":               {object(`{"enum":["x","y"]}`), true},
		"limits of a number":           {object(`{"type":"integer","minimum":1,"maximum":9}`), true},
		"a property called not":        {`{"type":"object","properties":{"not":{"type":"string"}},"required":["not"],"additionalProperties":false}`, true},
		"data that looks like schemas": {object(`{"const":{"allOf":[]}}`), true},
		"a list of closed objects":     {object(`{"type":"array","items":` + object(`{"type":"string"}`) + `}`), true},
		"recursion by reference":       {`{"type":"object","$defs":{"n":` + object(`{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}`) + `},"properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"],"additionalProperties":false}`, true},
		"a known format":               {object(`{"type":"string","format":"date"}`), true},
		"a plain pattern":              {object(`{"type":"string","pattern":"^(?:a|b)$"}`), true},

		"an open object":             {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false},
		"an optional property":       {`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, false},
		"an open object inside":      {object(`{"type":"object","properties":{}}`), false},
		"a map":                      {object(`{"type":"object","additionalProperties":false}`), false},
		"anything at all":            {object(`{}`), false},
		"alternatives at the top":    {`{"type":"object","anyOf":[{}],"properties":{},"additionalProperties":false}`, false},
		"no type at the top":         {`{"properties":{},"additionalProperties":false}`, false},
		"a minimal length":           {object(`{"type":"string","minLength":1}`), false},
		"a default":                  {object(`{"type":"string","default":"x"}`), false},
		"a combination":              {object(`{"allOf":[{"type":"string"}]}`), false},
		"a format it does not know":  {object(`{"type":"string","format":"uri"}`), false},
		"a pattern that looks ahead": {object(`{"type":"string","pattern":"^(?!x)"}`), false},
		"an annotation of ours":      {object(`{"type":"string","x-note":"y"}`), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dialects()[0]
			p := serve(t, says(200, d.success))
			r := question()
			r.Schema = json.RawMessage(c.schema)
			if _, err := client(t, d.spec(p.URL)).Generate(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			format := p.only(t).body["response_format"].(map[string]any)["json_schema"].(map[string]any)
			if format["strict"] != c.strict {
				t.Errorf("strict = %v, want %v", format["strict"], c.strict)
			}
			var whole any
			_ = json.Unmarshal([]byte(c.schema), &whole)
			if diff := cmp.Diff(whole, format["schema"]); diff != "" {
				t.Errorf("the schema was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnthropicGetsTheSchemaReducedOrAsATool(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ schema, native string }{
		"narrowing keywords go": {
			`{"$schema":"x","$id":"y","type":"object","properties":{"a":{"type":"string","minLength":1,"maxLength":9,"pattern":"x","format":"email"},"b":{"type":"integer","minimum":1,"multipleOf":2},"c":{"type":"array","items":{"type":"string","format":"iri"},"minItems":2,"maxItems":3,"uniqueItems":true}}}`,
			`{"type":"object","properties":{"a":{"type":"string","format":"email"},"b":{"type":"integer"},"c":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}`,
		},
		"one item is a minimum it knows": {
			`{"type":"object","properties":{"c":{"type":"array","minItems":1,"items":{"type":"string"}}}}`,
			`{"type":"object","properties":{"c":{"type":"array","minItems":1,"items":{"type":"string"}}},"additionalProperties":false}`,
		},
		"objects inside are closed": {
			`{"type":"object","$defs":{"d":{"type":"object","properties":{}}},"properties":{"a":{"$ref":"#/$defs/d"},"b":{"$ref":"#/$defs/d"}}}`,
			`{"type":"object","$defs":{"d":{"type":"object","properties":{},"additionalProperties":false}},"properties":{"a":{"$ref":"#/$defs/d"},"b":{"$ref":"#/$defs/d"}},"additionalProperties":false}`,
		},
		"properties called like keywords stay": {
			`{"type":"object","properties":{"minimum":{"type":"string"},"pattern":{"type":"string"}}}`,
			`{"type":"object","properties":{"minimum":{"type":"string"},"pattern":{"type":"string"}},"additionalProperties":false}`,
		},
		"a map":                {`{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}`, ""},
		"an open object":       {`{"type":"object","properties":{},"additionalProperties":true}`, ""},
		"any object":           {`{"type":"object"}`, ""},
		"a combination":        {`{"type":"object","properties":{"a":{"allOf":[{"type":"object","properties":{"x":{}}},{"type":"object","properties":{"y":{}}}]}}}`, ""},
		"a conditional":        {`{"type":"object","properties":{},"if":{},"then":{}}`, ""},
		"recursion to the top": {`{"type":"object","properties":{"a":{"$ref":"#"}}}`, ""},
		"recursion in two steps": {
			`{"type":"object","$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/b"}},"b":{"type":"array","items":{"$ref":"#/$defs/a"}}},"properties":{"a":{"$ref":"#/$defs/a"}}}`, "",
		},
		"a reference by anchor": {`{"type":"object","properties":{"a":{"$ref":"#there"}},"$defs":{"x":{"$anchor":"there","type":"string"}}}`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dialects()[2]
			p := serve(t, says(200, d.success))
			r := question()
			r.Schema = json.RawMessage(c.schema)
			if _, err := client(t, d.spec(p.URL)).Generate(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			body := p.only(t).body
			if c.native == "" {
				if body["tools"] == nil || body["tool_choice"] == nil || body["output_config"] != nil {
					t.Errorf("no forced tool in %v", body)
				}
				return
			}
			var want any
			if err := json.Unmarshal([]byte(c.native), &want); err != nil {
				t.Fatal(err)
			}
			config, _ := body["output_config"].(map[string]any)
			format, _ := config["format"].(map[string]any)
			if diff := cmp.Diff(want, format["schema"]); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASchemaWithManyReferencesIsReadOnce(t *testing.T) {
	t.Parallel()
	// Each definition names the next twice: a walk that forgets what it has
	// seen takes 2^40 steps.
	defs, n := map[string]any{}, 40
	name := func(i int) string { return string(rune('A' + i)) }
	for i := range n {
		ref := map[string]any{"$ref": "#/$defs/" + name(i+1)}
		defs[name(i)] = map[string]any{"type": "object", "properties": map[string]any{"x": ref, "y": ref}}
	}
	defs[name(n)] = map[string]any{"type": "string"}
	schema, err := json.Marshal(map[string]any{"type": "object", "$defs": defs, "properties": map[string]any{"a": map[string]any{"$ref": "#/$defs/A"}}})
	if err != nil {
		t.Fatal(err)
	}
	d := dialects()[2]
	p := serve(t, says(200, d.success))
	r := model.Request{Messages: question().Messages, Schema: schema}
	if _, err := client(t, d.spec(p.URL)).Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if p.only(t).body["output_config"] == nil {
		t.Error("references without recursion were taken for recursion")
	}
}
