// Package block is the model that every reader fills and one writer prints.
//
// In go the pieces of a document in reading order, one [Block] at a time; they
// come out at a [Sink]. A reader never holds the whole document, and it knows
// nothing of markdown: escaping, indentation and the shape of tables are the
// sink's. The package holds no logic beyond the smallest help for filling it.
package block

import "strings"

// Sink takes a document's blocks in reading order. When Put returns an error
// the reader stops and returns that error unchanged: it is how a sink whose
// budget is spent ends the reading.
type Sink interface {
	Put(Block) error
}

// Block is one piece of a document: a [Heading], [Paragraph], [Item], [Code],
// [Equation], [Verbatim], [Image], [Marker], [Sheet], [Quote], [Note], or the parts of a table,
// [TableStart], [TableRow] and [TableEnd].
type Block interface{ block() }

// Heading is a title of level 1 (the document's) to 6.
type Heading struct {
	Level int
	Text  Text
}

// Paragraph is running text.
type Paragraph struct{ Text Text }

// Item is one entry of a list. Items that follow each other are one list.
type Item struct {
	Level   int    // 0 is the outermost
	Ordered bool   // Number is shown
	Number  int    // of an ordered item
	Label   string // a marker markdown has no list for ("a)", "1.2"), shown as text; unordered then
	Text    Text
}

// Code is preformatted text.
type Code struct{ Language, Text string }

// Equation is mathematics that stands on a line of its own, in LaTeX.
type Equation struct{ LaTeX string }

// Verbatim is text that is printed as it stands: it is markdown already, or
// plain text whose own shape is worth more than any markup.
type Verbatim struct{ Text string }

// Image stands where a picture stood.
type Image struct{ Alt string }

// Marker begins a page or slide; everything up to the next one belongs to it.
type Marker struct {
	Unit   string // "page" or "slide"
	Number int    // 1-based
	Note   string // what a reader must know of it ("no text layer"); may be empty
}

// Sheet begins a sheet of a workbook. Without a name only the progress is
// noted and nothing printed.
type Sheet struct{ Name string }

// Quote says how deep in quotations what follows stands, until the next one.
type Quote struct{ Depth int } // 0 is outside of any

// Note is the text of a footnote, endnote or comment that a [Run] refers to.
type Note struct {
	Label string
	Text  Text
}

// TableStart begins a table. Its rows follow as [TableRow], then [TableEnd].
type TableStart struct {
	Trim bool // leave out columns at the left that are empty in every row
}

// TableRow is one row, the first of a table being its header.
type TableRow struct {
	Cells []Cell
	At    int // the row's number in the source, for progress; 0 if it has none
}

// TableEnd ends a table.
type TableEnd struct{}

// Cell is one cell. Exactly one of Plain and Blocks is used.
type Cell struct {
	Plain  string  // unstyled text
	Blocks []Block // paragraphs, items, nested tables
	Across int     // columns spanned; 0 and 1 mean one
	Down   int     // rows spanned; 0 and 1 mean one
}

// Text is a line of runs.
type Text []Run

// Run is a stretch of text of one look. "\n" in it is a line break.
type Run struct {
	Text  string
	Style Style
	Link  string // target; empty if none
	Note  string // label of the [Note] it refers to; Text is then empty
}

// Style is a set of looks.
type Style uint8

// The looks a run may have.
const (
	Bold Style = 1 << iota
	Italic
	Strike
	Mono
	Superscript
	Subscript
	Math // Text is LaTeX
)

func (Heading) block()    {}
func (Paragraph) block()  {}
func (Item) block()       {}
func (Code) block()       {}
func (Equation) block()   {}
func (Verbatim) block()   {}
func (Image) block()      {}
func (Marker) block()     {}
func (Sheet) block()      {}
func (Quote) block()      {}
func (Note) block()       {}
func (TableStart) block() {}
func (TableRow) block()   {}
func (TableEnd) block()   {}

// Plain returns s as a text of one unstyled run.
func Plain(s string) Text { return Text{{Text: s}} }

// String returns the text without its looks.
func (t Text) String() string {
	if len(t) == 1 {
		return t[0].Text
	}
	var b strings.Builder
	for _, r := range t {
		b.WriteString(r.Text)
	}
	return b.String()
}

// Blank says whether nothing of the text would be seen.
func (t Text) Blank() bool {
	for _, r := range t {
		if r.Note != "" || strings.TrimSpace(r.Text) != "" {
			return false
		}
	}
	return true
}
