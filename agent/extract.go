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
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
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
// come; at most two, since two are already too many.
func objectsIn(text string) []json.RawMessage {
	var found []json.RawMessage
	for from := 0; len(found) < 2; {
		i := strings.IndexByte(text[from:], '{')
		if i < 0 {
			return found
		}
		start := from + i
		d := json.NewDecoder(strings.NewReader(text[start:]))
		var object json.RawMessage
		if err := d.Decode(&object); err != nil {
			if _, broken := errors.AsType[*json.SyntaxError](err); !broken {
				return found // the text ends inside: no later brace can be whole and outermost
			}
			from = start + 1
			continue
		}
		found = append(found, object)
		from = start + int(d.InputOffset())
	}
	return found
}
