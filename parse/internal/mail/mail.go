// Package mail reads mails: files of one message in the Internet format (.eml,
// RFC 5322 and the MIME of RFC 2045 to 2049) or in Outlook's (.msg,
// [MS-OXMSG]).
//
// In goes the file; out come, at a sink, the subject as a heading, who wrote
// to whom and when, the text, and the list of what is attached. Of a text and
// its twin in HTML the one that says more is read. Messages that were
// forwarded whole are read below the one that holds them; other attachments
// are named, not opened. It checks no signature and decrypts nothing.
package mail

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/web"
)

// Bounds of a mail.
const (
	maxDepth = 16     // messages in messages, parts in parts
	maxParts = 10_000 // of one file
	maxSize  = 256 << 20
)

// Read puts a mail at sink.
func Read(ctx context.Context, r io.ReaderAt, size int64, sink block.Sink) (warnings []string, err error) {
	if size > maxSize {
		return nil, fault.New(fault.Document, "", "Save the mail without its attachments.", "the mail has %d MiB, more than the %d that can be read", size>>20, maxSize>>20)
	}
	var m *message
	if pack.Compound(r) {
		m, err = openOutlook(r)
	} else {
		data := make([]byte, size)
		n, readErr := r.ReadAt(data, 0)
		if readErr != nil && readErr != io.EOF {
			return nil, readErr
		}
		m, err = parseMessage(ctx, data[:n])
	}
	if err != nil {
		return nil, err
	}
	w := writer{ctx: ctx, sink: sink}
	err = w.message(m, 1)
	return w.warnings, err
}

// message is a mail of either format.
type message struct {
	subject  string
	headers  []header // those that are shown, in order
	bodies   []body
	files    []attachment
	messages []*message // forwarded whole
	locked   string     // how it is encrypted, "" if it is not
}

type header struct{ name, value string }

// body is a text, as plain text or HTML or both.
type body struct{ plain, html string }

type attachment struct {
	name, kind string
	size       int64
}

type writer struct {
	ctx      context.Context
	sink     block.Sink
	warnings []string
}

func (w *writer) message(m *message, level int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	subject := strings.Join(strings.Fields(m.subject), " ")
	if subject == "" {
		subject = "(no subject)"
	}
	if err := w.sink.Put(block.Heading{Level: min(level, 6), Text: block.Plain(subject)}); err != nil {
		return err
	}
	if err := w.headers(m.headers); err != nil {
		return err
	}
	for _, b := range m.bodies {
		if err := w.body(b); err != nil {
			return err
		}
	}
	if m.locked != "" {
		w.warnings = append(w.warnings, "the mail is encrypted ("+m.locked+"); its text cannot be read")
	}
	if err := w.attachments(m.files); err != nil {
		return err
	}
	for _, inner := range m.messages {
		if err := w.message(inner, level+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) headers(hs []header) error {
	var t block.Text
	for _, h := range hs {
		if h.value == "" {
			continue
		}
		if len(t) > 0 {
			t = append(t, block.Run{Text: "\n"})
		}
		t = append(t, block.Run{Text: h.name + ":", Style: block.Bold}, block.Run{Text: " " + strings.Join(strings.Fields(h.value), " ")})
	}
	if len(t) == 0 {
		return nil
	}
	return w.sink.Put(block.Paragraph{Text: t})
}

// body writes the one of two twins that says more: the HTML, unless the plain
// text holds words that are not in it and is no stub beside it.
func (w *writer) body(b body) error {
	if b.html != "" {
		var c collector
		if err := web.Fragment(w.ctx, b.html, &c); err != nil {
			return err
		}
		if b.plain == "" || c.says(b.plain) {
			for _, one := range c.blocks {
				if err := w.sink.Put(one); err != nil {
					return err
				}
			}
			if len(c.blocks) > 0 {
				return nil
			}
		}
	}
	if strings.TrimSpace(b.plain) == "" {
		return nil
	}
	return w.sink.Put(block.Verbatim{Text: unglued(strings.Trim(b.plain, "\n"))})
}

func (w *writer) attachments(files []attachment) error {
	if len(files) == 0 {
		return nil
	}
	if err := w.sink.Put(block.Paragraph{Text: block.Text{{Text: "Attachments:", Style: block.Bold}}}); err != nil {
		return err
	}
	for _, f := range files {
		about := f.kind
		if f.size > 0 {
			about = strings.TrimPrefix(about+", "+size(f.size), ", ")
		}
		name := strings.Join(strings.Fields(f.name), " ")
		if name == "" {
			name = "without a name"
		}
		if about != "" {
			name += " (" + about + ")"
		}
		if err := w.sink.Put(block.Item{Text: block.Plain(name)}); err != nil {
			return err
		}
	}
	return nil
}

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}

// collector is a sink that keeps what it is given, and its words.
type collector struct {
	blocks []block.Block
	words  map[string]int
	count  int
}

func (c *collector) Put(b block.Block) error {
	c.blocks = append(c.blocks, b)
	if c.words == nil {
		c.words = map[string]int{}
	}
	c.learn(b)
	return nil
}

func (c *collector) learn(b block.Block) {
	var text string
	switch b := b.(type) {
	case block.Heading:
		text = b.Text.String()
	case block.Paragraph:
		text = b.Text.String()
	case block.Item:
		text = b.Text.String()
	case block.Code:
		text = b.Text
	case block.TableRow:
		for _, cell := range b.Cells {
			text += " " + cell.Plain
			for _, inner := range cell.Blocks {
				c.learn(inner)
			}
		}
	}
	for _, w := range words(text) {
		c.words[w]++
		c.count++
	}
}

// beside is what plain texts have in the place of links and pictures.
var beside = regexp.MustCompile(`(?i)(https?|mailto):[^\s>)]+|\[(image|cid):[^\]]*\]`)

// says reports whether what was collected holds what a plain text says.
func (c *collector) says(plain string) bool {
	all, missing := 0, 0
	for _, w := range words(beside.ReplaceAllString(plain, " ")) {
		all++
		if c.words[w] == 0 {
			missing++
		}
	}
	return missing*50 <= all || all*2 < c.count
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return r < '0' || r > '9' && r < 'a' || r > 'z' && r < 0xC0 || r >= 0x2000 && r < 0x2E80
	})
}
