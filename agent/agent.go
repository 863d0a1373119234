// Package agent makes one stateless, schema-gated call to a language model.
//
// In goes a message with an optional context object and images; the corridor
// is render → call → extract → gate. Out comes the object that passed the
// gate, with what it cost; the model's raw text ends here.
//
// The package keeps no conversation, calls no tools, and does not know
// Temporal: retries across attempts are the activity's.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/gate"
	"github.com/holodeck-run/holodeck/model"
	"github.com/holodeck-run/holodeck/payload"
)

// Spec binds an agent to its model and gate.
type Spec struct {
	ID     string          // the node's id
	System string          // the instructions
	Schema json.RawMessage // the response format, sent to the model
	Gate   *gate.Gate      // judges every answer
	Client model.Client
	Files  Opener // opens images; nil: files are refused
	Reask  int    // how often the model is asked again with the gate's faults
	Limits Limits
}

// Limits bounds what one invocation may spend; zero fields do not bound.
type Limits struct {
	Tokens     int64
	CostUSD    float64
	InputPrice float64 // US dollars for a million tokens
	OutPrice   float64
}

// Agent is bound and immutable; it is safe for concurrent use.
type Agent struct{ spec Spec }

// New returns the agent of s.
func New(s Spec) *Agent { return &Agent{s} }

// Spending is what an invocation had cost when it ended, and, of a gate's
// refusal, why: the details of its faults.
type Spending struct {
	AgentID    string             `json:"agent_id"`
	NumTurns   int                `json:"num_turns"`
	TokenUsage payload.TokenUsage `json:"token_usage"`
	Faults     gate.Faults        `json:"faults"`
}

// Invoke asks the model and returns the object that passed the gate. Its
// faults: GateValidation when no answer passes, Execution, BackendInit, and
// for files Config, FileNotFound, Download and UnsupportedFileType. Details
// carry a [Spending].
func (a *Agent) Invoke(ctx context.Context, in payload.AgentInput) (payload.AgentResult, error) {
	request, err := a.request(ctx, in)
	if err != nil {
		return payload.AgentResult{}, err
	}
	spent := Spending{AgentID: a.spec.ID, Faults: gate.Faults{}}
	for {
		answer, err := a.spec.Client.Generate(ctx, request)
		if err != nil {
			return payload.AgentResult{}, a.account(err, spent)
		}
		spent.NumTurns++
		spent.TokenUsage = spent.TokenUsage.Add(answer.Usage)
		if err := a.overspent(spent); err != nil {
			return payload.AgentResult{}, err
		}
		object, err := a.judge(answer)
		if err == nil {
			return payload.AgentResult{Output: object, TokenUsage: spent.TokenUsage, NumTurns: spent.NumTurns, AgentID: a.spec.ID}, nil
		}
		if !fault.Is(err, fault.GateValidation) || spent.NumTurns > a.spec.Reask {
			return payload.AgentResult{}, a.account(err, spent)
		}
		request.Messages = reask(request.Messages, answer.Text, err)
	}
}

// reask adds the answer and what was wrong with it to the conversation. An
// empty answer is left out: Anthropic refuses an empty turn for good.
func reask(messages []model.Message, answer string, err error) []model.Message {
	if strings.TrimSpace(answer) != "" {
		messages = append(messages, model.Message{Role: model.Assistant, Text: answer})
	}
	return append(messages, model.Message{Role: model.User, Text: complaint(err)})
}

func (a *Agent) request(ctx context.Context, in payload.AgentInput) (model.Request, error) {
	prompt, err := Render(in.Message, in.Context)
	if err != nil {
		return model.Request{}, err
	}
	images, err := a.images(ctx, in.Files)
	if err != nil {
		return model.Request{}, err
	}
	return model.Request{
		System:   a.spec.System,
		Messages: []model.Message{{Role: model.User, Text: prompt, Images: images}},
		Schema:   a.spec.Schema,
	}, nil
}

// judge takes the object out of the answer and holds it against the gate.
func (a *Agent) judge(answer model.Response) (json.RawMessage, error) {
	object, err := extract(answer.Text)
	if err == nil {
		err = a.spec.Gate.Check(object)
	}
	if err == nil {
		return object, nil
	}
	if e, ok := fault.As(err); ok && e.Kind == fault.GateValidation {
		e.Op = "gate node " + a.spec.ID
		e.Hint = whyEnded(answer.Finish)
		if faults, ok := e.Err.(gate.Faults); ok {
			faults = short(faults)
			e.Err, e.Details = faults, faults
		}
	}
	return nil, err
}

// whyEnded is the hint that the provider's reason for stopping gives.
func whyEnded(finish string) string {
	switch finish {
	case "length":
		return "The answer was cut off: raise model.max_tokens."
	case "refusal", "content_filter":
		return "The provider held the answer back (" + finish + "): change the instructions, the message or the model."
	default:
		return ""
	}
}

// short cuts what the faults quote of the answer: names of properties and
// values may be as long as the model likes, and history keeps them.
func short(faults gate.Faults) gate.Faults {
	out := make(gate.Faults, len(faults))
	for i, f := range faults {
		out[i] = gate.Fault{Path: model.Shorten(f.Path), Keyword: f.Keyword, Message: model.Shorten(f.Message)}
	}
	return out
}

func complaint(err error) string {
	text := "Your answer was refused. Answer again with one JSON object that keeps to the schema. What was wrong:"
	if faults, ok := errors.AsType[gate.Faults](err); ok {
		for i, f := range faults {
			if i == gate.MaxFaults {
				break
			}
			text += "\n- " + f.Path + ": " + f.Message
		}
		return text
	}
	return text + "\n- " + err.Error()
}

// account puts what was spent into the fault's details, so that a refused
// answer is not free in the books.
func (a *Agent) account(err error, spent Spending) error {
	e, ok := fault.As(err)
	if !ok {
		return err
	}
	if faults, ok := e.Details.(gate.Faults); ok {
		spent.Faults = faults[:min(len(faults), gate.MaxFaults)]
	}
	e.Details = spent
	return e
}

func (a *Agent) overspent(spent Spending) error {
	l, u := a.spec.Limits, spent.TokenUsage
	cost := (float64(u.PromptTokens)*l.InputPrice + float64(u.CompletionTokens)*l.OutPrice) / 1e6
	var over string
	switch {
	case l.Tokens > 0 && u.TotalTokens > l.Tokens:
		over = fmt.Sprintf("%d tokens were used, over max_tokens_total %d", u.TotalTokens, l.Tokens)
	case l.CostUSD > 0 && cost > l.CostUSD:
		over = fmt.Sprintf("$%.4f was spent, over max_cost_usd %g", cost, l.CostUSD)
	default:
		return nil
	}
	e := fault.New(fault.Execution, "run node "+a.spec.ID, "Raise the node's limits in worker.yaml, or send less.", "%s", over)
	e.Permanent, e.Details = true, spent
	return e
}

// OutputAs decodes a result's output into a T of the caller's.
func OutputAs[T any](r payload.AgentResult) (T, error) {
	var out T
	err := json.Unmarshal(r.Output, &out)
	return out, err
}
