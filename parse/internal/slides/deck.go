// Package slides reads presentations (pptx).
//
// In goes the file and the slides wanted; out come, at a sink, a marker for
// each slide, its title, texts with their bullets and numbers, tables, charts
// as tables, diagrams as lists, pictures as their descriptions, the speaker's
// notes and the comments. What a slide has from its layout and master is
// looked up for how its texts are listed, never printed; headers, footers,
// dates and slide numbers are left out, and so are hidden slides unless they
// are asked for. The order on a slide is that of its objects, as it is read to
// those who cannot see it, the title first. Binary files of before 2007 are
// refused.
package slides

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/pick"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// maxSlides bounds a presentation.
const maxSlides = 20_000

// Request says what to read.
type Request struct {
	Slides   []int // 1-based, in this order, repeats kept; nil for all that are not hidden
	Progress func(done, total int)
}

// Result says what was read.
type Result struct {
	SlideCount int
	Warnings   []string
}

// Read puts the wanted slides of a presentation at sink.
func Read(ctx context.Context, r io.ReaderAt, size int64, req Request, sink block.Sink) (Result, error) {
	if err := pack.RefuseOLE(r, ".pptx"); err != nil {
		return Result{}, err
	}
	pkg, err := pack.Open(r, size)
	if err != nil {
		return Result{}, err
	}
	d := &deck{pkg: pkg, ctx: ctx, sink: sink, sheets: map[string]*sheet{}}
	if err := d.open(); err != nil {
		return Result{}, err
	}
	result := Result{SlideCount: len(d.slides)}
	wanted, err := pick.Pages(req.Slides, len(d.slides), "slide")
	if err != nil {
		return result, err
	}
	if len(req.Slides) == 0 {
		wanted, err = d.shown(wanted, &result)
		if err != nil {
			return result, err
		}
	}
	for i, n := range wanted {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		if err := d.slide(n, &result); err != nil {
			return result, err
		}
		if req.Progress != nil {
			req.Progress(i+1, len(wanted))
		}
	}
	return result, nil
}

// deck is an open presentation.
type deck struct {
	pkg     *pack.Package
	ctx     context.Context
	sink    block.Sink
	slides  []string          // parts in the order they are shown; "" for one that is missing
	authors map[string]string // of comments, by id
	sheets  map[string]*sheet // layouts and masters by part
}

func (d *deck) open() error {
	rels, err := d.pkg.Relations(d.pkg.Main())
	if err != nil {
		return err
	}
	known := false
	err = d.pkg.Scan(d.pkg.Main(), func(s *xmlscan.Scanner) error {
		switch s.Name() {
		case "presentation":
			known = true
		case "sldId":
			rel := rels[s.Prefixed("id")]
			if rel.Type != "slide" || !d.pkg.Has(rel.Target) {
				rel.Target = ""
			}
			d.slides = append(d.slides, rel.Target)
			if len(d.slides) > maxSlides {
				return fault.New(fault.Document, "", "Give a smaller presentation.", "the presentation is refused: it has more than %d slides", maxSlides)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !known {
		return fault.New(fault.UnsupportedFileType, "", "Save it as .pptx.", "there is no reader for its main part %s", d.pkg.Main())
	}
	if len(d.slides) == 0 {
		return fault.New(fault.Document, "", "Give a presentation with slides.", "the presentation has no slides")
	}
	return d.readAuthors(rels)
}

// shown leaves out the hidden slides and names them, unless there are none but
// hidden ones.
func (d *deck) shown(all []int, result *Result) ([]int, error) {
	var shown []int
	var hidden []string
	for _, n := range all {
		if d.slides[n-1] == "" {
			result.Warnings = append(result.Warnings, fmt.Sprintf("slide %d is missing from the file", n))
			continue
		}
		is, err := d.hidden(d.slides[n-1])
		if err != nil {
			return nil, err
		}
		if is {
			hidden = append(hidden, strconv.Itoa(n))
		} else {
			shown = append(shown, n)
		}
	}
	switch {
	case len(shown) == 0:
		return all, nil
	case len(hidden) == 1:
		result.Warnings = append(result.Warnings, "hidden and left out: slide "+hidden[0])
	case len(hidden) > 1:
		result.Warnings = append(result.Warnings, "hidden and left out: slides "+strings.Join(hidden, ", "))
	}
	return shown, nil
}

// hidden looks at the first tag of a slide only.
func (d *deck) hidden(part string) (bool, error) {
	r, err := d.pkg.Open(part)
	if err != nil {
		return false, err
	}
	defer func() { _ = r.Close() }()
	s := xmlscan.New(r)
	for {
		k, err := s.Next()
		if err != nil {
			return false, nil // what is wrong with it is told when it is read
		}
		if k == xmlscan.Start {
			v := s.Attr("show")
			return v == "0" || v == "false", nil
		}
		if k == xmlscan.EOF {
			return false, nil
		}
	}
}

var errMissing = errors.New("it is missing from the file")

// slide puts one slide at the sink. A damaged one is told and does not take
// the others with it.
func (d *deck) slide(n int, result *Result) error {
	marker := block.Marker{Unit: "slide", Number: n}
	part := d.slides[n-1]
	var blocks []block.Block
	err := errMissing
	if part != "" {
		blocks, err = d.read(part)
	}
	if d.ctx.Err() != nil {
		return d.ctx.Err()
	}
	if err != nil {
		if len(d.slides) == 1 {
			return err
		}
		marker.Note = "damaged"
		result.Warnings = append(result.Warnings, fmt.Sprintf("slide %d could not be read: %v", n, fault.Cause(err)))
	}
	if err := d.sink.Put(marker); err != nil {
		return err
	}
	for _, b := range blocks {
		if err := d.sink.Put(b); err != nil {
			return err
		}
	}
	return nil
}

// read returns the blocks of a slide, its notes and its comments.
func (d *deck) read(part string) ([]block.Block, error) {
	rels, err := d.pkg.Relations(part)
	if err != nil {
		return nil, err
	}
	shapes, err := d.shapes(part, rels)
	if err != nil {
		return nil, err
	}
	w := &page{deck: d, rels: rels}
	for _, rel := range rels {
		if rel.Type == "slideLayout" && !rel.External {
			w.layout, w.master = d.chain(rel.Target)
		}
	}
	title := -1
	for i, s := range shapes {
		if title < 0 && s.titled() && !s.blank() {
			title = i
			w.title(s)
		}
	}
	for i, s := range shapes {
		if i != title {
			if err := w.shape(s); err != nil {
				return w.out, err
			}
		}
	}
	if err := w.notes(); err != nil {
		return w.out, err
	}
	return w.out, w.comments()
}

// chain returns the layout of a slide and the master of the layout, each nil
// if it cannot be read: they only tell how texts are listed.
func (d *deck) chain(layout string) (l, m *sheet) {
	l = d.sheet(layout)
	master, err := d.pkg.Related(layout, "slideMaster")
	if err == nil && master != "" {
		m = d.sheet(master)
	}
	return l, m
}
