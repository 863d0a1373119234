package model

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/holodeck-run/holodeck/payload"
)

const ollamaEndpoint = "http://127.0.0.1:11434"

// ollama speaks Ollama's own /api/chat: one POST. Its official Go client
// brings the whole program's 166 modules into the graph.
type ollama struct {
	spec   Spec
	url    string
	client *http.Client
}

func newOllama(s Spec) (Client, error) {
	if s.Endpoint == "" {
		s.Endpoint = ollamaEndpoint
	}
	u, err := s.baseURL("api/chat", "/chat", "/api", "/v1")
	if err != nil {
		return nil, err
	}
	return ollama{s, u, s.httpClient()}, nil
}

type ollamaMessage struct {
	Role    string   `json:"role"`
	Content string   `json:"content"`
	Images  [][]byte `json:"images,omitempty"` // base64 without a prefix
}

type ollamaRequest struct {
	Model    string          `json:"model"`
	Messages []ollamaMessage `json:"messages"`
	Stream   bool            `json:"stream"`
	Format   json.RawMessage `json:"format,omitempty"`
	Options  map[string]any  `json:"options"`
}

type ollamaResponse struct {
	Model           string         `json:"model"`
	Message         *ollamaMessage `json:"message"`
	DoneReason      string         `json:"done_reason"`
	PromptEvalCount int64          `json:"prompt_eval_count"`
	EvalCount       int64          `json:"eval_count"`
	Error           string         `json:"error"`
}

// Generate implements Client.
func (o ollama) Generate(ctx context.Context, r Request) (Response, error) {
	call, cancel := context.WithTimeout(ctx, o.spec.Timeout)
	defer cancel()
	body, err := json.Marshal(o.request(r))
	if err != nil {
		return Response{}, err
	}
	req, err := http.NewRequestWithContext(call, http.MethodPost, o.url, bytes.NewReader(body))
	if err != nil {
		return Response{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if o.spec.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+o.spec.APIKey)
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return Response{}, o.spec.failed(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return Response{}, o.spec.failed(ctx, err)
	}
	return o.answer(data)
}

func (o ollama) answer(data []byte) (Response, error) {
	var a ollamaResponse
	if json.Unmarshal(data, &a) != nil {
		return Response{}, o.spec.badAnswer("the body is not the JSON it should be")
	}
	if a.Message == nil {
		return Response{}, o.spec.badAnswer("no message" + tail(o.spec.hideKey(a.Error)))
	}
	return Response{
		Text: a.Message.Content, Model: a.Model, Finish: a.DoneReason,
		Usage: payload.TokenUsage{PromptTokens: a.PromptEvalCount, CompletionTokens: a.EvalCount, TotalTokens: a.PromptEvalCount + a.EvalCount},
	}, nil
}

func (o ollama) request(r Request) ollamaRequest {
	q := ollamaRequest{Model: o.spec.Name, Format: r.Schema, Options: map[string]any{
		"temperature": o.spec.temperature(), "num_predict": o.spec.MaxTokens,
	}}
	if o.spec.TopP != nil {
		q.Options["top_p"] = *o.spec.TopP
	}
	if r.System != "" {
		q.Messages = append(q.Messages, ollamaMessage{Role: "system", Content: r.System})
	}
	for _, m := range r.Messages {
		msg := ollamaMessage{Role: string(m.Role), Content: m.Text}
		for _, img := range m.Images {
			msg.Images = append(msg.Images, img.Data)
		}
		q.Messages = append(q.Messages, msg)
	}
	return q
}
