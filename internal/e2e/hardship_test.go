package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/payload"
	"github.com/holodeck-run/holodeck/samples"
	"github.com/holodeck-run/holodeck/samples/feedback"
	"github.com/holodeck-run/holodeck/samples/hardship"
	"github.com/holodeck-run/holodeck/worker"
)

// sample binds a sample's configuration as it is compiled in.
func sample(t *testing.T, files fs.FS, o worker.Options) *worker.Activities {
	t.Helper()
	data, err := fs.ReadFile(files, "worker.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse(config.Home{FS: files, File: "worker.yaml"}, data, config.Options{Local: true})
	if err != nil {
		t.Fatal(err)
	}
	o.Parser = parser
	a, err := worker.NewActivities(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// put writes a file into a folder of the test's.
func put(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func statement(t *testing.T, name string) []byte {
	t.Helper()
	data, err := hardship.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (p place) hardship(t *testing.T, ref payload.FileInput) (client.WorkflowRun, hardship.Result, error) {
	t.Helper()
	run := p.start(t, hardship.Name, hardship.Input{Files: []payload.FileInput{ref}})
	var got hardship.Result
	err := run.Get(t.Context(), &got)
	return run, got, err
}

func TestOtherStatementsGetOtherVerdicts(t *testing.T) {
	for name, want := range map[string]string{
		"statement-affordable.pdf": "affordable", "statement-marginal.pdf": "marginal", "statement-unaffordable.pdf": "unaffordable", "statement.txt": "",
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, nil)
			dir := t.TempDir()
			put(t, dir, name, statement(t, name))
			p.serve(t, sample(t, hardship.Files, worker.Options{Roots: []string{dir}}), samples.Register)
			run, got, err := p.hardship(t, payload.FileInput{Path: name})
			if err != nil {
				t.Fatal(err)
			}
			if want != "" && got.Affordability != want || got.Letter == "" || got.Tone == "" || got.Evidence.Customer.Name == "" || got.Evidence.Income.Net <= 0 ||
				got.Verdict.TableVersion == "" || !strings.Contains(got.Letter, got.Evidence.Customer.Name) {
				t.Errorf("result = %+v", got)
			}
			if ends := endings(p.history(t, run)); len(ends) != 3 {
				t.Errorf("%d activities ended, want parse, evidence and letter", len(ends))
			}
		})
	}
}

func TestBadDocumentsFailOnceByTheirKind(t *testing.T) {
	good := statementBytes(t)
	docx := []byte("PK\x03\x04")
	cases := []struct {
		name string
		file string
		data []byte
		ref  payload.FileInput
		kind string
	}{
		{"a damaged PDF", "damaged.pdf", good[:len(good)/3], payload.FileInput{Path: "damaged.pdf"}, "DocumentError"},
		{"a PDF that is noise", "noise.pdf", append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("noise "), 500)...), payload.FileInput{Path: "noise.pdf"}, "DocumentError"},
		{"an empty file", "empty.pdf", nil, payload.FileInput{Path: "empty.pdf"}, "DocumentError"},
		{"a missing file", "other.pdf", good, payload.FileInput{Path: "none.pdf"}, "FileNotFoundError"},
		{"a file outside", "other.pdf", good, payload.FileInput{Path: "/etc/hostname"}, "FileNotFoundError"},
		{"an office file named pdf", "liar.pdf", append(docx, bytes.Repeat([]byte{0}, 100)...), payload.FileInput{Path: "liar.pdf", Type: "pdf"}, "UnsupportedFileTypeError"},
		{"a page beyond the last", "good.pdf", good, payload.FileInput{Path: "good.pdf", Pages: payload.Pages{99}}, "ExtractionParamError"},
		{"a sheet of a PDF", "good.pdf", good, payload.FileInput{Path: "good.pdf", Sheet: "A"}, "ExtractionParamError"},
		{"no reference", "good.pdf", good, payload.FileInput{}, "ConfigError"},
		{"a blocked address", "good.pdf", good, payload.FileInput{URL: "http://127.0.0.1:1/x.pdf"}, "DownloadError"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := begin(t, nil)
			dir := t.TempDir()
			put(t, dir, c.file, c.data)
			p.serve(t, sample(t, hardship.Files, worker.Options{Roots: []string{dir}}), samples.Register)
			run, _, err := p.hardship(t, c.ref)
			if err == nil {
				t.Fatal("the workflow succeeded")
			}
			end := only(t, p.history(t, run))
			info := end.failure.GetApplicationFailureInfo()
			if info.GetType() != c.kind || !info.GetNonRetryable() || end.attempt != 1 {
				t.Errorf("failure is %s after %d attempts: %s", info.GetType(), end.attempt, end.failure.GetMessage())
			}
		})
	}
}

func statementBytes(t *testing.T) []byte { return statement(t, "statement-affordable.pdf") }

func TestTwoFilesFailTheWorkflowItself(t *testing.T) {
	p := begin(t, nil)
	p.serve(t, sample(t, hardship.Files, worker.Options{}), samples.Register)
	run := p.start(t, hardship.Name, hardship.Input{Files: []payload.FileInput{{Path: "a"}, {Path: "b"}}})
	if err := run.Get(t.Context(), nil); err == nil {
		t.Fatal("the workflow succeeded")
	}
	events := p.history(t, run)
	info := events[len(events)-1].GetWorkflowExecutionFailedEventAttributes().GetFailure().GetApplicationFailureInfo()
	if info.GetType() != "ConfigError" {
		t.Errorf("failure is %v", info)
	}
}

// export is the whole history as JSON, as `temporal workflow show` gives it.
func export(t *testing.T, events []*historypb.HistoryEvent) []byte {
	t.Helper()
	data, err := protojson.Marshal(&historypb.History{Events: events})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// unwrapped undoes the base64 of payloads, so that text in them can be found.
func unwrapped(t *testing.T, data []byte) string {
	t.Helper()
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, sub := range v {
				b.WriteString(k + "\n")
				walk(sub)
			}
		case []any:
			for _, sub := range v {
				walk(sub)
			}
		case string:
			b.WriteString(v + "\n")
			if plain, err := base64.StdEncoding.DecodeString(v); err == nil {
				b.Write(plain)
				b.WriteByte('\n')
			}
		}
	}
	walk(doc)
	return b.String()
}

func TestHistoryHoldsNoBytesAndNoRawText(t *testing.T) {
	p := begin(t, nil)
	pdf := statementBytes(t)
	const prose = "My private reasoning about the customer, at length."
	var model *provider
	model = speak(t, func(w http.ResponseWriter, r *http.Request) {
		object := `{"customer":{"name":"A. Sample","account":"X-1"},"income":{"net":4000,"expenses":2000},"residency":{"status":"verified"}}`
		switch model.calls.Load() {
		case 1: // refused by the gate, retried by the server
			object = `{"customer":"nobody"}`
		case 2:
		default:
			object = `{"letter":"Dear A. Sample, we can spread your payments over some months.","tone":"neutral"}`
		}
		completes(prose+"\n```json\n"+object+"\n```\n"+prose)(w, r)
	})
	dir := t.TempDir()
	put(t, dir, "statement.pdf", pdf)
	a := sample(t, overlay{hardship.Files, model.URL}, worker.Options{Roots: []string{dir}})
	p.serve(t, a, samples.Register)
	run, got, err := p.hardship(t, payload.FileInput{Path: "statement.pdf"})
	if err != nil || !strings.HasPrefix(got.Letter, "Dear A. Sample,") {
		t.Fatalf("result = %+v, %v", got, err)
	}
	data := export(t, p.history(t, run))
	text := unwrapped(t, data)
	if !strings.Contains(text, "Dear A. Sample") || !strings.Contains(text, "Net income") {
		t.Fatal("the history holds neither letter nor statement: the test does not look where it should")
	}
	for what, part := range map[string]string{
		"the PDF's head":          string(pdf[:16]),
		"a stream of the PDF":     string(pdf[len(pdf)/2 : len(pdf)/2+16]),
		"the PDF in base64":       base64.StdEncoding.EncodeToString(pdf[:30]),
		"base64 inside a payload": base64.StdEncoding.EncodeToString(pdf[3:33]),
		"the model's prose":       "private reasoning",
		"the model's fence":       "```",
	} {
		if strings.Contains(text, part) || bytes.Contains(data, []byte(part)) {
			t.Errorf("the history holds %s", what)
		}
	}
}

// overlay is a sample whose agents call a provider at url.
type overlay struct {
	fs.FS
	url string
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) { return o.FS.Open(name) }

// ReadFile implements fs.ReadFileFS.
func (o overlay) ReadFile(name string) ([]byte, error) {
	data, err := fs.ReadFile(o.FS, name)
	before, rest, found := strings.Cut(string(data), "\nmodel:")
	if !strings.HasPrefix(name, "agents/") || err != nil || !found {
		return data, err
	}
	_, after, _ := strings.Cut(rest, "\ninstructions:")
	return []byte(before + "\nmodel: {provider: openai, name: m, endpoint: '" + o.url + "', api_key: sk-test}\ninstructions:" + after), nil
}

func TestARuleSendsThePlanBackOnce(t *testing.T) {
	p := begin(t, nil)
	p.serve(t, sample(t, feedback.Files, worker.Options{}), samples.Register)
	run := p.start(t, feedback.Name, feedback.Input{})
	var got feedback.Result
	if err := run.Get(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Attempts != 2 || len(got.Findings) != 1 || got.Plan.Instalment != 300 || got.Plan.Months != 8 {
		t.Errorf("result = %+v", got)
	}
	if ends := endings(p.history(t, run)); len(ends) != 2 {
		t.Errorf("the agent was asked %d times", len(ends))
	}
}
