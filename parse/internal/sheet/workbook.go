package sheet

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/biff"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"

	"github.com/holodeck-run/holodeck/parse/internal/numeral"
)

// maxStrings bounds what the shared strings of a workbook may hold.
const maxStrings = 256 << 20

// workbook is what all sheets share.
type workbook struct {
	pkg      *pack.Package
	sheets   []entry
	names    map[string]string // defined names, lower case, to what they refer to
	base1904 bool
	formats  []numeral.Format // by cell style
	strings  pool
	binary   *biff.Book // of a workbook of before 2007; then there is no pkg
}

type entry struct {
	name   string
	part   string
	hidden bool
	binary biff.Sheet
}

// pool holds strings end to end: millions of them cost no more than their bytes.
type pool struct {
	bytes []byte
	ends  []uint32
}

func (p *pool) add(s []byte) {
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

func openWorkbook(r io.ReaderAt, size int64) (*workbook, error) {
	if pack.Compound(r) || biff.Bare(r) {
		return openBinary(r, size)
	}
	pkg, err := pack.Open(r, size)
	if err != nil {
		return nil, err
	}
	if path.Ext(pkg.Main()) == ".bin" {
		return nil, fault.New(fault.UnsupportedFileType, "", "Save it as .xlsx.", "there is no reader for binary workbooks (.xlsb)")
	}
	w := &workbook{pkg: pkg, names: map[string]string{}}
	if err := w.readBook(); err != nil {
		return nil, err
	}
	if len(w.sheets) == 0 {
		return nil, pack.Damaged(fmt.Errorf("it names no sheets"))
	}
	if err := w.readStyles(); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *workbook) readBook() error {
	rels, err := w.pkg.Relations(w.pkg.Main())
	if err != nil {
		return err
	}
	return w.pkg.Scan(w.pkg.Main(), func(s *xmlscan.Scanner) error {
		switch s.Name() {
		case "workbookPr":
			// An extension may have an element of the same name.
			w.base1904 = w.base1904 || truth(s.Attr("date1904"))
		case "sheet":
			rel := rels[s.Attr("id")]
			if rel.Target == "" || rel.Type == "chartsheet" || rel.Type == "dialogsheet" || rel.Type == "xlMacrosheet" {
				return nil
			}
			state := s.Attr("state")
			w.sheets = append(w.sheets, entry{name: s.Attr("name"), part: rel.Target, hidden: state == "hidden" || state == "veryHidden"})
		case "definedName":
			name := strings.ToLower(s.Attr("name"))
			refers, err := s.Content()
			if err != nil {
				return pack.Damaged(err)
			}
			if w.names[name] == "" {
				w.names[name] = refers
			}
		}
		return nil
	})
}

func truth(s string) bool { return s == "1" || s == "true" || s == "on" }

func (w *workbook) readStyles() error {
	part, err := w.pkg.Related(w.pkg.Main(), "styles")
	if err != nil || part == "" {
		return err
	}
	codes := map[int]numeral.Format{}
	inCells := 0
	return w.pkg.Scan(part, func(s *xmlscan.Scanner) error {
		switch s.Name() {
		case "numFmt":
			if id, err := strconv.Atoi(s.Attr("numFmtId")); err == nil {
				codes[id] = numeral.Parse(s.Attr("formatCode"))
			}
		case "cellXfs":
			inCells = s.Depth()
		case "xf":
			if inCells == 0 || s.Depth() != inCells+1 || len(w.formats) > 1<<17 {
				return nil
			}
			id, _ := strconv.Atoi(s.Attr("numFmtId"))
			f, ok := codes[id]
			if !ok {
				f = numeral.Builtin(id)
			}
			w.formats = append(w.formats, f)
		case "cellStyles", "dxfs":
			inCells = 0
		}
		return nil
	})
}

// readStrings reads the shared strings. Phonetic readings are left out.
func (w *workbook) readStrings() error {
	if w.binary != nil {
		return nil
	}
	part, err := w.pkg.Related(w.pkg.Main(), "sharedStrings")
	if err != nil || part == "" || len(w.strings.ends) > 0 {
		return err
	}
	return w.pkg.Scan(part, func(s *xmlscan.Scanner) error {
		if !s.Is("si") {
			return nil
		}
		text, err := richText(s)
		if err != nil {
			return pack.Damaged(err)
		}
		w.strings.add(text)
		if len(w.strings.bytes) > maxStrings {
			return fault.New(fault.Document, "", "Give a smaller workbook.", "the workbook is refused: its strings pass %d MiB", maxStrings>>20)
		}
		return nil
	})
}

// richText returns the text of the element just begun.
func richText(s *xmlscan.Scanner) ([]byte, error) {
	var b []byte
	depth := s.Depth() - 1
	inText := 0
	for {
		k, err := s.Next()
		switch {
		case err != nil:
			return nil, err
		case k == xmlscan.EOF:
			return nil, xmlscan.ErrTruncated
		case k == xmlscan.Start && s.Is("rPh"):
			if err := s.Skip(); err != nil {
				return nil, err
			}
		case k == xmlscan.Start && s.Is("t"):
			inText = s.Depth()
		case k == xmlscan.Text && inText > 0:
			b = append(b, s.Bytes()...)
		case k == xmlscan.End:
			if s.Depth() < inText {
				inText = 0
			}
			if s.Depth() <= depth {
				return b, nil
			}
		}
	}
}

// find returns the sheet asked for by name, or by number from 1.
func (w *workbook) find(asked string) (entry, error) {
	for _, e := range w.sheets {
		if e.name == asked {
			return e, nil
		}
	}
	for _, e := range w.sheets {
		if strings.EqualFold(e.name, asked) {
			return e, nil
		}
	}
	if n, err := strconv.Atoi(strings.TrimSpace(asked)); err == nil && n >= 1 && n <= len(w.sheets) {
		return w.sheets[n-1], nil
	}
	hint := "Ask for one of its sheets by name, or by number from 1."
	if near := fault.Nearest(asked, w.all()); near != "" {
		hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return entry{}, fault.New(fault.ExtractionParam, "", hint, "sheet %q does not exist: the workbook has %s", asked, strings.Join(w.all(), ", "))
}

func (w *workbook) all() []string {
	names := make([]string, len(w.sheets))
	for i, e := range w.sheets {
		names[i] = e.name
	}
	return names
}
