package model_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/model"
	"github.com/holodeck-run/holodeck/payload"
)

// scripted answers from a list.
type scripted struct {
	answers []model.Response
	errs    []error
	calls   int
}

func (s *scripted) Generate(context.Context, model.Request) (model.Response, error) {
	i := s.calls
	s.calls++
	if i < len(s.errs) && s.errs[i] != nil {
		return model.Response{}, s.errs[i]
	}
	return s.answers[i], nil
}

func picture() model.Request {
	r := question()
	r.Messages[0].Images = []model.Image{{MIME: "image/png", Data: []byte("picture")}}
	return r
}

func TestWhatWasRecordedIsReplayed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "on demand")
	answers := []model.Response{
		{Text: `{"n": "<1> & 9007199254740993"}`, Model: "m", Finish: "stop", Usage: payload.TokenUsage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3, CacheReadTokens: 4}},
		{Text: "other", Model: "m", Finish: "length"},
	}
	recorder, err := model.Recorder(&scripted{answers: answers}, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []model.Request{question(), picture()} {
		if _, err := recorder.Generate(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	replay := client(t, model.Spec{Provider: "replay", Recordings: dir})
	for i, r := range []model.Request{question(), picture()} {
		got, err := replay.Generate(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(answers[i], got); diff != "" {
			t.Errorf("answer %d (-want +got):\n%s", i, diff)
		}
	}
	for _, name := range files(t, dir) {
		if data, _ := os.ReadFile(filepath.Join(dir, name)); strings.Contains(string(data), "picture") || !strings.HasSuffix(name, ".json") {
			t.Errorf("%s holds an image's bytes, or is left over", name)
		}
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func TestAnyDifferenceIsANewRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recorder, err := model.Recorder(&scripted{answers: []model.Response{{Text: "x"}}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recorder.Generate(t.Context(), picture()); err != nil {
		t.Fatal(err)
	}
	replay := client(t, model.Spec{Provider: "replay", Recordings: dir})
	for name, change := range map[string]func(*model.Request){
		"system":  func(r *model.Request) { r.System += "." },
		"message": func(r *model.Request) { r.Messages[0].Text += "." },
		"role":    func(r *model.Request) { r.Messages[0].Role = model.Assistant },
		"image":   func(r *model.Request) { r.Messages[0].Images[0].Data = []byte("other") },
		"schema":  func(r *model.Request) { r.Schema = []byte(`{}`) },
		"turns":   func(r *model.Request) { r.Messages = append(r.Messages, model.Message{Role: model.User, Text: "x"}) },
	} {
		r := picture()
		change(&r)
		_, err := replay.Generate(t.Context(), r)
		judge(t, err, verdict{fault.Execution, false, 0, "no recording of this request"})
		if err == nil {
			t.Errorf("another %s was answered", name)
		}
	}
}

func TestADamagedRecordingSaysWhich(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recorder, err := model.Recorder(&scripted{answers: []model.Response{{Text: "x"}}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recorder.Generate(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, files(t, dir)[0])
	for _, text := range []string{`{"request":`, ``, `null`, `{}`, `{"request":{},"response":{"text":5}}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = client(t, model.Spec{Provider: "replay", Recordings: dir}).Generate(t.Context(), question())
		if !fault.Is(err, fault.Config) || !strings.Contains(err.Error(), filepath.Base(name)) || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("Generate() over %q = %v", text, err)
		}
	}
}

func TestAFailedCallIsNotRecorded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wrong := fault.New(fault.Execution, "call", "", "no")
	recorder, err := model.Recorder(&scripted{errs: []error{wrong}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recorder.Generate(t.Context(), question()); err != wrong {
		t.Errorf("Generate() = %v", err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("%v was recorded", left)
	}
}

func TestAFolderThatCannotBeWrittenIsAConfigFault(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Recorder(&scripted{}, file); !fault.Is(err, fault.Config) {
		t.Errorf("Recorder() over a file = %v", err)
	}
	dir := filepath.Join(t.TempDir(), "gone")
	recorder, err := model.Recorder(&scripted{answers: []model.Response{{Text: "x"}}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := recorder.Generate(t.Context(), question()); !fault.Is(err, fault.Config) || !strings.Contains(err.Error(), "record to") {
		t.Errorf("Generate() without its folder = %v", err)
	}
}
