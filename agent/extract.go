package agent

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/gate"
	"github.com/holodeck-run/holodeck/model"
)

// extract returns the JSON of an answer: the whole text, the content of its
// one code fence, or the one object that stands in prose. Anything else is a
// GateValidation fault that quotes at most the first 200 characters.
func extract(text string) (json.RawMessage, error) {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	for _, whole := range []string{text, fenced(text)} {
		if json.Valid([]byte(whole)) {
			return json.RawMessage(whole), nil
		}
	}
	objects := objectsIn(text)
	switch len(objects) {
	case 1:
		return objects[0], nil
	case 0:
		return nil, freeText("the answer holds no JSON object", text)
	default:
		return nil, freeText("the answer holds several JSON objects", text)
	}
}

// fenced returns the content of the one code fence in text; "" if there is
// none or are several.
func fenced(text string) string {
	const fence = "```"
	if strings.Count(text, fence) != 2 {
		return ""
	}
	_, rest, _ := strings.Cut(text, fence)
	inside, _, _ := strings.Cut(rest, fence)
	if info, body, ok := strings.Cut(inside, "\n"); ok && !strings.ContainsAny(info, "{[\"") {
		inside = body // the first line names the language
	}
	return strings.TrimSpace(inside)
}

func freeText(what, text string) error {
	faults := gate.Faults{{Path: "$", Keyword: "json", Message: what}}
	if text == "" {
		faults[0].Message = "the answer is empty"
	}
	return &fault.Error{Kind: fault.GateValidation, Op: "check gate", Err: quoted{faults, text}, Details: faults}
}

// quoted shows the start of the answer beside the fault.
type quoted struct {
	gate.Faults
	text string
}

func (q quoted) Error() string {
	if q.text == "" {
		return q.Faults.Error()
	}
	return q.Faults.Error() + ": " + model.Shorten(strings.Join(strings.Fields(q.text), " "))
}

func (q quoted) Unwrap() error { return q.Faults }

// objectsIn returns the JSON objects that stand in text, outermost first
// come; at most two, since two are already too many. A text of braces only
// would be read again from each of them, so reading is bounded.
func objectsIn(text string) []json.RawMessage {
	var found []json.RawMessage
	for from, budget := 0, 16*len(text)+1<<20; len(found) < 2 && budget > 0; {
		i := strings.IndexByte(text[from:], '{')
		if i < 0 {
			return found
		}
		start := from + i
		d := json.NewDecoder(strings.NewReader(text[start:]))
		var object json.RawMessage
		if err := d.Decode(&object); err != nil {
			broken, ok := errors.AsType[*json.SyntaxError](err)
			if !ok {
				return found // the text ends inside: no later brace can be whole and outermost
			}
			budget -= int(broken.Offset) + 512 // what a decoder reads at least
			from = start + 1
			continue
		}
		found = append(found, object)
		from = start + int(d.InputOffset())
	}
	return found
}
