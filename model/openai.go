package model

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/holodeck-run/holodeck/payload"
)

const openAIEndpoint = "https://api.openai.com/v1"

// chat speaks OpenAI's chat completions, which most servers understand.
type chat struct {
	spec     Spec
	official bool // OpenAI's own API or Azure's: takes max_completion_tokens
	service  openai.ChatCompletionService
}

func newOpenAI(s Spec) (Client, error) {
	official := s.Endpoint == "" || strings.HasPrefix(s.Endpoint, "https://api.openai.com")
	if official && s.APIKey == "" {
		return nil, noKey(s.Provider)
	}
	if s.Endpoint == "" {
		s.Endpoint = openAIEndpoint
	}
	base, err := s.baseURL("", "/chat/completions")
	if err != nil {
		return nil, err
	}
	opts := []option.RequestOption{option.WithBaseURL(base)}
	if s.APIKey != "" {
		opts = append(opts, option.WithAPIKey(s.APIKey))
	}
	return newChat(s, official, opts), nil
}

// newAzure takes the deployment path when an API version is named, else the
// v1 API, which has none.
func newAzure(s Spec) (Client, error) {
	if s.APIKey == "" {
		return nil, noKey(s.Provider)
	}
	suffix := "openai/v1/"
	opts := []option.RequestOption{option.WithHeader("api-key", s.APIKey)}
	if s.APIVersion != "" {
		suffix = "openai/deployments/" + url.PathEscape(s.Name) + "/"
		opts = append(opts, option.WithQuery("api-version", s.APIVersion))
	}
	base, err := s.baseURL(suffix, "/openai/v1", "/openai")
	if err != nil {
		return nil, err
	}
	return newChat(s, true, append(opts, option.WithBaseURL(base))), nil
}

func newChat(s Spec, official bool, opts []option.RequestOption) Client {
	opts = append(opts, option.WithHTTPClient(s.httpClient()), option.WithMaxRetries(0))
	return chat{s, official, openai.NewChatCompletionService(opts...)}
}

// Generate implements Client.
func (c chat) Generate(ctx context.Context, r Request) (Response, error) {
	call, cancel := context.WithTimeout(ctx, c.spec.Timeout)
	defer cancel()
	answer, err := c.service.New(call, c.params(r))
	if err != nil {
		return Response{}, c.spec.failed(ctx, err)
	}
	if answer == nil {
		return Response{}, c.spec.badAnswer("null")
	}
	if len(answer.Choices) == 0 {
		return Response{}, c.spec.badAnswer("no choices" + tail(c.spec.hideKey(errorInside(answer.RawJSON()))))
	}
	choice := answer.Choices[0]
	text, finish := choice.Message.Content, choice.FinishReason
	if text == "" && choice.Message.Refusal != "" {
		text, finish = choice.Message.Refusal, "refusal"
	}
	u := answer.Usage
	return Response{
		Text: text, Model: answer.Model, Finish: finish,
		Usage: payload.TokenUsage{
			PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens,
			TotalTokens:     max(u.TotalTokens, u.PromptTokens+u.CompletionTokens),
			CacheReadTokens: u.PromptTokensDetails.CachedTokens,
		},
	}, nil
}

func (c chat) params(r Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: c.spec.Name}
	if r.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(r.System))
	}
	for _, m := range r.Messages {
		p.Messages = append(p.Messages, chatMessage(m))
	}
	if len(r.Schema) > 0 {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "answer", Schema: r.Schema, Strict: openai.Bool(strictFits(r.Schema)),
		}}
	}
	if c.official {
		p.MaxCompletionTokens = openai.Int(int64(c.spec.MaxTokens))
	} else {
		p.MaxTokens = openai.Int(int64(c.spec.MaxTokens))
	}
	if c.spec.Temperature != nil || !reasons(c.spec.Name) {
		p.Temperature = openai.Float(c.spec.temperature())
	}
	if c.spec.TopP != nil {
		p.TopP = openai.Float(*c.spec.TopP)
	}
	return p
}

// reasons tells OpenAI's reasoning models, which refuse any temperature but
// their own.
func reasons(name string) bool {
	for _, prefix := range []string{"gpt-5", "o1", "o3", "o4"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func chatMessage(m Message) openai.ChatCompletionMessageParamUnion {
	if m.Role == Assistant {
		return openai.AssistantMessage(m.Text)
	}
	if len(m.Images) == 0 {
		return openai.UserMessage(m.Text)
	}
	parts := []openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(m.Text)}
	for _, img := range m.Images {
		parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{
			URL: "data:" + img.MIME + ";base64," + base64.StdEncoding.EncodeToString(img.Data),
		}))
	}
	return openai.UserMessage(parts)
}

// errorInside returns the words of an error that came with a success, as some
// compatible servers send it; "" for none.
func errorInside(body string) string {
	var shape struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal([]byte(body), &shape) != nil || shape.Error == nil {
		return ""
	}
	return explanation([]byte(body))
}
