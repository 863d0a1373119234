package parse_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/parse"
	"github.com/holodeck-run/holodeck/payload"
)

func pack(t testing.TB, members map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range members {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const officeRels = `<Relationships><Relationship Id="r1" Type="http://x/officeDocument" Target="%s"/></Relationships>`

func docxOf(t testing.TB, body string) []byte {
	return pack(t, map[string]string{
		"_rels/.rels":       fmt.Sprintf(officeRels, "word/document.xml"),
		"word/document.xml": body,
	})
}

func pptxOf(t testing.TB, list, slide string) []byte {
	return pack(t, map[string]string{
		"_rels/.rels":                     fmt.Sprintf(officeRels, "ppt/presentation.xml"),
		"ppt/presentation.xml":            `<presentation><sldIdLst>` + list + `</sldIdLst></presentation>`,
		"ppt/_rels/presentation.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/slide" Target="slides/s.xml"/></Relationships>`,
		"ppt/slides/s.xml":                slide,
	})
}

func nestedParts(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	return b.String()
}

func xlsxOf(t testing.TB, sheet string) []byte {
	return pack(t, map[string]string{
		"_rels/.rels":                fmt.Sprintf(officeRels, "xl/workbook.xml"),
		"xl/workbook.xml":            `<workbook><sheets><sheet name="S" id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/worksheet" Target="worksheets/s.xml"/></Relationships>`,
		"xl/worksheets/s.xml":        sheet,
	})
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAMistakeIsNamedWithWhatToChange(t *testing.T) {
	t.Parallel()
	report, book := fixture(t, "pdf-report/in.pdf"), fixture(t, "xlsx-book/in.xlsx")
	many := map[string]string{}
	for i := range 20_001 {
		many[fmt.Sprintf("word/%d", i)] = ""
	}
	for _, c := range []struct {
		name string
		file string
		data []byte
		ref  payload.FileInput
		kind fault.Kind
		want []string // parts of the message
	}{
		{"a page that is not there", "r.pdf", report, payload.FileInput{Pages: []int{12}}, fault.ExtractionParam, []string{"page 12 of 2", "pages 1–2"}},
		{"a damaged pdf", "r.pdf", []byte("%PDF-1.7\nnothing of use"), payload.FileInput{}, fault.Document, []string{"damaged"}},
		{"an encrypted pdf", "r.pdf", fixture(t, "encrypted.pdf"), payload.FileInput{}, fault.Document, []string{"password", "--password"}},
		{"an encrypted docx", "a.docx", fixture(t, "locked.docx"), payload.FileInput{}, fault.Document, []string{"needs a password", "--password"}},
		{"a scan", "r.pdf", fixture(t, "scan.pdf"), payload.FileInput{}, fault.Document, []string{"no text layer", "OCR"}},
		{"a sheet for a pdf", "r.pdf", report, payload.FileInput{Sheet: "A"}, fault.ExtractionParam, []string{"sheet does not apply to pdf", "pages"}},
		{"pages for a workbook", "b.xlsx", book, payload.FileInput{Pages: []int{1}}, fault.ExtractionParam, []string{"pages does not apply to excel", "sheet or range"}},
		{"a range for a text", "a.txt", []byte("text"), payload.FileInput{Range: "A1"}, fault.ExtractionParam, []string{"range does not apply to text"}},
		{"a sheet that is not there", "b.xlsx", book, payload.FileInput{Sheet: "Icome"}, fault.ExtractionParam, []string{`"Icome"`, "Income, Costs, Secret, Empty", `Did you mean "Income"?`}},
		{"a sheet number too high", "b.xlsx", book, payload.FileInput{Sheet: "9"}, fault.ExtractionParam, []string{`sheet "9" does not exist`, "Income, Costs"}},
		{"a range outside of what is used", "b.xlsx", book, payload.FileInput{Sheet: "Costs", Range: "Z1:Z9"}, fault.ExtractionParam, []string{"Z1:Z9", "A1:D7"}},
		{"a range of an empty sheet", "b.xlsx", book, payload.FileInput{Sheet: "Empty", Range: "A1"}, fault.ExtractionParam, []string{`sheet "Empty" is empty`}},
		{"a range that is none", "b.xlsx", book, payload.FileInput{Range: "1A"}, fault.ExtractionParam, []string{`"1A" is not a range`, "total"}},
		{"a range on another sheet", "b.xlsx", book, payload.FileInput{Sheet: "Income", Range: "Costs!A1"}, fault.ExtractionParam, []string{`lies on sheet "Costs"`}},
		{"a csv range below the end", "a.csv", []byte("a,b\n1,2\n"), payload.FileInput{Range: "9:12"}, fault.ExtractionParam, []string{"A1:B2"}},
		{"an image", "a.png", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), payload.FileInput{}, fault.UnsupportedFileType, []string{"no reader for image", "pdf, text, excel, word, powerpoint, csv"}},
		{"a presentation without slides", "a.pptx", pptxOf(t, "", ""), payload.FileInput{}, fault.Document, []string{"has no slides"}},
		{"a presentation of before 2007", "a.ppt", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat("\x00", 600)), payload.FileInput{}, fault.UnsupportedFileType, []string{"before 2007", ".pptx"}},
		{"a slide that is not there", "a.pptx", pptxOf(t, `<sldId r:id="r1"/>`, "<sld/>"), payload.FileInput{Pages: []int{2}}, fault.ExtractionParam, []string{"slide 2 of 1", "slide 1 only"}},
		{"a slide that is damaged", "a.pptx", pptxOf(t, `<sldId r:id="r1"/>`, "<sld><cSld><spTree><sp>"), payload.FileInput{}, fault.Document, []string{"damaged", "ends too early"}},
		{"a slide without a text", "a.pptx", pptxOf(t, `<sldId r:id="r1"/>`, "<sld/>"), payload.FileInput{}, fault.Document, []string{"holds no text"}},
		{"groups nested without end", "a.pptx", pptxOf(t, `<sldId r:id="r1"/>`, strings.Repeat("<grpSp>", 1<<20)), payload.FileInput{}, fault.Document, []string{"nested too deeply"}},
		{"a sheet for a presentation", "a.pptx", pptxOf(t, "", ""), payload.FileInput{Sheet: "A"}, fault.ExtractionParam, []string{"sheet does not apply to powerpoint", "pages"}},
		{"a workbook of Excel 4", "a.xls", []byte("\x09\x04\x06\x00\x00\x00\x10\x00\x00\x00\x0a\x00\x00\x00"), payload.FileInput{}, fault.UnsupportedFileType, []string{"before Excel 5", ".xlsx"}},
		{"a damaged binary workbook", "a.xls", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat("\x00", 600)), payload.FileInput{}, fault.Document, []string{"damaged"}},
		{"an encrypted workbook", "a.xlsx", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat("\x00", 600) + "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"), payload.FileInput{}, fault.Document, []string{"encrypted", "password"}},
		{"a truncated workbook", "b.xlsx", book[:len(book)/2], payload.FileInput{}, fault.Document, []string{"damaged"}},
		{"a package without its main part", "a.docx", pack(t, map[string]string{"word/x.xml": "<x/>"}), payload.FileInput{}, fault.Document, []string{"main part is missing"}},
		{"an empty docx", "a.docx", docxOf(t, "<document><body><p/></body></document>"), payload.FileInput{}, fault.Document, []string{"holds no text"}},
		{"xml that ends too early", "a.docx", docxOf(t, "<document><body><p><r><t>text"), payload.FileInput{}, fault.Document, []string{"damaged", "ends too early"}},
		{"xml nested without end", "a.docx", docxOf(t, strings.Repeat("<sdt>", 1<<20)), payload.FileInput{}, fault.Document, []string{"nested too deeply"}},
		{"tables nested without end", "a.docx", docxOf(t, strings.Repeat("<tbl><tr><tc>", 1<<18)), payload.FileInput{}, fault.Document, []string{"nested too deeply"}},
		{"a sheet nested without end", "a.xlsx", xlsxOf(t, "<worksheet>"+strings.Repeat("<c>", 1<<18)), payload.FileInput{}, fault.Document, []string{"nested too deeply"}},
		{"a package that unpacks to 300 times its size", "a.docx", docxOf(t, "<document>"+strings.Repeat(" ", 64<<20)+"</document>"), payload.FileInput{}, fault.Document, []string{"refused", "times its size"}},
		{"a package of too many members", "a.docx", pack(t, many), payload.FileInput{}, fault.Document, []string{"20001 members"}},
		{"a text that is no mail", "a.eml", []byte("nothing but words\nand more of them\n"), payload.FileInput{}, fault.Document, []string{"no headers of a mail"}},
		{"parts in parts without end", "a.eml", []byte("From: a@b\n" + nestedParts(40)), payload.FileInput{}, fault.Document, []string{"refused", "parts in parts"}},
		{"a damaged outlook mail", "a.msg", fixture(t, "mail-outlook/in.msg")[:1500], payload.FileInput{}, fault.Document, []string{"damaged"}},
		{"a csv of blanks", "a.csv", []byte(",,\n,,\n"), payload.FileInput{}, fault.Document, []string{"csv file is empty"}},
		{"a page without text", "a.html", []byte("<html><script>x</script><p> </p>"), payload.FileInput{}, fault.Document, []string{"holds no text"}},
		{"a page nested without end", "a.html", []byte(strings.Repeat("<div>", 1<<18) + "x"), payload.FileInput{}, fault.Document, []string{"nested too deeply"}},
		{"tables of a page nested without end", "a.html", []byte(strings.Repeat("<table><tr><td>", 1<<16) + "x"), payload.FileInput{}, fault.Document, []string{"nested too deeply"}},
		{"a sheet for a page", "a.html", []byte("<p>x"), payload.FileInput{Sheet: "A"}, fault.ExtractionParam, []string{"sheet does not apply to html"}},
		{"damaged json", "a.json", []byte("{\n  \"ä\": tru,\n}"), payload.FileInput{}, fault.Document, []string{"line 2, column 11", "damaged"}},
		{"json that ends too early", "a.json", []byte("{\"a\": [1,\n2"), payload.FileInput{}, fault.Document, []string{"line 2, column 2", "unexpected end"}},
		{"json nested without end", "a.json", []byte("[\n" + strings.Repeat("[", 1<<20)), payload.FileInput{}, fault.Document, []string{"nested too deeply", "line 2, column 256"}},
		{"a damaged line of json lines", "a.jsonl", []byte("{\"n\": 1}\n{\"n\" 2}\n"), payload.FileInput{}, fault.Document, []string{"line 2, column 6"}},
		{"json of blanks", "a.json", []byte(" \n"), payload.FileInput{}, fault.Document, []string{"the text is empty"}},
		{"a notebook without cells", "a.ipynb", []byte("{\"nbformat\": 4}"), payload.FileInput{}, fault.Document, []string{"no notebook", "no cells"}},
		{"a notebook of another shape", "a.ipynb", []byte("{\"cells\": [{\"source\": {}}]}"), payload.FileInput{}, fault.Document, []string{"no notebook"}},
		{"a feed that ends too early", "a.rss", []byte("<rss><channel><title>T</title><item><title>x"), payload.FileInput{}, fault.Document, []string{"damaged", "ends too early"}},
		{"a feed nested without end", "a.rss", []byte("<rss>" + strings.Repeat("<x>", 1<<18)), payload.FileInput{}, fault.Document, []string{"nested too deeply"}},
		{"a text of blanks", "a.txt", []byte(" \n\n"), payload.FileInput{}, fault.Document, []string{"the text is empty"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, err := file.New(c.file, "", bytes.NewReader(c.data), int64(len(c.data)))
			if err != nil {
				t.Fatal(err)
			}
			_, err = shared.Parse(t.Context(), parse.Request{Ref: c.ref, File: f})
			e, ok := fault.As(err)
			if !ok {
				t.Fatalf("got %v, want a fault", err)
			}
			if e.Kind != c.kind || e.Hint == "" {
				t.Errorf("kind %s, hint %q; want kind %s and a hint", e.Kind, e.Hint, c.kind)
			}
			for _, w := range c.want {
				if !strings.Contains(e.Message(), w) {
					t.Errorf("message %q lacks %q", e.Message(), w)
				}
			}
		})
	}
}

func TestAnEncryptedPDFOpensWithItsPassword(t *testing.T) {
	t.Parallel()
	doc, err := shared.Parse(t.Context(), parse.Request{File: wrap(t, "r.pdf", fixture(t, "encrypted.pdf")), Password: "sesame"})
	if err != nil || !strings.Contains(doc.MarkdownContent, "secret words") {
		t.Errorf("got %q, %v", doc.MarkdownContent, err)
	}
}

func TestWhatDoesNotFitIsRefusedWithThePartThatFits(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	rows.WriteString("number,words\n")
	for i := range 5000 {
		fmt.Fprintf(&rows, "%d,\"some \"\"quoted\"\" words\"\n", i)
	}
	for _, c := range []struct {
		name  string
		file  *file.File
		ref   payload.FileInput
		limit int64
		fix   string
		again func(value string) payload.FileInput
	}{
		{
			"pages of a pdf", open(t, "testdata/pdf-report/in.pdf"),
			payload.FileInput{},
			800, "pages",
			func(string) payload.FileInput { return payload.FileInput{Pages: []int{1}} },
		},
		{
			"rows of a csv", wrap(t, "a.csv", []byte(rows.String())),
			payload.FileInput{},
			50_000, "range",
			func(v string) payload.FileInput { return payload.FileInput{Range: v} },
		},
		{
			"rows inside a range", wrap(t, "a.csv", []byte(rows.String())),
			payload.FileInput{Range: "A100:B4000"},
			50_000, "range",
			func(v string) payload.FileInput { return payload.FileInput{Range: v} },
		},
		{
			"a sheet of a workbook", open(t, "testdata/xlsx-book/in.xlsx"),
			payload.FileInput{},
			560, "sheet",
			func(v string) payload.FileInput { return payload.FileInput{Sheet: v} },
		},
		{
			"rows of a sheet", open(t, "testdata/xlsx-book/in.xlsx"),
			payload.FileInput{Sheet: "Income"},
			300, "range",
			func(v string) payload.FileInput { return payload.FileInput{Sheet: "Income", Range: v} },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := shared.Parse(t.Context(), parse.Request{Ref: c.ref, File: c.file, Limit: c.limit})
			e, ok := fault.As(err)
			if !ok || e.Kind != fault.PayloadsTooLarge {
				t.Fatalf("got %v, want PayloadsTooLarge", err)
			}
			d, ok := e.Details.(parse.Oversize)
			if !ok || !slices.Equal(d.Fix, []string{c.fix}) || d.Suggestion == "" || d.Limit != c.limit || d.AtLeast <= c.limit {
				t.Fatalf("details %+v, want fix %s with a suggestion", e.Details, c.fix)
			}
			if !strings.Contains(e.Hint, "fit") {
				t.Errorf("hint %q does not say what fits", e.Hint)
			}
			doc, err := shared.Parse(t.Context(), parse.Request{Ref: c.again(d.Suggestion), File: c.file, Limit: c.limit})
			if err != nil {
				t.Fatalf("what was suggested (%s) is refused: %v", d.Suggestion, err)
			}
			wire, err := payload.Marshal(doc.MarkdownContent)
			if err != nil || int64(len(wire)) > c.limit || len(wire) < int(c.limit)/4 {
				t.Errorf("what was suggested has %d bytes of %d, %v", len(wire), c.limit, err)
			}
		})
	}
}

func TestALimitIsMetToTheByte(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"pdf-report/in.pdf", "docx-report/in.docx", "xlsx-book/in.xlsx", "csv-semicolon/in.csv", "text-markdown/in.md"} {
		f := open(t, filepath.Join("testdata", in))
		doc, err := shared.Parse(t.Context(), parse.Request{File: f})
		if err != nil {
			t.Fatal(err)
		}
		wire, err := payload.Marshal(strings.TrimSuffix(doc.MarkdownContent, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		exact := int64(len(wire))
		if _, err := shared.Parse(t.Context(), parse.Request{File: f, Limit: exact + 2}); err != nil {
			t.Errorf("%s: %d bytes do not fit into %d: %v", in, exact, exact+2, err)
		}
		if _, err := shared.Parse(t.Context(), parse.Request{File: f, Limit: exact - 1}); !fault.Is(err, fault.PayloadsTooLarge) {
			t.Errorf("%s: %d bytes fit into %d: %v", in, exact, exact-1, err)
		}
	}
}

func TestACancelledContextEndsTheReading(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := shared.Parse(ctx, parse.Request{
		File:     open(t, "testdata/pdf-report/in.pdf"),
		Progress: func(done, total int) { cancel() },
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if _, isFault := fault.As(err); isFault {
		t.Errorf("cancellation came as a fault: %v", err)
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if _, err := shared.Parse(cancelled, parse.Request{File: open(t, "testdata/csv-tab/in.tsv")}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestTheResultSaysWhatWasRead(t *testing.T) {
	t.Parallel()
	doc, err := shared.Parse(t.Context(), parse.Request{
		Ref:  payload.FileInput{Path: "reports/in.pdf", Pages: []int{2, 1}},
		File: open(t, "testdata/pdf-report/in.pdf"),
	})
	if err != nil {
		t.Fatal(err)
	}
	m := doc.Metadata
	if *m.PageCount != 2 || fmt.Sprint(m.PagesExtracted) != "[2 1]" || m.SourceName != "in.pdf" || m.Type != "pdf" || m.MIMEType != "application/pdf" || doc.Original.Path != "reports/in.pdf" || m.Sheets != nil {
		t.Errorf("metadata %+v", m)
	}
	doc, err = shared.Parse(t.Context(), parse.Request{Ref: payload.FileInput{Sheet: "2", Range: "A1:B2"}, File: open(t, "testdata/xlsx-book/in.xlsx")})
	if err != nil {
		t.Fatal(err)
	}
	m = doc.Metadata
	if m.PageCount != nil || fmt.Sprint(m.Sheets) != "[Income Costs Secret Empty]" || *m.SheetExtracted != "Costs" || *m.RangeExtracted != "A1:B2" {
		t.Errorf("metadata %+v", m)
	}
}

func TestStatementsOfTheSampleGiveEachTotalOnItsLine(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"statement-affordable.pdf":   {"Net income: $5,000.00", "Total expenses: $3,500.00"},
		"statement-marginal.pdf":     {"Net income: $4,000.00", "Total expenses: $3,400.00"},
		"statement-unaffordable.pdf": {"Net income: $3,200.00", "Total expenses: $3,150.00"},
		"statement.txt":              {"Net income: $4,200.00", "Total expenses: $2,900.00"},
	} {
		doc, err := shared.Parse(t.Context(), parse.Request{File: open(t, filepath.Join("..", "samples", "hardship", name))})
		if err != nil {
			t.Fatal(err)
		}
		lines := map[string]bool{}
		for l := range strings.Lines(doc.MarkdownContent) {
			lines[strings.Trim(l, "*\n")] = true
		}
		for _, w := range append(want, "Residency status: verified") {
			if !lines[w] {
				t.Errorf("%s lacks the line %q", name, w)
			}
		}
	}
}

// The files of the golden folder are those the peer was measured on.
func TestFilesThePeerFailsOnGiveTextOrATypedError(t *testing.T) {
	t.Parallel()
	const dir = "../../shared/golden/files"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Skipf("the shared golden files are not here: %v", err)
	}
	fails := map[string]fault.Kind{
		"broken.pdf": fault.Document, "blank.pdf": fault.Document, "empty.txt": fault.Document,
		"dot.png": fault.UnsupportedFileType, "unknown.xyz": fault.UnsupportedFileType,
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var doc payload.Document
		f, err := file.New(entry.Name(), "", bytes.NewReader(data), int64(len(data)))
		if err == nil {
			doc, err = shared.Parse(t.Context(), parse.Request{File: f})
		}
		e, typed := fault.As(err)
		switch want, fail := fails[entry.Name()]; {
		case fail && (!typed || e.Kind != want):
			t.Errorf("%s: got %v, want %s", entry.Name(), err, want)
		case !fail && err == nil && strings.TrimSpace(doc.MarkdownContent) == "":
			t.Errorf("%s: a silent empty result", entry.Name())
		case err != nil && !typed:
			t.Errorf("%s: %v is no fault", entry.Name(), err)
		}
	}
}
