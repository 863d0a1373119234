// Package payload holds the values that cross workflow history: the inputs
// and results of holodeck's activities, field for field as they stand on the
// wire, and their strict decoding.
//
// References cross history, bytes never do: a [FileInput] names a file, and
// only the worker that opens it sees what is inside. The package is a leaf.
// Workflow code may import it: it opens no file, calls no model and knows
// neither Temporal nor a clock.
//
// Every field is always sent, null rather than missing, so that a client in a
// language without defaults can decode it. Large integers keep their digits.
package payload

import (
	"bytes"
	"encoding/json"
)

// ParseDocument is the name of the activity that turns a [FileInput] into a
// [Document].
const ParseDocument = "parse_document"

// AgentInput is what an agent activity takes.
type AgentInput struct {
	Message string      // what the agent is asked; required
	Context any         // an object the prompt shows as JSON, or nil; json.RawMessage after decoding
	Files   []FileInput // images for the model to see, or nil
}

type agentInputWire struct {
	Message string           `json:"message" payload:"required"`
	Context *json.RawMessage `json:"context" payload:"object"`
	Files   []FileInput      `json:"files"`
}

// MarshalJSON writes all three fields, null where unset.
func (a AgentInput) MarshalJSON() ([]byte, error) {
	return Marshal(struct {
		Message string      `json:"message"`
		Context any         `json:"context"`
		Files   []FileInput `json:"files"`
	}{a.Message, a.Context, a.Files})
}

// UnmarshalJSON decodes strictly (see [Decode]). Context keeps its bytes.
func (a *AgentInput) UnmarshalJSON(data []byte) error {
	var w agentInputWire
	if err := Decode(data, &w); err != nil {
		return err
	}
	*a = AgentInput{Message: w.Message, Files: w.Files}
	if w.Context != nil {
		a.Context = *w.Context
	}
	return nil
}

// AgentResult is what an agent activity returns: the object that passed the
// gate, never the model's text.
type AgentResult struct {
	Output     json.RawMessage `json:"output"` // the object's own bytes, digits kept
	TokenUsage TokenUsage      `json:"token_usage"`
	NumTurns   int             `json:"num_turns"` // model calls made, re-asks included
	AgentID    string          `json:"agent_id"`  // the node's id
}

// TokenUsage counts tokens over all model calls of one activity attempt.
type TokenUsage struct {
	PromptTokens        int64 `json:"prompt_tokens"`
	CompletionTokens    int64 `json:"completion_tokens"`
	TotalTokens         int64 `json:"total_tokens"`
	CacheCreationTokens int64 `json:"cache_creation_tokens"`
	CacheReadTokens     int64 `json:"cache_read_tokens"`
}

// Add returns the sum of two counts.
func (u TokenUsage) Add(v TokenUsage) TokenUsage {
	return TokenUsage{
		PromptTokens:        u.PromptTokens + v.PromptTokens,
		CompletionTokens:    u.CompletionTokens + v.CompletionTokens,
		TotalTokens:         u.TotalTokens + v.TotalTokens,
		CacheCreationTokens: u.CacheCreationTokens + v.CacheCreationTokens,
		CacheReadTokens:     u.CacheReadTokens + v.CacheReadTokens,
	}
}

// Document is what [ParseDocument] returns.
type Document struct {
	Original         FileInput `json:"original"`
	MarkdownContent  string    `json:"markdown_content"`
	Metadata         Metadata  `json:"metadata"`
	ProcessingTimeMS int64     `json:"processing_time_ms"`
}

// Metadata says what was read and how much of it.
type Metadata struct {
	SourceName     string   `json:"source_name"` // the file's base name
	Type           string   `json:"type"`        // one of [Types]
	MIMEType       string   `json:"mime_type"`   // from content, not from the name
	SizeBytes      int64    `json:"size_bytes"`
	PageCount      *int     `json:"page_count"`      // pages or slides; null where there are none
	PagesExtracted []int    `json:"pages_extracted"` // 1-based, as asked; null for all
	Sheets         []string `json:"sheets"`          // names in workbook order; null where there are none
	SheetExtracted *string  `json:"sheet_extracted"`
	RangeExtracted *string  `json:"range_extracted"`
	Truncated      bool     `json:"truncated"`
	Warnings       []string `json:"warnings"` // never null
}

// MarshalJSON writes an empty list rather than null for warnings.
func (m Metadata) MarshalJSON() ([]byte, error) {
	type plain Metadata
	if m.Warnings == nil {
		m.Warnings = []string{}
	}
	return Marshal(plain(m))
}

// Marshal is json.Marshal without HTML escaping: markdown keeps its < > &,
// and does not grow sixfold on the way to the payload limit.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
