// Package biff reads the binary workbooks of Excel 5 to 2003 (.xls).
//
// In goes the file; out come the names of its sheets and, of one sheet, the
// cells in the order of rows and columns, each with its value and the number
// format it is shown by, and what is hidden. Source: [MS-XLS]. It computes no
// formula (their stored results are given) and prints nothing.
package biff

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/richardlehane/mscfb"
	"golang.org/x/text/encoding"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
)

// maxStream bounds the workbook stream that is held, in bytes.
const maxStream = 512 << 20

// Book is an open workbook.
type Book struct {
	Sheets   []Sheet
	Base1904 bool
	Styles   []Style // by [Cell.Style]

	stream  []byte
	version int
	page    encoding.Encoding
	shared  pool
}

// Sheet is a sheet of cells.
type Sheet struct {
	Name   string
	Hidden bool
	offset int
}

// Style is how a number is shown: the built-in format with that id, or Code.
type Style struct {
	ID   int
	Code string
}

const (
	biff5 = 0x0500
	biff8 = 0x0600
)

// Open opens a workbook. Its faults are of kind Document; a file that holds no
// workbook is one too.
func Open(r io.ReaderAt, size int64) (*Book, error) {
	stream, err := workbookStream(r, size)
	if err != nil {
		return nil, err
	}
	b := &Book{stream: stream, page: codePage(1252)}
	if err := b.readGlobals(); err != nil {
		return nil, err
	}
	if len(b.Sheets) == 0 {
		return nil, pack.Damaged(errors.New("it names no sheets"))
	}
	return b, nil
}

// Bare says whether the file is a workbook stream without a container, as
// Excel 2 to 4 and a few programs since have written.
func Bare(r io.ReaderAt) bool {
	head := make([]byte, 4)
	n, _ := r.ReadAt(head, 0)
	return n == 4 && head[0] == 9 && head[1] <= 8 && head[3] == 0
}

func workbookStream(r io.ReaderAt, size int64) ([]byte, error) {
	if Bare(r) {
		return io.ReadAll(io.NewSectionReader(r, 0, min(size, maxStream)))
	}
	doc, err := mscfb.New(r)
	if err != nil {
		return nil, pack.Damaged(err)
	}
	var found *mscfb.File
	for _, f := range doc.File {
		if len(f.Path) > 0 {
			continue
		}
		if name := strings.ToLower(f.Name); name == "workbook" || name == "book" && found == nil {
			found = f
		}
	}
	if found == nil {
		return nil, pack.Damaged(errors.New("it holds no workbook"))
	}
	// A chain of sectors may be a circle: no stream is longer than its file.
	stream, err := io.ReadAll(io.LimitReader(found, min(size, maxStream)))
	if len(stream) == 0 && err != nil {
		return nil, pack.Damaged(err)
	}
	return stream, nil // what can be read of a damaged one is read
}

func (b *Book) readGlobals() error {
	s := records{stream: b.stream}
	first, ok := s.next()
	switch {
	case !ok:
		return pack.Damaged(errTruncated)
	case first.kind == recOldBOF2, first.kind == recOldBOF3, first.kind == recOldBOF4:
		return fault.New(fault.UnsupportedFileType, "", "Save it as .xlsx.", "there is no reader for workbooks of before Excel 5")
	case first.kind != recBOF:
		return pack.Damaged(errors.New("its workbook stream does not begin with a workbook"))
	}
	b.version = first.u16(0)
	if b.version != biff8 {
		b.version = biff5
	}
	codes := map[int]string{}
	var formats []int
	for {
		r, ok := s.next()
		if !ok || r.kind == recEOF {
			break
		}
		switch r.kind {
		case recFilePass:
			return fault.New(fault.Document, "", "Save a copy without a password, or as .xlsx (--password does not open binary workbooks).", "the workbook is encrypted")
		case recCodePage:
			if b.version == biff5 {
				b.page = codePage(r.u16(0))
			}
		case recDateMode:
			b.Base1904 = r.u16(0) == 1
		case recFormat8, recOldFormat:
			codes[r.u16(0)] = b.formatCode(r)
		case recXF:
			formats = append(formats, r.u16(2))
		case recBoundSheet:
			if r.u8(5) == 0 { // cells; not a macro sheet, chart or module
				b.Sheets = append(b.Sheets, Sheet{b.sheetName(r), r.u8(4)&3 != 0, int(r.u32(0))})
			}
		case recSST:
			if err := b.readShared(r, &s); err != nil {
				return err
			}
		}
	}
	b.Styles = make([]Style, len(formats))
	for i, id := range formats {
		b.Styles[i] = Style{id, codes[id]}
	}
	return nil
}

func (b *Book) formatCode(r record) string {
	if len(r.data) < 3 {
		return ""
	}
	if b.version == biff8 {
		return text8(r.data[min(4, len(r.data)):], r.u16(2))
	}
	return text5(r.data[3:], int(r.u8(2)), b.page)
}

func (b *Book) sheetName(r record) string {
	if len(r.data) < 8 {
		return ""
	}
	if b.version == biff8 {
		return text8(r.data[7:], int(r.u8(6)))
	}
	return text5(r.data[7:], int(r.u8(6)), b.page)
}

// readShared reads the shared strings, and moves s behind them.
func (b *Book) readShared(r record, s *records) error {
	total := int(r.u32(4))
	parts := [][]byte{r.data[min(8, len(r.data)):]}
	for s.peek() == recContinue {
		more, ok := s.next()
		if !ok {
			break
		}
		parts = append(parts, more.data)
	}
	c := &chars{parts: parts}
	for range total {
		if !c.left() {
			break
		}
		b.shared.add(c.unicode())
		if len(b.shared.bytes) > maxStream {
			return fault.New(fault.Document, "", "Give a smaller workbook.", "the workbook is refused: its strings pass %d MiB", maxStream>>20)
		}
	}
	return nil
}

// pool holds strings end to end.
type pool struct {
	bytes []byte
	ends  []uint32
}

func (p *pool) add(s string) {
	p.bytes = append(p.bytes, s...)
	p.ends = append(p.ends, uint32(len(p.bytes)))
}

func (p *pool) at(i int) string {
	if i < 0 || i >= len(p.ends) {
		return ""
	}
	from := uint32(0)
	if i > 0 {
		from = p.ends[i-1]
	}
	return string(p.bytes[from:p.ends[i]])
}

// errorText is what a cell with an error shows ([MS-XLS] 2.5.10).
func errorText(code byte) string {
	switch code {
	case 0x00:
		return "#NULL!"
	case 0x07:
		return "#DIV/0!"
	case 0x0F:
		return "#VALUE!"
	case 0x17:
		return "#REF!"
	case 0x1D:
		return "#NAME?"
	case 0x24:
		return "#NUM!"
	case 0x2A:
		return "#N/A"
	}
	return fmt.Sprintf("#ERR%d", code)
}
