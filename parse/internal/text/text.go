// Package text reads plain text, markdown and the text of rich text, and decides the character set of
// everything that is text.
//
// In go bytes; out comes the same text, in UTF-8 with Unix line ends, as one
// block that the writer leaves alone. It does not look for structure in it.
package text

import (
	"context"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/rtf"
)

// Read puts a text at sink, piece by piece, so that a budget ends it early.
func Read(ctx context.Context, data []byte, sink block.Sink) error {
	s, err := Decode(data)
	if err != nil {
		return err
	}
	if rtf.Is(data) {
		s, _ = rtf.Text(data)
	}
	s = strings.TrimRight(Lines(s), "\n")
	if strings.TrimSpace(s) == "" {
		return fault.New(fault.Document, "", "Give a file with content.", "the text is empty")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return sink.Put(block.Verbatim{Text: s})
}

// Lines gives s Unix line ends, and no form feeds or NULs.
func Lines(s string) string {
	if !strings.ContainsAny(s, "\r\f\x00") {
		return s
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n", "\x00", "").Replace(s)
}
