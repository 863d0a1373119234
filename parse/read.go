package parse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/data"
	"github.com/holodeck-run/holodeck/parse/internal/mail"
	"github.com/holodeck-run/holodeck/parse/internal/office"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/pdf"
	"github.com/holodeck-run/holodeck/parse/internal/sheet"
	"github.com/holodeck-run/holodeck/parse/internal/slides"
	"github.com/holodeck-run/holodeck/parse/internal/text"
	"github.com/holodeck-run/holodeck/parse/internal/web"
	"github.com/holodeck-run/holodeck/payload"
)

// read chooses the reader and fills meta. A panic in a reader, or in what it
// is built on, is a fault of that document and of no other.
func (p *Parser) read(ctx context.Context, r Request, sink block.Sink, meta *payload.Metadata) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &fault.Error{
				Kind: fault.Document,
				Err:  fmt.Errorf("the document is damaged in a way its reader does not know (%v)", v),
				Hint: "Save it again with the program that made it, or give another copy.",
			}
		}
	}()
	if err := applies(r.Ref, r.File.Type); err != nil {
		return err
	}
	if err := unlock(&r); err != nil {
		return err
	}
	switch r.File.Type {
	case "pdf":
		return p.readPDF(ctx, r, sink, meta)
	case "text", "html", "json", "xml", "notebook":
		return readText(ctx, r, sink)
	case "word":
		return office.Document(ctx, r.File, r.File.Size, sink)
	case "powerpoint":
		return readSlides(ctx, r, sink, meta)
	case "email":
		warnings, err := mail.Read(ctx, r.File, r.File.Size, sink)
		meta.Warnings = append(meta.Warnings, warnings...)
		return err
	case "csv":
		return p.readCSV(ctx, r, sink, meta)
	case "excel":
		return p.readWorkbook(ctx, r, sink, meta)
	}
	return unsupported(r.File.Type, r.File.MIME)
}

// unlock puts the package in the place of an office document that is encrypted.
func unlock(r *Request) error {
	switch r.File.Type {
	case "word", "excel", "powerpoint":
	default:
		return nil
	}
	if !pack.Locked(r.File, r.File.Size) {
		return nil
	}
	data, err := all(*r)
	if err != nil {
		return err
	}
	if data, err = pack.Unlock(data, r.Password); err != nil {
		return err
	}
	r.File, err = file.New(r.File.Name, r.File.Type, bytes.NewReader(data), int64(len(data)))
	return err
}

// readText reads what is text as a file, whole.
func readText(ctx context.Context, r Request, sink block.Sink) error {
	b, err := all(r)
	if err != nil {
		return err
	}
	switch r.File.Type {
	case "html":
		return web.Read(ctx, b, sink)
	case "json":
		return data.JSON(ctx, b, sink)
	case "xml":
		return data.XML(ctx, b, sink)
	case "notebook":
		return data.Notebook(ctx, b, sink)
	}
	return text.Read(ctx, b, sink)
}

func (p *Parser) readPDF(ctx context.Context, r Request, sink block.Sink, meta *payload.Metadata) error {
	data, err := all(r)
	if err != nil {
		return err
	}
	req := pdf.Request{Data: data, Pages: r.Ref.Pages, Password: r.Password, Limit: p.timeout, Progress: r.Progress}
	pure := p.pure
	var result pdf.Result
	if !pure {
		result, err = p.engine.Read(ctx, req, sink)
		pure = errors.Is(err, pdf.ErrStart)
	}
	if pure {
		result, err = pdf.Pure(ctx, req, sink)
		meta.Warnings = append(meta.Warnings, "read by the pure engine: the text only, without headings, tables and columns")
	}
	if result.PageCount > 0 {
		meta.PageCount = &result.PageCount
	}
	meta.PagesExtracted = r.Ref.Pages
	if len(result.Textless) > 0 {
		meta.Warnings = append(meta.Warnings, textless(result.Textless))
	}
	return err
}

func readSlides(ctx context.Context, r Request, sink block.Sink, meta *payload.Metadata) error {
	result, err := slides.Read(ctx, r.File, r.File.Size, slides.Request{Slides: r.Ref.Pages, Progress: r.Progress}, sink)
	if result.SlideCount > 0 {
		meta.PageCount = &result.SlideCount
	}
	meta.PagesExtracted = r.Ref.Pages
	meta.Warnings = append(meta.Warnings, result.Warnings...)
	return err
}

func (p *Parser) readCSV(ctx context.Context, r Request, sink block.Sink, meta *payload.Metadata) error {
	data, err := all(r)
	if err != nil {
		return err
	}
	meta.Warnings, err = sheet.CSV(ctx, data, r.Ref.Range, sink)
	meta.RangeExtracted = optional(r.Ref.Range)
	return err
}

func (p *Parser) readWorkbook(ctx context.Context, r Request, sink block.Sink, meta *payload.Metadata) error {
	result, err := sheet.Workbook(ctx, r.File, r.File.Size, sheet.Request{
		Sheet: r.Ref.Sheet, Range: r.Ref.Range, Progress: r.Progress,
	}, sink)
	meta.Sheets, meta.Warnings = result.Sheets, result.Warnings
	meta.SheetExtracted, meta.RangeExtracted = optional(result.Sheet), optional(r.Ref.Range)
	return err
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func textless(pages []int) string {
	if len(pages) == 1 {
		return fmt.Sprintf("page %d has no text layer; a scanned page needs text recognition (OCR) first", pages[0])
	}
	return fmt.Sprintf("pages %s have no text layer; scanned pages need text recognition (OCR) first", ranges(pages, "–"))
}

func all(r Request) ([]byte, error) {
	data := make([]byte, r.File.Size)
	n, err := r.File.ReadAt(data, 0)
	if n == len(data) || err == io.EOF {
		return data[:n], nil
	}
	return nil, err
}

func unsupported(kind, mime string) error {
	what := kind
	if what == "" {
		what = mime
	}
	hint := "Give a file of a type that can be read: " + list(Supported()) + "."
	if kind == "image" {
		hint = "Hand images to an agent in its files; documents that can be read are " + list(Supported()) + "."
	}
	return fault.New(fault.UnsupportedFileType, "", hint, "there is no reader for %s", what)
}
