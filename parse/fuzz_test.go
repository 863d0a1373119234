package parse_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/parse"
	"github.com/holodeck-run/holodeck/payload"
)

// fuzzed holds what any bytes must give when read as a type: markdown that is
// valid UTF-8 and within the limit, or a fault of the kinds a document has.
func fuzzed(t *testing.T, kind, name string, data []byte, ref payload.FileInput) {
	t.Helper()
	f, err := file.New(name, "", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return
	}
	f.Type = kind
	const limit = 1 << 20
	doc, err := shared.Parse(t.Context(), parse.Request{Ref: ref, File: f, Limit: limit})
	if err != nil {
		e, ok := fault.As(err)
		if !ok {
			t.Fatalf("%v is no fault", err)
		}
		if _, panicked := e.Details.(map[string]string); panicked {
			t.Fatalf("a reader panicked: %v\n%v", err, e.Details)
		}
		switch e.Kind {
		case fault.Document, fault.ExtractionParam, fault.PayloadsTooLarge, fault.UnsupportedFileType:
		default:
			t.Fatalf("%s is no fault of a document", e.Kind)
		}
		return
	}
	if !utf8.ValidString(doc.MarkdownContent) {
		t.Fatal("the markdown is not UTF-8")
	}
	if wire, err := payload.Marshal(doc.MarkdownContent); err != nil || len(wire) > limit+8 {
		t.Fatalf("%d bytes of %d, %v", len(wire), limit, err)
	}
}

// seed adds the fixtures of a pattern to the corpus.
func seed(f *testing.F, pattern string) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

func FuzzText(f *testing.F) {
	seed(f, "testdata/text-*/in.*")
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "text", "a.txt", data, payload.FileInput{}) })
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a;\"b\"\"\n;c\"\n", "sep=|\nx|y", "\"", "\",\n\"", "a\tb\r\n\r\n\"x\ny\"\t"} {
		f.Add([]byte(s), "")
	}
	f.Add([]byte("a,b\n1,2\n"), "B:A")
	f.Fuzz(func(t *testing.T, data []byte, cells string) {
		fuzzed(t, "csv", "a.csv", data, payload.FileInput{Range: cells})
	})
}

func FuzzHTML(f *testing.F) {
	seed(f, "testdata/html-*/in.*")
	for _, s := range []string{
		`<meta charset=utf-7><table border><tr><td rowspan=0 colspan=9999>a<td><ol reversed start=-3 type=i><li value=0>b</table><pre>`,
		`<blockquote><li><h1><table><caption>c<tr><th>d</blockquote><dd><p>e<br><br><img alt=f><a href="%zz">g`,
		`<base href="::"><p>a<b>b<p>c</b><math alttext="x"><select><option>d</select><svg><title>e`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "html", "a.html", data, payload.FileInput{}) })
}

func FuzzJSON(f *testing.F) {
	seed(f, "testdata/json-*/in.*")
	for _, s := range []string{`[[[["\"]]]]`, "{\"a\":1}\n{\"b\"", `"\ud800"`, "1e999", "[1,]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "json", "a.json", data, payload.FileInput{}) })
}

func FuzzXML(f *testing.F) {
	seed(f, "testdata/xml-*/in.*")
	f.Add([]byte(`<rdf:RDF><channel/><item><title>a&amp;b</title><content type="xhtml"><div>c</div></content></item></rdf:RDF>`))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "xml", "a.xml", data, payload.FileInput{}) })
}

func FuzzNotebook(f *testing.F) {
	seed(f, "testdata/notebook-*/in.*")
	f.Add([]byte(`{"worksheets":[{"cells":[{"cell_type":"code","language":"r","input":["a"],"outputs":[{"output_type":"pyout","text":"b"}]},{"cell_type":"heading","level":9,"source":"c"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "notebook", "a.ipynb", data, payload.FileInput{}) })
}

// FuzzXLSX and FuzzDOCX vary the part that matters: random bytes hardly ever
// make a zip file.
func FuzzXLSX(f *testing.F) {
	for _, s := range []string{
		`<worksheet><cols><col min="2" max="9" hidden="1"/></cols><sheetData><row r="1"><c r="A1"><v>1</v></c><c r="XFD1" t="str"><v>x</v></c></row><row r="1048576" hidden="1"><c><v>2</v></c></row></sheetData></worksheet>`,
		`<worksheet><sheetData><row><c t="inlineStr"><is><t>a_x000D_b</t></is></c><c t="s"><v>7</v></c><c t="b"><v>1</v></c><c t="d"><v>2026-06-30T00:00:00</v></c><c s="1"><v>1e308</v></c></row></sheetData></worksheet>`,
		`<worksheet><sheetData><row r="3"><c r="C3"><v>0.1</v></c><c r="A3"><v>-1</v></c></row><row r="2"/></sheetData>`,
	} {
		f.Add(s, "")
		f.Add(s, "C3:A1")
	}
	f.Fuzz(func(t *testing.T, sheet, cells string) {
		fuzzed(t, "excel", "a.xlsx", xlsxOf(t, sheet), payload.FileInput{Range: cells})
	})
}

func FuzzDOCX(f *testing.F) {
	for _, s := range []string{
		`<document><body><p><pPr><pStyle val="X"/><numPr><ilvl val="9"/><numId val="1"/></numPr></pPr><r><rPr><b/></rPr><t>a</t><tab/><br/></r></p></body></document>`,
		`<document><tbl><tr><trPr><gridBefore val="3"/><del/></trPr><tc><tcPr><gridSpan val="99999"/><vMerge/></tcPr><tbl><tr><tc><p/></tc></tr></tbl></tc></tr></tbl></document>`,
		`<document><p><fldChar fldCharType="end"/><r><fldChar fldCharType="begin"/><instrText>HYPERLINK</instrText><sym font="Symbol" char="F0B7"/><footnoteReference id="1"/></r><txbxContent><p><r><t>&#x41;&bad;</t></r></p></txbxContent></p></document>`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) { fuzzed(t, "word", "a.docx", docxOf(t, body), payload.FileInput{}) })
}

func FuzzPPTX(f *testing.F) {
	for _, s := range []string{
		`<sld show="0"><cSld><spTree><grpSp><sp><nvSpPr><ph type="title"/></nvSpPr><txBody><p><r><rPr b="1"><hlinkClick r:id="r9"/></rPr><t>a</t></r><br/></p></txBody></sp></grpSp></spTree></cSld></sld>`,
		`<sld><graphicFrame><tbl><tr><tc gridSpan="9" rowSpan="-1"><p><pPr lvl="99"><buAutoNum type="romanUcParenBoth" startAt="99999"/></pPr><fld type="datetime"><t>b</t></fld></p></tc><tc hMerge="1"/></tr></tbl><chart r:id="r1"/><relIds r:dm="r2"/></graphicFrame></sld>`,
		`<sld><AlternateContent><Choice><sp><p><oMath><f><num><r><t>1</t></r></num></f></oMath></p></sp></Choice><Fallback><pic><cNvPr descr="c"/></pic></Fallback></AlternateContent></sld>`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, slide string) {
		fuzzed(t, "powerpoint", "a.pptx", pptxOf(t, `<sldId r:id="r1"/>`, slide), payload.FileInput{})
	})
}

// FuzzDrawing varies a chart and a diagram.
func FuzzDrawing(f *testing.F) {
	f.Add(`<chartSpace><chart><title><p><r><t>a</t></r></p></title><ser><tx><v>b</v></tx><cat><lvl><pt idx="0"><v>c</v></pt></lvl><lvl><pt idx="1"><v>d</v></pt></lvl></cat><val><formatCode>0%</formatCode><ptCount val="99999999"/><pt idx="3"><v>1e9</v></pt></val><bubbleSize><pt idx="-1"/></bubbleSize></ser></chart></chartSpace>`)
	f.Add(`<dataModel><ptLst><pt modelId="1" type="doc"/><pt modelId="2"><t><p><r><t>e</t></r></p></t></pt></ptLst><cxnLst><cxn srcId="1" destId="2" srcOrd="9"/><cxn srcId="2" destId="1"/></cxnLst></dataModel>`)
	f.Fuzz(func(t *testing.T, part string) {
		fuzzed(t, "powerpoint", "a.pptx", pack(t, map[string]string{
			"_rels/.rels":                     fmt.Sprintf(officeRels, "ppt/presentation.xml"),
			"ppt/presentation.xml":            `<presentation><sldId r:id="r1"/></presentation>`,
			"ppt/_rels/presentation.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/slide" Target="slides/s.xml"/></Relationships>`,
			"ppt/slides/s.xml":                `<sld><graphicFrame><chart r:id="r1"/></graphicFrame><graphicFrame><relIds r:dm="r1"/></graphicFrame></sld>`,
			"ppt/slides/_rels/s.xml.rels":     `<Relationships><Relationship Id="r1" Type="http://x/chart" Target="../c.xml"/></Relationships>`,
			"ppt/c.xml":                       part,
		}), payload.FileInput{})
	})
}

func FuzzMail(f *testing.F) {
	seed(f, "testdata/mail-*/in.eml")
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "email", "a.eml", data, payload.FileInput{}) })
}

func FuzzOutlook(f *testing.F) {
	seed(f, "testdata/mail-*/in.msg")
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "email", "a.msg", data, payload.FileInput{}) })
}

func FuzzRichText(f *testing.F) {
	seed(f, "testdata/text-*/in.rtf")
	f.Add([]byte(`{\rtf1\ansi\fromhtml1{\*\htmltag64 <p>}\htmlrtf x\htmlrtf0 a\u-3?\'zz\bin9}}}\`))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "text", "a.rtf", data, payload.FileInput{}) })
}

func FuzzXLS(f *testing.F) {
	seed(f, "testdata/xls-*/in.xls")
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "excel", "a.xls", data, payload.FileInput{}) })
}

func FuzzPackage(f *testing.F) {
	seed(f, "testdata/docx-*/in.docx")
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "word", "a.docx", data, payload.FileInput{}) })
}

func FuzzPDF(f *testing.F) {
	seed(f, "testdata/pdf-*/in.pdf")
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, "pdf", "a.pdf", data, payload.FileInput{}) })
}
