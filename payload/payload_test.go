package payload_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/holodeck-run/holodeck/payload"
)

func TestEveryFieldIsAlwaysSent(t *testing.T) {
	cases := map[string]struct {
		value any
		want  string
	}{
		"file":     {payload.FileInput{Path: "a<b>.pdf", Pages: payload.Pages{1, 2}}, `{"path":"a<b>.pdf","url":null,"type":null,"description":null,"pages":[1,2],"sheet":null,"range":null,"cache":null}`},
		"input":    {payload.AgentInput{Message: "Hi & bye"}, `{"message":"Hi & bye","context":null,"files":null}`},
		"result":   {payload.AgentResult{Output: json.RawMessage(`{"id":9007199254740993}`), NumTurns: 1, AgentID: "x"}, `{"output":{"id":9007199254740993},"token_usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"cache_creation_tokens":0,"cache_read_tokens":0},"num_turns":1,"agent_id":"x"}`},
		"document": {payload.Document{MarkdownContent: "a < b"}, `{"original":{"path":null,"url":null,"type":null,"description":null,"pages":null,"sheet":null,"range":null,"cache":null},"markdown_content":"a < b","metadata":{"source_name":"","type":"","mime_type":"","size_bytes":0,"page_count":null,"pages_extracted":null,"sheets":null,"sheet_extracted":null,"range_extracted":null,"truncated":false,"warnings":[]},"processing_time_ms":0}`},
	}
	for name, c := range cases {
		got, err := payload.Marshal(c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s = %s (%v)\nwant %s", name, got, err, c.want)
		}
	}
}

func TestInputsAreDecodedStrictly(t *testing.T) {
	cases := map[string]struct {
		into interface{ UnmarshalJSON([]byte) error }
		json string
		want string
	}{
		"unknown key":      {&payload.AgentInput{}, `{"message":"a","mesage":"b"}`, "mesage is not a field. Did you mean message?"},
		"wrong case":       {&payload.AgentInput{}, `{"Message":"a"}`, "message is missing; it is required; Message is not a field. Did you mean message?"},
		"missing":          {&payload.AgentInput{}, `{}`, "message is missing; it is required"},
		"null message":     {&payload.AgentInput{}, `{"message":null}`, "message is null; it is required"},
		"number message":   {&payload.AgentInput{}, `{"message":5}`, "message must be a string, got a number"},
		"list context":     {&payload.AgentInput{}, `{"message":"a","context":[1]}`, "context must be an object, got a list"},
		"text files":       {&payload.AgentInput{}, `{"message":"a","files":"x"}`, "files must be a list, got a string"},
		"bad file in list": {&payload.AgentInput{}, `{"message":"a","files":[{"paht":"x"}]}`, "files: paht is not a field. Did you mean path?"},
		"null":             {&payload.AgentInput{}, `null`, "must be an object, got null"},
		"list":             {&payload.FileInput{}, `[]`, "must be an object, got a list"},
		"no JSON":          {&payload.FileInput{}, `{`, "not JSON: unexpected end of JSON input"},
		"two faults":       {&payload.FileInput{}, `{"path":1,"bytes":"x"}`, "path must be a string, got a number; bytes is not a field. Known: path, url, type, description, pages, sheet, range, cache."},
		"fraction page":    {&payload.FileInput{}, `{"path":"a","pages":[1.5]}`, "pages: item 1 must be a whole number, got 1.5"},
		"one page":         {&payload.FileInput{}, `{"path":"a","pages":1}`, "pages: must be a list of whole numbers, got a number"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := c.into.UnmarshalJSON([]byte(c.json))
			if err == nil || err.Error() != c.want {
				t.Errorf("decode %s = %v, want %s", c.json, err, c.want)
			}
		})
	}
}

func TestContextKeepsItsDigits(t *testing.T) {
	var in payload.AgentInput
	if err := json.Unmarshal([]byte(`{"message":"a","context":{"id":9007199254740993,"x":1.10}}`), &in); err != nil {
		t.Fatal(err)
	}
	if got := string(in.Context.(json.RawMessage)); got != `{"id":9007199254740993,"x":1.10}` {
		t.Errorf("context = %s", got)
	}
}

func TestReferencesAreJudged(t *testing.T) {
	f := payload.FileInput{Path: "a", URL: "http://h", Type: "PDF", Pages: payload.Pages{0, 3}}
	want := []string{
		"path and url are both set; give exactly one",
		`type "PDF" is unknown; use one of image, pdf, text, excel, word, powerpoint, csv, html, json, xml, email, notebook, epub, opendocument`,
		"page 0: pages count from 1",
	}
	if got := f.Faults(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("Faults() = %q, want %q", got, want)
	}
	if got := (payload.FileInput{}).Faults(); len(got) != 1 || got[0] != "path and url are both empty; give exactly one" {
		t.Errorf("Faults() of nothing = %q", got)
	}
}

// TestPeersVerdicts holds FileInput against the peer's recorded answers.
func TestPeersVerdicts(t *testing.T) {
	ours := map[string]string{"html": "html is a type here"}
	data, err := os.ReadFile("../../shared/golden/file_input.json")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the peer's recorded answers (shared/golden) are not here")
	}
	var pairs []struct{ Input, OK json.RawMessage }
	if err := json.Unmarshal(data, &pairs); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		var f payload.FileInput
		err := f.UnmarshalJSON(p.Input)
		if err == nil && f.Faults() != nil {
			err = payload.Faults(f.Faults())
		}
		if ours[f.Type] != "" {
			continue
		}
		if (err == nil) != (p.OK != nil) {
			t.Errorf("%s: %v, the peer says %s", p.Input, err, p.OK)
			continue
		}
		if err == nil {
			var want payload.FileInput
			if err := want.UnmarshalJSON(p.OK); err != nil {
				t.Fatal(err)
			}
			got, _ := payload.Marshal(f)
			wanted, _ := payload.Marshal(want)
			if string(got) != string(wanted) {
				t.Errorf("%s becomes %s, the peer's %s", p.Input, got, wanted)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"message":"a","context":{"b":[1,{}]},"files":[{"path":"x","pages":[1]}]}`))
	f.Add([]byte(`{"path":"a","pages":["2",1.0],"cache":false}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var in payload.AgentInput
		if in.UnmarshalJSON(data) == nil {
			out, err := payload.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			var again payload.AgentInput
			if err := again.UnmarshalJSON(out); err != nil {
				t.Errorf("%s was taken, its own print %s is not: %v", data, out, err)
			}
		}
		var ref payload.FileInput
		_ = ref.UnmarshalJSON(data)
	})
}
