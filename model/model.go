// Package model makes one call to a language model.
//
// In goes a [Request]: instructions, messages, and the JSON Schema that the
// answer should have. Out comes a [Response]: the model's text, unjudged, and
// the tokens it cost. Each provider speaks its own wire protocol, one file
// each; none retries by itself, since Temporal does.
//
// The package does not validate answers (that is agent, by its gate), reads
// no environment, and logs nothing of what it sends or receives.
package model

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/payload"
)

// DefaultTimeout bounds one call when the configuration does not.
const DefaultTimeout = 2 * time.Minute

// Client calls one model. It is safe for concurrent use. Its faults: Execution
// (retryable as the provider's answer says) and BackendInit (credentials,
// unknown model). A cancelled context comes back as the context's error.
type Client interface {
	Generate(ctx context.Context, r Request) (Response, error)
}

// Role says who spoke a message.
type Role string

// The roles of a conversation.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of the conversation.
type Message struct {
	Role   Role
	Text   string
	Images []Image
}

// Image is a picture for the model to see.
type Image struct {
	MIME string // image/png, image/jpeg, image/gif or image/webp
	Data []byte
}

// Request is one call. The zero value of an option leaves it to the client's
// defaults.
type Request struct {
	System   string
	Messages []Message
	Schema   json.RawMessage // of the answer; an object schema
}

// Response is one answer.
type Response struct {
	Text   string // the answer: JSON if the model kept to the schema
	Model  string // as the provider names it
	Finish string // why it stopped, in the provider's word; "length" if cut off, "refusal" if it would not
	Usage  payload.TokenUsage
}

// Spec says which model to call and how.
type Spec struct {
	Provider    string // openai, azure_openai, anthropic, ollama, rules or replay
	Name        string
	Endpoint    string // base URL; empty: the provider's own
	APIKey      string
	APIVersion  string        // azure_openai; empty: its v1 API
	Temperature *float64      // nil: 0.3, or the model's own where it takes no other
	TopP        *float64      // nil: the provider's default
	MaxTokens   int           // 0: 1000
	Timeout     time.Duration // of one call; 0: DefaultTimeout
	Rules       map[string]Rule
	Recordings  string // folder of a replay provider
	HTTP        http.RoundTripper
}

// New returns the client of s.Provider. It checks everything that can be
// checked without a call; its faults are of kind Config or BackendInit.
func New(s Spec) (Client, error) {
	if s.MaxTokens == 0 {
		s.MaxTokens = 1000
	}
	if s.Timeout == 0 {
		s.Timeout = DefaultTimeout
	}
	if err := s.checkKey(); err != nil {
		return nil, err
	}
	switch s.Provider {
	case "openai":
		return newOpenAI(s)
	case "azure_openai":
		return newAzure(s)
	case "anthropic":
		return newAnthropic(s)
	case "ollama":
		return newOllama(s)
	case "rules":
		return newRules(s.Rules)
	case "replay":
		return newReplay(s)
	default:
		return nil, fault.New(fault.Config, "choose provider", "Use openai, azure_openai, anthropic, ollama, rules or replay.", "model.provider is %q", s.Provider)
	}
}

// KeyVariable names the environment variable that holds a provider's key; ""
// for a provider without one.
func KeyVariable(provider string) string {
	switch provider {
	case "openai":
		return "OPENAI_API_KEY"
	case "azure_openai":
		return "AZURE_OPENAI_API_KEY"
	case "anthropic":
		return "ANTHROPIC_API_KEY"
	default:
		return ""
	}
}

func noKey(provider string) error {
	return fault.New(fault.BackendInit, "prepare "+provider,
		"Set "+KeyVariable(provider)+", or model.api_key in agent.yaml.", "there is no API key")
}

func (s Spec) temperature() float64 {
	if s.Temperature == nil {
		return 0.3
	}
	return *s.Temperature
}
