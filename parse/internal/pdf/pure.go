package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	plainpdf "github.com/ledongthuc/pdf"

	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/pick"
)

// Pure puts the text of the wanted pages at sink, and nothing but the text: no
// headings, tables or columns. It is for machines on which WebAssembly cannot
// run. What it is built on may hang or panic over a damaged document: a page
// that takes too long is given up, and left to itself.
func Pure(ctx context.Context, r Request, sink block.Sink) (Result, error) {
	if r.Limit <= 0 {
		r.Limit = 30 * time.Second
	}
	var doc *plainpdf.Reader
	var result Result
	err := guarded(ctx, r.Limit, func() (err error) {
		doc, err = openPure(r)
		if err == nil {
			result.PageCount = doc.NumPage()
		}
		return err
	})
	if err == nil && (result.PageCount < 1 || result.PageCount > maxPages) {
		err = pdfiumerrors.ErrFormat
	}
	if err != nil {
		return Result{}, r.explain(err)
	}
	pages, err := pick.Pages(r.Pages, result.PageCount, "page")
	if err != nil {
		return result, err
	}
	for i, n := range pages {
		text := make(chan string, 1) // a page that was given up has nobody to write to
		err := guarded(ctx, r.Limit, func() error {
			s, err := doc.Page(n).GetPlainText(nil)
			text <- s
			return err
		})
		if err != nil {
			return result, explain(err)
		}
		s := <-text
		marker := block.Marker{Unit: "page", Number: n}
		if strings.TrimSpace(s) == "" {
			marker.Note = "no text layer"
			result.Textless = append(result.Textless, n)
		}
		if err := putPlain(marker, s, sink); err != nil {
			return result, err
		}
		if r.Progress != nil {
			r.Progress(i+1, len(pages))
		}
	}
	return result, nil
}

func openPure(r Request) (*plainpdf.Reader, error) {
	asked := false
	doc, err := plainpdf.NewReaderEncrypted(bytes.NewReader(r.Data), int64(len(r.Data)), func() string {
		if asked || r.Password == "" {
			return ""
		}
		asked = true
		return r.Password
	})
	switch {
	case errors.Is(err, plainpdf.ErrInvalidPassword):
		return nil, pdfiumerrors.ErrPassword
	case err != nil:
		return nil, errors.Join(pdfiumerrors.ErrFormat, err)
	}
	return doc, nil
}

// putPlain puts a page: a blank line parts paragraphs, a line end is a space.
func putPlain(m block.Marker, text string, sink block.Sink) error {
	if err := sink.Put(m); err != nil {
		return err
	}
	for _, p := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p == "" {
			continue
		}
		if err := sink.Put(block.Paragraph{Text: block.Plain(p)}); err != nil {
			return err
		}
	}
	return nil
}

// guarded runs a call that may panic or never return.
func guarded(ctx context.Context, limit time.Duration, call func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- errors.Join(pdfiumerrors.ErrFormat, fmt.Errorf("%v", v))
			}
		}()
		done <- call()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errHung
	case <-ctx.Done():
		return ctx.Err()
	}
}
