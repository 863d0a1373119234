package model

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/holodeck-run/holodeck/payload"
)

const anthropicEndpoint = "https://api.anthropic.com"

// answerTool is the tool a model is made to call where its structured output
// cannot express the schema.
const answerTool = "answer"

// messages speaks Anthropic's messages API.
type messages struct {
	spec    Spec
	service anthropic.MessageService
}

func newAnthropic(s Spec) (Client, error) {
	if s.APIKey == "" {
		return nil, noKey(s.Provider)
	}
	if s.Endpoint == "" {
		s.Endpoint = anthropicEndpoint
	}
	base, err := s.baseURL("", "/messages", "/v1")
	if err != nil {
		return nil, err
	}
	return messages{s, anthropic.NewMessageService(
		option.WithBaseURL(base), option.WithAPIKey(s.APIKey),
		option.WithHTTPClient(s.httpClient()), option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),        // its spans may carry prompts, by an environment variable
		option.WithRequestTimeout(s.Timeout), // else the SDK refuses a large max_tokens unless streamed
	)}, nil
}

// Generate implements Client.
func (m messages) Generate(ctx context.Context, r Request) (Response, error) {
	call, cancel := context.WithTimeout(ctx, m.spec.Timeout)
	defer cancel()
	answer, err := m.service.New(call, m.params(r))
	if err != nil {
		return Response{}, m.spec.failed(ctx, err)
	}
	if answer == nil {
		return Response{}, m.spec.badAnswer("null")
	}
	if answer.StopReason == "" && len(answer.Content) == 0 { // an answer may be empty (a refusal, a cut-off), but says why it ended
		return Response{}, m.spec.badAnswer("no stop_reason" + tail(m.spec.hideKey(errorInside(answer.RawJSON()))))
	}
	u := answer.Usage
	prompt := u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens
	return Response{
		Text: anthropicText(answer.Content), Model: string(answer.Model), Finish: anthropicFinish(answer.StopReason),
		Usage: payload.TokenUsage{
			PromptTokens: prompt, CompletionTokens: u.OutputTokens, TotalTokens: prompt + u.OutputTokens,
			CacheCreationTokens: u.CacheCreationInputTokens, CacheReadTokens: u.CacheReadInputTokens,
		},
	}, nil
}

func (m messages) params(r Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: anthropic.Model(m.spec.Name), MaxTokens: int64(m.spec.MaxTokens)}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	for _, msg := range r.Messages {
		p.Messages = append(p.Messages, anthropicTurn(msg))
	}
	m.structure(&p, r.Schema)
	if m.spec.TopP != nil {
		p.TopP = anthropic.Float(*m.spec.TopP)
	}
	if m.spec.Temperature != nil || m.spec.TopP == nil { // the API refuses both at once
		p.Temperature = anthropic.Float(m.spec.temperature())
	}
	return p
}

// structure asks for the schema natively, in the reduced form the API takes,
// or else by a tool the model must call.
func (m messages) structure(p *anthropic.MessageNewParams, schema json.RawMessage) {
	if len(schema) == 0 {
		return
	}
	if reduced, ok := anthropicReduce(schema); ok && !strings.HasPrefix(m.spec.Name, "claude-3") {
		p.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: reduced}
		return
	}
	var fields struct {
		Properties json.RawMessage `json:"properties"` // raw: the model answers in this order
		Required   []string        `json:"required"`
	}
	var extra map[string]any
	_ = json.Unmarshal(schema, &fields)
	_ = json.Unmarshal(schema, &extra)
	for _, known := range []string{"properties", "required", "type", "oneOf", "anyOf", "allOf"} {
		delete(extra, known) // a tool refuses combinations at its top
	}
	tool := anthropic.ToolParam{Name: answerTool, InputSchema: anthropic.ToolInputSchemaParam{
		Properties: fields.Properties, Required: fields.Required, ExtraFields: extra,
	}}
	p.Tools = []anthropic.ToolUnionParam{{OfTool: &tool}}
	p.ToolChoice = anthropic.ToolChoiceParamOfTool(answerTool)
}

func anthropicTurn(m Message) anthropic.MessageParam {
	if m.Role == Assistant {
		return anthropic.NewAssistantMessage(anthropic.NewTextBlock(m.Text))
	}
	blocks := make([]anthropic.ContentBlockParamUnion, 0, len(m.Images)+1)
	for _, img := range m.Images {
		blocks = append(blocks, anthropic.NewImageBlockBase64(img.MIME, base64.StdEncoding.EncodeToString(img.Data)))
	}
	return anthropic.NewUserMessage(append(blocks, anthropic.NewTextBlock(m.Text))...)
}

// anthropicText returns the answer tool's input if it was called, else the
// text.
func anthropicText(content []anthropic.ContentBlockUnion) string {
	var text strings.Builder
	for _, block := range content {
		if block.Type == "tool_use" && block.Name == answerTool {
			return string(block.Input)
		}
		if block.Type == "text" {
			text.WriteString(block.Text)
		}
	}
	return text.String()
}

func anthropicFinish(reason anthropic.StopReason) string {
	if reason == anthropic.StopReasonMaxTokens {
		return "length"
	}
	return string(reason)
}
