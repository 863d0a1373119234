package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/model"
)

func match(as string, patterns ...string) model.Rule { return model.Rule{Match: patterns, As: as} }

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func TestRulesFillTheAnswerFromTheMessage(t *testing.T) {
	t.Parallel()
	status := model.Rule{OneOf: []model.Choice{
		{Value: raw(`"verified"`), Keywords: []string{"verified"}},
		{Value: raw(`"unverified"`), Keywords: []string{"unverified", "not yet known"}},
	}, Default: raw(`null`)}
	cases := []struct {
		name    string
		rules   map[string]model.Rule
		message string
		want    string
	}{
		{"nothing found leaves the property out", map[string]model.Rule{"a": match("", "x(.)")}, "y", `{}`},
		{"a default stands in", map[string]model.Rule{"a": {Match: []string{"x(.)"}, Default: raw(`[1]`)}}, "y", `{"a":[1]}`},
		{"a default alone is a constant", map[string]model.Rule{"a": {Default: raw(`{"b":9007199254740993}`)}}, "", `{"a":{"b":9007199254740993}}`},
		{"the first pattern that matches wins", map[string]model.Rule{"a": match("", "b=(.)", "a=(.)")}, "a=1 b=2", `{"a":"2"}`},
		{"the first group that took part", map[string]model.Rule{"a": match("", `(?:x=(\d))|(?:y=(\d))`)}, "y=5", `{"a":"5"}`},
		{"the whole match without a group", map[string]model.Rule{"a": match("", `\d+`)}, "no 42.", `{"a":"42"}`},
		{"paths nest", map[string]model.Rule{"a.b.c": match("", "1"), "a.b.d": match("", "2"), "a.e": match("", "3")}, "123", `{"a":{"b":{"c":"1","d":"2"},"e":"3"}}`},
		{"helpers stay out of the answer", map[string]model.Rule{"_n": match("", "name: (.*)"), "a": {Text: "Dear {{_n}}, {{_n}}!"}}, "name: Jo", `{"a":"Dear Jo, Jo!"}`},
		{"a text shows numbers and defaults", map[string]model.Rule{"_n": match("number", `\d+`), "_m": {Match: []string{"x"}, Default: raw(`"nobody"`)}, "a": {Text: "{{_n}} for {{_m}}"}}, "007", `{"a":"7 for nobody"}`},
		{"what is not found leaves a gap", map[string]model.Rule{"_n": match("", "x"), "a": {Text: "[{{_n}}]"}}, "", `{"a":"[]"}`},
		{"a choice and a default may show values", map[string]model.Rule{"_n": match("", "n=(.)"), "a": {OneOf: []model.Choice{{Value: raw(`"is {{_n}}"`), Keywords: []string{"n"}}}}, "b": {Default: raw(`"or {{_n}}"`)}}, "n=1", `{"a":"is 1","b":"or 1"}`},
		{"the message cannot speak to the rules", map[string]model.Rule{"_secret": match("", "s=(.)"), "a": match("", "a=(.*)")}, "s=1 a={{_secret}}", `{"a":"{{_secret}}"}`},
		{"a list of every match", map[string]model.Rule{"a": {Match: []string{`\$([\d,.]+)`}, As: "number", All: true}}, "$1 $2,000 $x $3.50", `{"a":[1,2000,3.50]}`},
		{"no match is no list", map[string]model.Rule{"a": {Match: []string{"x"}, All: true}}, "", `{}`},
		{"a keyword is a word, case apart", map[string]model.Rule{"a": status}, "Residency UNVERIFIED", `{"a":"unverified"}`},
		{"a keyword between marks", map[string]model.Rule{"a": status}, "status:verified.", `{"a":"verified"}`},
		{"keywords of several words", map[string]model.Rule{"a": status}, "It is not yet known", `{"a":"unverified"}`},
		{"a later occurrence counts", map[string]model.Rule{"a": status}, "reverified, then verified", `{"a":"verified"}`},
		{"no keyword", map[string]model.Rule{"a": status}, "verifiedly", `{"a":null}`},
		{"letters that grow in lower case", map[string]model.Rule{"a": status}, strings.Repeat("İ", 50) + " verified", `{"a":"verified"}`},
		{"html is not escaped", map[string]model.Rule{"a": match("", `.*`)}, `<a> & "b"`, `{"a":"<a> & \"b\""}`},
		{"booleans", map[string]model.Rule{"a": match("boolean", "a: (.*)"), "b": match("boolean", "b: (.*)"), "c": match("boolean", "c: (.*)")}, "a: Yes\nb: off\nc: maybe", `{"a":true,"b":false}`},
		{"an integer is whole", map[string]model.Rule{"a": match("integer", `a(\S+)`), "b": match("integer", `b(\S+)`)}, "a12.5 b9007199254740993", `{"b":9007199254740993}`},
		{"a pattern whose find does not convert gives way", map[string]model.Rule{"a": match("number", "a=(.*)", `b=(\d)`)}, "a=x\nb=2", `{"a":2}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := client(t, model.Spec{Provider: "rules", Rules: c.rules})
			for range 3 { // map order must not show
				got, err := m.Generate(t.Context(), model.Request{Messages: []model.Message{{Text: c.message}}})
				if err != nil || got.Text != c.want {
					t.Fatalf("Generate(%q) = %s, %v, want %s", c.message, got.Text, err, c.want)
				}
			}
		})
	}
}

func TestFiguresAreReadAsDocumentsWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"12": "12", "1,234.50": "1234.50", "$1,234": "1234", "1 234 567": "1234567", "1\u00a0234": "1234", "€ 5": "5", "5 €": "5",
		"-5": "-5", "-$5": "-5", "$-5": "-5", "(1,200.00)": "-1200.00", "($5)": "-5", "007": "7", "0": "0", "0.50": "0.50", "-0.5": "-0.5",
		"12345678901234567890": "12345678901234567890",
		// Not guessed: these mean other things in other countries, or nothing.
		"1.234,56": "", "12,5": "", "1,23": "", "1,2345": "", "12,34,567": "", "1.2.3": "", "five": "", "": "", "(5": "", "5)": "", "--5": "", "1e5": "", ".": "", "$": "", "5%": "",
	} {
		m := client(t, model.Spec{Provider: "rules", Rules: map[string]model.Rule{"a": match("number", `^\[(.*)\]$`)}})
		got, err := m.Generate(t.Context(), model.Request{Messages: []model.Message{{Text: "[" + text + "]"}}})
		wanted := `{}`
		if want != "" {
			wanted = `{"a":` + want + `}`
		}
		if err != nil || got.Text != wanted {
			t.Errorf("%q is read as %s (%v), want %s", text, got.Text, err, wanted)
		}
	}
}

func TestBadRulesAreRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		rules map[string]model.Rule
		says  string
	}{
		"nothing":                        {map[string]model.Rule{"a": {}}, "model.rules.a: give one of match, one_of and text"},
		"two leads":                      {map[string]model.Rule{"a": {Match: []string{"x"}, Text: "y"}}, "give one of"},
		"an unknown kind":                {map[string]model.Rule{"a": match("float", "x")}, `as is "float"`},
		"a kind without a match":         {map[string]model.Rule{"a": {Text: "x", As: "number"}}, "as and all go with match"},
		"a broken pattern":               {map[string]model.Rule{"a": match("", "(")}, "missing closing )"},
		"an unknown name":                {map[string]model.Rule{"a": {Text: "{{b}}"}}, "{{b}}"},
		"an unknown name in a choice":    {map[string]model.Rule{"a": {OneOf: []model.Choice{{Value: raw(`"{{b}}"`), Keywords: []string{"x"}}}}}, "{{b}}"},
		"an unknown name in a default":   {map[string]model.Rule{"a": {Default: raw(`"{{b}}"`)}}, "{{b}}"},
		"a text that shows a text":       {map[string]model.Rule{"a": {Text: "{{b}}"}, "b": {Text: "x"}}, "{{b}}"},
		"a text that shows itself":       {map[string]model.Rule{"a": {Text: "{{a}}"}}, "{{a}}"},
		"a place inside a value":         {map[string]model.Rule{"a": match("", "x"), "a.b": match("", "y")}, "a and a.b fill the same place"},
		"the same behind a name between": {map[string]model.Rule{"a": match("", "x"), "a-b": match("", "y"), "a.b": match("", "z")}, "a and a.b fill the same place"},
		"a place two levels inside":      {map[string]model.Rule{"a": match("", "x"), "a.b.c": match("", "y")}, "a and a.b.c fill the same place"},
		"an empty step":                  {map[string]model.Rule{"a..b": match("", "x")}, "empty step"},
		"no path":                        {map[string]model.Rule{"": match("", "x")}, "empty step"},
	}
	for name, c := range cases {
		_, err := model.New(model.Spec{Provider: "rules", Rules: c.rules})
		if !fault.Is(err, fault.Config) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: New() = %v, want %s", name, err, c.says)
		}
	}
}

func TestRulesEndWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := client(t, model.Spec{Provider: "rules", Rules: map[string]model.Rule{"a": match("", "x")}})
	if _, err := m.Generate(ctx, question()); !errors.Is(err, context.Canceled) {
		t.Errorf("Generate() = %v", err)
	}
}
