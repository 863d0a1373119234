package pdf

import (
	"context"
	"errors"
	"strings"
	"time"

	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/pick"
)

// maxBytes is what fits into an instance beside the work on it.
const maxBytes = 384 << 20

// maxPages bounds page trees that never end.
const maxPages = 200_000

// Request says what to read of which document.
type Request struct {
	Data     []byte
	Pages    []int // 1-based, in this order, repeats kept; nil for all
	Password string
	Limit    time.Duration // for one page, and for opening; 0 = 30 s
	Progress func(done, total int)
}

// Result says what was read.
type Result struct {
	PageCount int
	Textless  []int // pages read that have no text layer
}

// Read puts the wanted pages of a document at sink.
func (e *Engine) Read(ctx context.Context, r Request, sink block.Sink) (Result, error) {
	if len(r.Data) > maxBytes {
		return Result{}, fault.New(fault.Document, "", "Split the document.", "the PDF has %d MiB, more than the %d that can be read", len(r.Data)>>20, maxBytes>>20)
	}
	if r.Limit <= 0 {
		r.Limit = 30 * time.Second
	}
	s, err := e.open(ctx, r.Limit)
	if err != nil {
		return Result{}, explain(err)
	}
	defer func() { _ = s.Close() }()
	d := &document{session: s, marks: map[string]int{}}
	if err := s.do(ctx, func() error { return d.load(r.Data, r.Password) }); err != nil {
		return Result{}, r.explain(err)
	}
	result := Result{PageCount: d.count}
	pages, err := pick.Pages(r.Pages, d.count, "page")
	if err != nil {
		return result, err
	}
	for i, n := range pages {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		empty, err := d.page(ctx, n, sink)
		if err != nil {
			return result, explain(err)
		}
		if empty {
			result.Textless = append(result.Textless, n)
		}
		if r.Progress != nil {
			r.Progress(i+1, len(pages))
		}
	}
	return result, nil
}

// explain is the explain of opening, where the password may be wrong.
func (r Request) explain(err error) error {
	if errors.Is(err, pdfiumerrors.ErrPassword) && r.Password != "" {
		return pack.WrongPassword()
	}
	return explain(err)
}

// explain turns what PDFium says into what a user can act on. Errors of the
// sink and of the context pass.
func explain(err error) error {
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword):
		return pack.NeedsPassword()
	case errors.Is(err, pdfiumerrors.ErrSecurity):
		return fault.New(fault.Document, "", "Give a copy without encryption.", "the PDF is encrypted in a way that cannot be read")
	case errors.Is(err, pdfiumerrors.ErrFormat), errors.Is(err, pdfiumerrors.ErrFile), errors.Is(err, pdfiumerrors.ErrUnknown),
		errors.Is(err, pdfiumerrors.ErrPage), errors.Is(err, pdfiumerrors.ErrUnexpected):
		return fault.New(fault.Document, "", "Open it in a viewer and save it again, or give another copy.", "the PDF is damaged")
	case errors.Is(err, errHung):
		return fault.New(fault.Document, "", "Leave out the page that hangs (pages), or give another copy.", "the PDF could not be read in time: %w", err)
	}
	return err
}

// document is an open document and what is learned of it page by page.
type document struct {
	*session
	ref   references.FPDF_DOCUMENT
	count int
	marks map[string]int // bookmark title, as seen by norm, to its level
	looks looks          // of all text so far
	body  float64        // the size most of it has

	running running
	tagged  bool // the document says what its content is
	titled  bool // the page does so for its headings
}

func (d *document) load(data []byte, password string) error {
	req := &requests.OpenDocument{File: &data}
	if password != "" {
		req.Password = &password
	}
	doc, err := d.OpenDocument(req)
	if err != nil {
		return err
	}
	d.ref = doc.Document
	n, err := d.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.ref})
	if err != nil {
		return err
	}
	if n.PageCount < 1 || n.PageCount > maxPages {
		return pdfiumerrors.ErrFormat
	}
	d.count = n.PageCount
	if t, err := d.FPDFCatalog_IsTagged(&requests.FPDFCatalog_IsTagged{Document: d.ref}); err == nil {
		d.tagged = t.IsTagged
	}
	d.bookmarks()
	return nil
}

// bookmarks walks the outline, each entry once and never more than a bound: a
// damaged file may have an outline that runs in a circle.
func (d *document) bookmarks() {
	seen := 0
	var walk func(parent *references.FPDF_BOOKMARK, level int)
	walk = func(parent *references.FPDF_BOOKMARK, level int) {
		child, err := d.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: d.ref, Bookmark: parent})
		for err == nil && child.Bookmark != nil && seen < 5000 && level <= 6 {
			seen++
			mark := *child.Bookmark
			if t, err := d.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: mark}); err == nil {
				key := norm(t.Title)
				if _, ok := d.marks[key]; !ok && key != "" {
					d.marks[key] = level
				}
			}
			walk(&mark, level+1)
			var next *responses.FPDFBookmark_GetNextSibling
			next, err = d.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: d.ref, Bookmark: mark})
			if err == nil {
				child.Bookmark = next.Bookmark
			}
		}
	}
	walk(nil, 1)
}

// norm reduces a title to what two spellings of it share.
func norm(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !isWord(r)
	}), " ")
}

// page puts one page at sink and says whether it has no text.
func (d *document) page(ctx context.Context, n int, sink block.Sink) (empty bool, err error) {
	var segs []segment
	err = d.do(ctx, func() (err error) {
		segs, err = d.segments(n - 1)
		return err
	})
	if errors.Is(err, pdfiumerrors.ErrPage) {
		err = nil // one page is damaged: the others may be well
	}
	if err != nil {
		return false, err
	}
	if len(segs) == 0 {
		return true, sink.Put(block.Marker{Unit: "page", Number: n, Note: "no text layer"})
	}
	if err := sink.Put(block.Marker{Unit: "page", Number: n}); err != nil {
		return false, err
	}
	segs = d.running.trim(n, segs)
	d.looks.add(segs)
	d.body = d.looks.body()
	for _, region := range regions(segs) {
		if err := d.emit(region, sink); err != nil {
			return false, err
		}
	}
	return false, nil
}
