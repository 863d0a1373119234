package cli_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
)

// TestTracesAndMetricsCarryTheGenAINames runs a node against a server that
// speaks a provider's protocol, and reads what an OTLP collector and a
// Prometheus scrape are given. Neither ever holds prompt or answer.
func TestTracesAndMetricsCarryTheGenAINames(t *testing.T) {
	slow(t)
	spans := make(chan []byte, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		data, _ := io.ReadAll(body)
		spans <- append([]byte(r.URL.Path+" "), data...)
	}))
	defer collector.Close()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":"1","object":"chat.completion","model":"answering-model","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"secret\":\"answer\"}"}}],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`)
	}))
	defer provider.Close()

	dir := t.TempDir()
	metrics := freeAddress(t)
	for name, text := range map[string]string{
		"worker.yaml": "temporal: {task_queue: telemetry}\nnodes:\n  - {id: ask, edge: {agent: a.yaml}, gate: {schema: g.json}, source: 'Policy 7'}\n" +
			"telemetry: {otlp_endpoint: '" + collector.URL + "', metrics: '" + metrics + "'}\n",
		"a.yaml": "name: asker\nmodel: {provider: openai, name: asked-model, endpoint: '" + provider.URL + "'}\ninstructions: {inline: Ask.}\nresponse_format: {type: object}\n",
		"g.json": `{"type":"object"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, s := dev(t, t.TempDir(), "--ephemeral", "--headless")
	w := start(t, dir, "worker", "--address", s.Address)
	w.stderr.wait(t, 0, "Worker running.")
	c, err := client.Dial(client.Options{HostPort: s.Address})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	call, err := c.ExecuteActivity(t.Context(), client.StartActivityOptions{ID: "ask-1", TaskQueue: "telemetry", StartToCloseTimeout: time.Minute}, "ask", map[string]any{"message": "the prompt"})
	if err != nil {
		t.Fatal(err)
	}
	var result map[string]any
	if err := call.Get(t.Context(), &result); err != nil {
		t.Fatal(err)
	}
	scraped := get(t, "http://"+metrics+"/metrics")
	for _, want := range []string{
		`gen_ai_client_token_usage_sum{`, `gen_ai_token_type="input"`, `gen_ai_client_operation_duration_seconds_count{`, `gen_ai_request_model="asked-model"`, `temporal_activity_execution_latency`,
	} {
		if !strings.Contains(scraped, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	if code, _ := w.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("the worker ends with %d", code)
	}
	close(spans)
	var all []byte
	for data := range spans {
		all = append(all, data...)
	}
	for _, want := range []string{"/v1/traces", "RunActivity:ask", "invoke_agent asker", "chat asked-model", "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.usage.input_tokens", "gen_ai.response.model", "answering-model", "holodeck.node.source", "Policy 7"} {
		if !bytes.Contains(all, []byte(want)) {
			t.Errorf("no %s in the traces", want)
		}
	}
	for _, secret := range []string{"the prompt", "secret"} {
		if bytes.Contains(all, []byte(secret)) || strings.Contains(scraped, secret) {
			t.Errorf("telemetry holds %q", secret)
		}
	}
}

func TestDevServesTheTelemetryOfItsConfiguration(t *testing.T) {
	slow(t)
	dir, health, metrics := t.TempDir(), freeAddress(t), freeAddress(t)
	text := "nodes: []\ntelemetry: {metrics: '" + metrics + "', health: '" + health + "'}\n"
	if err := os.WriteFile(filepath.Join(dir, "worker.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := dev(t, dir, "--ephemeral", "--headless")
	for url, want := range map[string]string{"http://" + health + "/readyz": "ok", "http://" + metrics + "/metrics": "temporal_"} {
		if got := get(t, url); !strings.Contains(got, want) {
			t.Errorf("%s = %.200s, want %q", url, got, want)
		}
	}
	p.stop(syscall.SIGINT)
}
