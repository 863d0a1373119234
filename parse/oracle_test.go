package parse_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/holodeck-run/holodeck/parse"
)

// workbook makes a workbook of rows × columns of numbers and texts.
func workbook(t testing.TB, rows, columns int) []byte {
	t.Helper()
	f := excelize.NewFile()
	w, err := f.NewStreamWriter("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	row := make([]any, columns)
	for i := 1; i <= rows; i++ {
		for j := range row {
			switch r.IntN(5) {
			case 0:
				row[j] = nil
			case 1:
				row[j] = r.IntN(1 << 30)
			case 2:
				row[j] = float64(r.IntN(100_000)) / 100
			default:
				row[j] = fmt.Sprintf("text %d", r.IntN(5000))
			}
		}
		row[0] = i
		if err := w.SetRow(fmt.Sprintf("A%d", i), row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCellsAreThoseAnotherReaderSees(t *testing.T) {
	t.Parallel()
	data := workbook(t, 300, 12)
	doc, err := shared.Parse(t.Context(), parse.Request{File: wrap(t, "a.xlsx", data)})
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := excelize.OpenReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := oracle.GetRows("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(doc.MarkdownContent), "\n")[2:]
	lines = append(lines[:1], lines[2:]...) // without the rule
	var got [][]string
	for _, l := range lines {
		cells := strings.Split(strings.Trim(l, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		for len(cells) > 0 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		got = append(got, cells)
	}
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("cells (-excelize +ours):\n%s", diff)
	}
}

func BenchmarkWorkbook(b *testing.B) {
	data := workbook(b, 200_000, 10)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := shared.Parse(b.Context(), parse.Request{File: wrap(b, "a.xlsx", data)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPDF(b *testing.B) {
	data := fixture(b, "pdf-columns/in.pdf")
	if err := shared.Warm(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := shared.Parse(b.Context(), parse.Request{File: wrap(b, "a.pdf", data)}); err != nil {
			b.Fatal(err)
		}
	}
}
