package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxJSON bounds what aliases may unfold to.
const maxJSON = 5 << 20

var errTooLarge = errors.New("unfolds to more than 5 MiB of JSON")

// Literal is any YAML value, kept as JSON.
type Literal struct{ JSON json.RawMessage }

// DecodeYAML implements Unmarshaler.
func (l *Literal) DecodeYAML(d *Decoder, n *yaml.Node, path string) {
	text, err := JSON(n)
	if err != nil {
		d.Add(n, path, err.Error())
	}
	l.JSON = text
}

// JSON prints a YAML value as JSON, keys in their order and digits kept.
func JSON(n *yaml.Node) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := writeJSON(&b, n, 0); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, n *yaml.Node, depth int) error {
	if b.Len() > maxJSON || depth > 200 {
		return errTooLarge
	}
	switch n.Kind {
	case yaml.AliasNode:
		return writeJSON(b, n.Alias, depth+1)
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			if n.Content[i].Kind != yaml.ScalarNode {
				return fmt.Errorf("line %d: a key must be a string", n.Content[i].Line)
			}
			writeString(b, n.Content[i].Value)
			b.WriteByte(':')
			if err := writeJSON(b, n.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		writeScalar(b, n)
	}
	return nil
}

func writeScalar(b *bytes.Buffer, n *yaml.Node) {
	switch n.Tag {
	case "!!null":
		b.WriteString("null")
		return
	case "!!bool":
		b.WriteString(strings.ToLower(n.Value))
		return
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			b.WriteString(n.Value)
			return
		}
		var v any
		if n.Decode(&v) == nil {
			if text, err := json.Marshal(v); err == nil {
				b.Write(text)
				return
			}
		}
	}
	writeString(b, n.Value)
}

func writeString(b *bytes.Buffer, s string) {
	text, err := json.Marshal(s)
	if err != nil {
		text = []byte(strconv.Quote(s))
	}
	b.Write(text)
}
