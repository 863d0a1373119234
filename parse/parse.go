// Package parse turns an opened file into markdown.
//
// In goes a [file.File] and the reference that named it; out comes a
// [payload.Document]: clean markdown with page markers, sheets and tables, and
// what was read of the file. A document too long for its budget is refused
// with the part of it that fits. One reader per family of formats fills the
// block model; one writer prints it.
//
// The package opens no file, keeps nothing between documents but the PDF
// engine, recognises no text in pictures, and knows nothing of Temporal.
package parse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/parse/internal/markdown"
	"github.com/holodeck-run/holodeck/parse/internal/pdf"
	"github.com/holodeck-run/holodeck/payload"
)

// Options configures a [Parser]. The zero value is ready for use.
type Options struct {
	CacheDir    string        // keeps the compiled PDF engine between processes; "" = none
	Instances   int           // PDFs read at a time; 0 = one a processor
	PageTimeout time.Duration // for opening a PDF, and for each of its pages; 0 = 30 s
	PureGo      bool          // read PDFs without WebAssembly: text only, and less of it
}

// Parser turns files into documents. It is safe for concurrent use and must be
// made by [New]; one a process is enough.
type Parser struct {
	engine  *pdf.Engine
	timeout time.Duration
	pure    bool
}

// New returns a parser. It is cheap: the PDF engine starts with the first PDF,
// or with [Parser.Warm].
func New(o Options) *Parser {
	return &Parser{engine: pdf.NewEngine(o.CacheDir, o.Instances), timeout: o.PageTimeout, pure: o.PureGo}
}

// Warm starts the PDF engine now, so that the first PDF does not wait for it.
func (p *Parser) Warm(ctx context.Context) error {
	if p.pure {
		return nil
	}
	return p.engine.Start(ctx)
}

// Close ends the PDF engine. Documents still being parsed fail.
func (p *Parser) Close() error { return p.engine.Close() }

// Request is one document to parse.
type Request struct {
	Ref      payload.FileInput // pages, sheet and range are read from it; the rest is handed back
	File     *file.File        // open; the caller closes it
	Limit    int64             // bytes the markdown may have in JSON; 0 = no limit of the caller's
	Password string            // of an encrypted document
	Progress func(done, total int)
}

// Supported returns the types that can be read, in the order of
// [payload.Types].
func Supported() []string {
	return []string{"pdf", "text", "excel", "word", "powerpoint", "csv", "html", "json", "xml", "email", "notebook"}
}

// Parse reads the document. Its faults are of the kinds Document,
// ExtractionParam, UnsupportedFileType and PayloadsTooLarge; when ctx ends it
// returns ctx.Err() promptly.
func (p *Parser) Parse(ctx context.Context, r Request) (payload.Document, error) {
	start := time.Now()
	if err := ctx.Err(); err != nil {
		return payload.Document{}, err
	}
	w := markdown.New(r.Limit)
	meta := payload.Metadata{SourceName: r.File.Name, Type: r.File.Type, MIMEType: r.File.MIME, SizeBytes: r.File.Size}
	err := p.read(ctx, r, w, &meta)
	if err == nil && !w.Filled() {
		err = blank(meta)
	}
	if err != nil {
		return payload.Document{}, finish(ctx, r, meta, err)
	}
	return payload.Document{
		Original:         r.Ref,
		MarkdownContent:  w.String(),
		Metadata:         meta,
		ProcessingTimeMS: time.Since(start).Milliseconds(),
	}, nil
}

// finish gives an error its operation and, if it is a budget that was passed,
// its remedy.
func finish(ctx context.Context, r Request, meta payload.Metadata, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	op := "parse " + r.File.Name
	var long *markdown.TooLong
	if errors.As(err, &long) {
		return tooLarge(op, r.Ref, meta, long)
	}
	if f, ok := fault.As(err); ok {
		named := *f
		if named.Op == "" {
			named.Op = op
		}
		return &named
	}
	return &fault.Error{Kind: fault.Document, Op: op, Err: err, Hint: "Check that the file is whole, or give another copy."}
}

// blank says why a document that was read yields nothing.
func blank(meta payload.Metadata) error {
	if meta.Type == "pdf" {
		return fault.New(fault.Document, "", "Run it through text recognition (OCR) first.",
			"the PDF has no text layer on any page read; it is a scan or blank")
	}
	return fault.New(fault.Document, "", "Give a document with content.", "the document holds no text")
}

// list joins words as a sentence does.
func list(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	if len(words) == 1 {
		return words[0]
	}
	return fmt.Sprintf("%s and %s", strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
}
