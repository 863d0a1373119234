package parse_test

import (
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse"
)

func TestAPasswordOpensWhatItLocks(t *testing.T) {
	t.Parallel()
	book, err := excelize.Encrypt(fixture(t, "xlsx-book/in.xlsx"), &excelize.Options{Password: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file string
		data       []byte
		want       string
	}{
		{"a pdf", "a.pdf", fixture(t, "encrypted.pdf"), "Some secret words"},
		{"a document of today", "a.docx", fixture(t, "locked.docx"), "Only for the committee."},
		{"a workbook of 2007", "a.xlsx", book, "# Income"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := shared.Parse(t.Context(), parse.Request{File: wrap(t, c.file, c.data), Password: "sesame"})
			if err != nil || !strings.Contains(doc.MarkdownContent, c.want) {
				t.Errorf("with the password: %q, %v", doc.MarkdownContent, err)
			}
			for password, want := range map[string]string{"": "needs a password", "sesami": "the password does not open"} {
				_, err := shared.Parse(t.Context(), parse.Request{File: wrap(t, c.file, c.data), Password: password})
				if !fault.Is(err, fault.Document) || !strings.Contains(err.Error(), want) {
					t.Errorf("password %q: %v, want a fault that says %q", password, err, want)
				}
			}
		})
	}
}

func TestThePureEngineGivesTheText(t *testing.T) {
	t.Parallel()
	p := parse.New(parse.Options{PureGo: true})
	t.Cleanup(func() { _ = p.Close() })
	doc, err := p.Parse(t.Context(), parse.Request{File: open(t, "testdata/pdf-report/in.pdf")})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<!-- page 1 -->", "Annual report of the village hall", "<!-- page 2 -->", "$1,240.50"} {
		if !strings.Contains(doc.MarkdownContent, want) {
			t.Errorf("no %q in %q", want, doc.MarkdownContent)
		}
	}
	if len(doc.Metadata.Warnings) != 1 || !strings.Contains(doc.Metadata.Warnings[0], "pure engine") {
		t.Errorf("warnings %q, want one that names the pure engine", doc.Metadata.Warnings)
	}
	if _, err := p.Parse(t.Context(), parse.Request{File: wrap(t, "a.pdf", []byte("%PDF-1.7\nnothing"))}); !fault.Is(err, fault.Document) {
		t.Errorf("a damaged document: %v, want a document fault", err)
	}
}
