// Package markdown prints blocks as GitHub-flavoured markdown, within a budget.
//
// In go the blocks of one document; out comes one string, and what it costs
// once it stands in JSON. Escaping, emphasis, lists, tables and spans are
// decided here and nowhere else. When the budget is passed, Put says so at
// once with a [TooLong] that tells how far the document had come.
package markdown

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
)

// Ceiling is the budget of a writer that was given none: no document may fill
// the memory of the process.
const Ceiling = 256 << 20

// TooLong reports that the budget is passed, and what had been printed
// completely before that.
type TooLong struct {
	Size  int64    // JSON bytes so far; the whole document has at least as many
	Limit int64    // the budget
	Pages []int    // pages or slides complete within the budget, in printed order
	Unit  string   // "page" or "slide" if the document has them
	Done  []string // sheets complete within the budget
	Sheet string   // the sheet being printed, if any
	Rows  int      // source number of its last row within the budget, 0 if none
	First int      // source number of its first printed row
}

// Error implements error.
func (e *TooLong) Error() string {
	return fmt.Sprintf("the markdown has at least %d bytes, the limit is %d", e.Size, e.Limit)
}

// Writer is a [block.Sink]. It must be made by [New].
type Writer struct {
	buf   []byte
	size  int64 // of buf as a JSON string
	limit int64

	prev    kind  // what the last block was, for the space between
	lists   []int // where the text of each open level of a list begins
	ordered bool  // what the outermost level is
	table   *table
	at      TooLong
	page    int // the page being printed, 0 before the first
	filled  bool
	quote   int // depth of quotations
	quoted  int // the depth that the block being printed shares with the last one
}

type kind int

const (
	nothing kind = iota
	item
	note
	other
)

// New returns a writer with a budget in bytes of JSON; 0 means [Ceiling].
func New(limit int64) *Writer {
	if limit <= 0 || limit > Ceiling {
		limit = Ceiling
	}
	return &Writer{limit: limit, size: 2}
}

// Put prints b. It returns a *TooLong once the budget is passed.
func (w *Writer) Put(b block.Block) error {
	switch b := b.(type) {
	case block.TableStart:
		w.startTable(b.Trim)
	case block.TableRow:
		w.row(b)
	case block.TableEnd:
		return w.endTable()
	case block.Marker:
		w.marker(b)
	case block.Sheet:
		w.sheet(b)
	case block.Quote:
		w.quoteTo(b.Depth)
	default:
		w.flow(b)
	}
	return w.check()
}

// Filled says whether anything but markers was printed.
func (w *Writer) Filled() bool { return w.filled }

// Size returns what was printed so far costs in JSON, quotation marks included.
func (w *Writer) Size() int64 { return w.size }

// String returns what was printed, ending in one newline unless it is empty.
func (w *Writer) String() string {
	s := strings.TrimRight(string(w.buf), "\n")
	if s == "" {
		return ""
	}
	return s + "\n"
}

func (w *Writer) flow(b block.Block) {
	before := len(w.buf)
	defer func() { w.filled = w.filled || len(w.buf) > before }()
	switch b := b.(type) {
	case block.Heading:
		w.heading(b.Level, b.Text)
	case block.Paragraph:
		w.paragraph(b.Text)
	case block.Item:
		w.item(b)
	case block.Note:
		w.begin(note)
		w.emit("[^" + b.Label + "]: " + strings.ReplaceAll(inline(b.Text, false), "\n", "\n    "))
	case block.Code:
		w.begin(other)
		fence := fence(b.Text)
		w.emit(fence + b.Language + "\n" + strings.TrimRight(b.Text, "\n") + "\n" + fence)
	case block.Equation:
		w.begin(other)
		w.emit("$$" + b.LaTeX + "$$")
	case block.Verbatim:
		if strings.TrimSpace(b.Text) != "" {
			w.begin(other)
			w.emit(b.Text)
		}
	case block.Image:
		w.begin(other)
		w.emit(image(b.Alt, false))
	}
}

func (w *Writer) heading(level int, t block.Text) {
	plain := make(block.Text, len(t))
	for i, r := range t {
		r.Style &^= block.Bold
		r.Text = strings.ReplaceAll(r.Text, "\n", " ")
		plain[i] = r
	}
	s := strings.TrimSpace(inline(plain, false))
	if s == "" {
		return
	}
	if strings.HasSuffix(s, "#") {
		s = s[:len(s)-1] + `\#`
	}
	w.begin(other)
	w.emit(strings.Repeat("#", min(max(level, 1), 6)) + " " + s)
}

func (w *Writer) paragraph(t block.Text) {
	if s := inline(t, false); s != "" {
		w.begin(other)
		w.emit(lineStarts(s))
	}
}

// item prints one entry. The indentation of each level is the width of the
// marker above it, which is what makes it nested in every reader of markdown.
func (w *Writer) item(b block.Item) {
	fresh := w.prev != item
	if fresh {
		w.lists = w.lists[:0]
	}
	level := min(b.Level, len(w.lists))
	indent := 0
	if level > 0 {
		indent = w.lists[level-1]
	}
	mark := "- "
	if b.Ordered {
		mark = strconv.Itoa(b.Number) + ". "
	}
	w.lists = append(w.lists[:level], indent+len(mark))
	text := inline(b.Text, false)
	if b.Label != "" {
		text = escape(b.Label, 0, 0, false) + " " + text
	} else {
		text = lineStarts(text)
	}
	w.begin(item)
	if level == 0 {
		if !fresh && b.Ordered != w.ordered {
			w.emit("\n") // another list
		}
		w.ordered = b.Ordered
	}
	w.emit(strings.Repeat(" ", indent) + mark)
	w.emit(strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", indent+len(mark))))
}

func (w *Writer) marker(m block.Marker) {
	w.complete()
	w.page, w.at.Unit = m.Number, m.Unit
	w.begin(other)
	text := m.Unit + " " + strconv.Itoa(m.Number)
	if m.Note != "" {
		text += ": " + strings.ReplaceAll(m.Note, "--", "- -")
	}
	w.emit("<!-- " + text + " -->")
}

func (w *Writer) sheet(s block.Sheet) {
	w.complete()
	w.at.Sheet, w.at.Rows, w.at.First = s.Name, 0, 0
	if s.Name != "" {
		w.heading(2, block.Plain(s.Name))
	}
}

// complete notes that the page or sheet before this point is printed whole. A
// small part of the budget is kept back, so that what is suggested fits even
// if the reader, given less, prints a mark more.
func (w *Writer) complete() {
	if w.size > w.limit-w.limit/64 {
		return
	}
	if w.page > 0 {
		w.at.Pages = append(w.at.Pages, w.page)
	}
	if w.at.Sheet != "" {
		w.at.Done = append(w.at.Done, w.at.Sheet)
	}
}

// begin puts the right space between the last block and one of kind k.
func (w *Writer) begin(k kind) {
	switch {
	case w.prev == nothing:
	case k == item && w.prev == item, k == note && w.prev == note:
		w.emit("\n")
	default:
		w.emit("\n\n")
	}
	w.prev = k
	if shared := min(w.quoted, w.quote); shared < w.quote {
		w.raw(strings.Repeat(quoteMark, w.quote-shared))
	}
	w.quoted = w.quote
}

const quoteMark = "> "

// quoteTo begins or ends quotations: a list does not go on across that.
func (w *Writer) quoteTo(depth int) {
	w.quote = min(max(depth, 0), 32)
	w.quoted = min(w.quoted, w.quote)
	if w.prev != nothing {
		w.prev = other
	}
}

// emit prints s, every line of it as deep in quotations as the block is.
func (w *Writer) emit(s string) {
	if w.quoted > 0 && strings.Contains(s, "\n") {
		s = strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(quoteMark, w.quoted))
	}
	w.raw(s)
}

func (w *Writer) raw(s string) {
	w.buf = append(w.buf, s...)
	w.size += jsonSize(s)
}

func (w *Writer) check() error {
	if w.size <= w.limit {
		return nil
	}
	e := w.at
	e.Size, e.Limit = w.size, w.limit
	return &e
}

// jsonSize returns what s costs inside a JSON string written without HTML
// escaping, as payload.Marshal does.
func jsonSize[T string | []byte](s T) int64 {
	n := int64(len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
			n++
		case c < 0x20:
			n += 5
		case c == 0xE2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2]&^1 == 0xA8:
			n += 3 // U+2028 and U+2029 are always escaped
		}
	}
	return n
}
