package e2e_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/flow"
	"github.com/holodeck-run/holodeck/payload"
	"github.com/holodeck-run/holodeck/worker"
)

const limit = 2 << 20

// read parses one file with three attempts and returns its size.
func read(ctx workflow.Context, ref payload.FileInput) (int, error) {
	ctx = flow.Parameters{StartToClose: 20 * time.Second, MaximumAttempts: 3, InitialInterval: 5 * time.Millisecond}.Apply(ctx)
	doc, err := flow.Parse(ctx, ref)
	return len(doc.MarkdownContent), err
}

func reads(r sdkworker.Registry) {
	r.RegisterWorkflowWithOptions(read, workflow.RegisterOptions{Name: "read"})
	asks(r)
}

// tooLarge holds a failure against what PayloadsTooLarge promises.
func tooLarge(t *testing.T, end ending, fix string) {
	t.Helper()
	info := end.failure.GetApplicationFailureInfo()
	if info.GetType() != "PayloadsTooLarge" || !info.GetNonRetryable() || end.attempt != 1 {
		t.Fatalf("failure is %s after %d attempts: %s", info.GetType(), end.attempt, end.failure.GetMessage())
	}
	var d struct {
		Size  int64
		Limit int64
		Fix   []string
	}
	if details(t, end.failure, &d); d.Size <= d.Limit || d.Limit <= 0 || d.Limit > limit || strings.Join(d.Fix, " ") != fix {
		t.Errorf("details are %+v", d)
	}
}

func TestADocumentOverTheLimitFailsOnce(t *testing.T) {
	for name, line := range map[string]string{
		"of letters": "A line of words that goes on and on.\n",
		"of escapes": "\"\\\t\"\"\\\\\"\n", // takes twice its size in JSON
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, nil)
			dir := folder(t, "http://127.0.0.1:1")
			put(t, dir, "big.txt", []byte(strings.Repeat(line, (3<<20)/len(line))))
			p.serve(t, bind(t, dir), reads)
			run := p.start(t, "read", payload.FileInput{Path: "big.txt"})
			if err := run.Get(t.Context(), nil); err == nil {
				t.Fatal("the workflow succeeded")
			}
			tooLarge(t, only(t, p.history(t, run)), "shorten")
		})
	}
}

func TestADocumentJustBelowTheLimitPasses(t *testing.T) {
	p := begin(t, nil)
	dir := folder(t, "http://127.0.0.1:1")
	const line = "A line of words that goes on & <on>.\n\n"
	put(t, dir, "big.txt", []byte(strings.Repeat(line, (limit-200<<10)/(len(line)+2))))
	p.serve(t, bind(t, dir), reads)
	var n int
	if err := p.start(t, "read", payload.FileInput{Path: "big.txt"}).Get(t.Context(), &n); err != nil || n < limit-300<<10 {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

func TestAnAnswerOverTheLimitIsNotPaidTwice(t *testing.T) {
	p := begin(t, nil)
	object, _ := json.Marshal(map[string]any{"id": 1, "text": strings.Repeat("word ", limit/5)})
	model := speak(t, completes(string(object)))
	p.serve(t, bind(t, folder(t, model.URL)), reads)
	run := p.start(t, "ask", payload.AgentInput{Message: "?"})
	if err := run.Get(t.Context(), nil); err == nil {
		t.Fatal("the workflow succeeded")
	}
	tooLarge(t, only(t, p.history(t, run)), "gate")
	if n := model.calls.Load(); n != 1 {
		t.Errorf("the model was called %d times", n)
	}
}

func TestAnInputOverTheLimitFailsTheWorkflow(t *testing.T) {
	p := begin(t, nil)
	model := speak(t, completes(`{"id":1}`))
	p.serve(t, bind(t, folder(t, model.URL)), func(r sdkworker.Registry) {
		r.RegisterWorkflowWithOptions(func(ctx workflow.Context, n int) error {
			_, err := ask(ctx, payload.AgentInput{Message: strings.Repeat("w", n)})
			return err
		}, workflow.RegisterOptions{Name: "long"})
	})
	run := p.start(t, "long", limit)
	if err := run.Get(t.Context(), nil); err == nil {
		t.Fatal("the workflow succeeded")
	}
	events := p.history(t, run)
	failure := events[len(events)-1].GetWorkflowExecutionFailedEventAttributes().GetFailure()
	if info := failure.GetApplicationFailureInfo(); info.GetType() != "PayloadsTooLarge" || model.calls.Load() != 0 {
		t.Errorf("failure is %v", failure)
	}
	for _, e := range events {
		if e.GetWorkflowTaskFailedEventAttributes() != nil {
			t.Error("a workflow task failed")
		}
	}
}

// doubling is a codec of a user's own: it makes every payload twice as large.
type doubling struct{}

// Encode implements converter.PayloadCodec.
func (doubling) Encode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		data, err := p.Marshal()
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("binary/doubled")}, Data: append(data, data...)}
	}
	return out, nil
}

// Decode implements converter.PayloadCodec.
func (doubling) Decode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		if string(p.GetMetadata()["encoding"]) != "binary/doubled" {
			out[i] = p
			continue
		}
		out[i] = &commonpb.Payload{}
		if err := out[i].Unmarshal(p.GetData()[:len(p.GetData())/2]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// shelf is an external storage of a user's own, in memory.
type shelf struct {
	mu    sync.Mutex
	items []*commonpb.Payload
}

// Name implements converter.StorageDriver.
func (s *shelf) Name() string { return "shelf" }

// Type implements converter.StorageDriver.
func (s *shelf) Type() string { return "shelf" }

// Store implements converter.StorageDriver.
func (s *shelf) Store(_ converter.StorageDriverStoreContext, in []*commonpb.Payload) ([]converter.StorageDriverClaim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	claims := make([]converter.StorageDriverClaim, len(in))
	for i, p := range in {
		claims[i].ClaimData = map[string]string{"at": strconv.Itoa(len(s.items))}
		s.items = append(s.items, p)
	}
	return claims, nil
}

// Retrieve implements converter.StorageDriver.
func (s *shelf) Retrieve(_ converter.StorageDriverRetrieveContext, claims []converter.StorageDriverClaim) ([]*commonpb.Payload, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*commonpb.Payload, len(claims))
	for i, c := range claims {
		at, err := strconv.Atoi(c.ClaimData["at"])
		if err != nil {
			return nil, err
		}
		out[i] = s.items[at]
	}
	return out, nil
}

func TestTheGuardLeavesToExternalStorageWhatItTakes(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the embedded server; run without -short")
	}
	dir := t.TempDir()
	put(t, dir, "big.txt", []byte(strings.Repeat("A line of words.\n\n", limit*2/18)))
	store := &shelf{}
	p := own(t, "", dir, func(o *client.Options) {
		o.ExternalStorage = converter.ExternalStorage{Drivers: []converter.StorageDriver{store}}
	})
	run := p.start(t, "read", payload.FileInput{Path: "big.txt"})
	var n int
	if err := run.Get(t.Context(), &n); err != nil || n < limit*3/2 || len(store.items) == 0 {
		t.Errorf("read %d bytes, %v, with %d payloads stored", n, err, len(store.items))
	}
}

// doubled gives a client the codec of the user's.
func doubled(o *client.Options) {
	o.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), doubling{})
}

// own is a worker of a user's own: their client, our plugin.
func own(t *testing.T, url string, dir string, change func(*client.Options)) place {
	t.Helper()
	cfg := &config.Worker{}
	var plugin *worker.Plugin
	p := begin(t, func(o *client.Options) {
		var err error
		if url != "" {
			cfg, err = config.Load(dir+"/worker.yaml", config.Options{})
			if err != nil {
				t.Fatal(err)
			}
		} else {
			cfg.Files.Roots = []string{dir}
		}
		if plugin, err = worker.NewPlugin(cfg, worker.Options{Parser: parser}); err != nil {
			t.Fatal(err)
		}
		change(o)
		o.Plugins = []client.Plugin{plugin}
	})
	w := sdkworker.New(p.Client, p.queue, sdkworker.Options{})
	reads(w)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return p
}

func TestAPluginWithoutNodesServesDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the embedded server; run without -short")
	}
	dir := t.TempDir()
	put(t, dir, "note.txt", []byte("A few words."))
	p := own(t, "", dir, doubled)
	run := p.start(t, "read", payload.FileInput{Path: "note.txt"})
	var n int
	if err := run.Get(t.Context(), &n); err != nil || n < 12 {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if text := unwrapped(t, export(t, p.history(t, run))); !strings.Contains(text, "binary/doubled") {
		// the encoding's name stands in the metadata in base64
		t.Error("the user's codec was not used")
	}
}

func TestTheGuardMeasuresBehindTheUsersCodec(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the embedded server; run without -short")
	}
	object, _ := json.Marshal(map[string]any{"id": 1, "text": strings.Repeat("word ", limit/5*6/10)})
	model := speak(t, completes(string(object)))
	dir := folder(t, model.URL)
	put(t, dir, "big.txt", []byte(strings.Repeat("A line of words.\n\n", limit*6/10/18)))
	p := own(t, model.URL, dir, doubled)
	run := p.start(t, "ask", payload.AgentInput{Message: "?"})
	if err := run.Get(t.Context(), nil); err == nil {
		t.Fatal("the workflow succeeded")
	}
	tooLarge(t, only(t, p.history(t, run)), "gate")
	if n := model.calls.Load(); n != 1 {
		t.Errorf("the model was called %d times", n)
	}
	p.queue += "-2"
	w := sdkworker.New(p.Client, p.queue, sdkworker.Options{})
	reads(w)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	run = p.start(t, "read", payload.FileInput{Path: "big.txt"})
	if err := run.Get(t.Context(), nil); err == nil {
		t.Fatal("the workflow succeeded")
	}
	tooLarge(t, only(t, p.history(t, run)), "pages sheet range")
}
