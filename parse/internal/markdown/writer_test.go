package markdown_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/markdown"
	"github.com/holodeck-run/holodeck/payload"
)

func write(t *testing.T, blocks ...block.Block) string {
	t.Helper()
	w := markdown.New(0)
	for _, b := range blocks {
		if err := w.Put(b); err != nil {
			t.Fatal(err)
		}
	}
	return w.String()
}

func para(runs ...block.Run) block.Block { return block.Paragraph{Text: runs} }

func cells(texts ...string) block.TableRow {
	row := block.TableRow{}
	for _, s := range texts {
		row.Cells = append(row.Cells, block.Cell{Plain: s})
	}
	return row
}

func TestBlocksPrintAsAReaderExpects(t *testing.T) {
	t.Parallel()
	bold, italic := block.Bold, block.Italic
	plain := func(s string) block.Block { return block.Paragraph{Text: block.Plain(s)} }
	for _, c := range []struct {
		name   string
		blocks []block.Block
		want   string
	}{
		{"amounts and names keep their shape", []block.Block{plain("$5,000.00 is 3.5% of a_long_name, 2 * 3 < 7 & [1]")}, "$5,000.00 is 3.5% of a_long_name, 2 * 3 < 7 & [1]"},
		{"markup is shown, not obeyed", []block.Block{plain("*a* _b_ `c` <b> &amp; [x](y) ~~z~~")}, "\\*a\\* \\_b\\_ \\`c\\` &lt;b> \\&amp; [x\\](y) \\~\\~z\\~\\~"},
		{"a line does not become a heading or list", []block.Block{plain("# one\n- two\n3. three\n> four\n+ five\n---")}, "\\# one  \n\\- two  \n3\\. three  \n\\> four  \n\\+ five  \n\\---"},
		{"a year with a point is not a list of its own", []block.Block{plain("2026 was good")}, "2026 was good"},
		{"neighbours of one look are joined", []block.Block{para(block.Run{Text: "a", Style: bold}, block.Run{Text: " "}, block.Run{Text: "b", Style: bold})}, "**a b**"},
		{"spaces stay outside of emphasis", []block.Block{para(block.Run{Text: "see "}, block.Run{Text: " this ", Style: bold | italic}, block.Run{Text: "now"})}, "see  ***this*** now"},
		{"emphasis that would not open uses tags", []block.Block{para(block.Run{Text: "(a)", Style: bold}, block.Run{Text: "b"})}, "<b>(a)</b>b"},
		{"bold in a heading is the heading's", []block.Block{block.Heading{Level: 2, Text: block.Text{{Text: "Costs #", Style: bold}}}}, "## Costs \\#"},
		{"a link with brackets and spaces", []block.Block{para(block.Run{Text: "here", Link: "https://a.example/x (1)|2"})}, "[here](<https://a.example/x (1)%7C2>)"},
		{"a link that runs code is only its text", []block.Block{para(block.Run{Text: "here", Link: "JavaScript:alert(1)"})}, "here"},
		{"nested lists indent by their marker", []block.Block{
			block.Item{Ordered: true, Number: 9, Text: block.Plain("nine")},
			block.Item{Ordered: true, Number: 10, Text: block.Plain("ten")},
			block.Item{Level: 1, Text: block.Plain("under\nten")},
			block.Item{Level: 1, Label: "(b)", Text: block.Plain("labelled")},
			block.Item{Text: block.Plain("another list")},
		}, "9. nine\n10. ten\n    - under  \n      ten\n    - (b) labelled\n\n- another list"},
		{
			"cells are escaped and squared",
			[]block.Block{block.TableStart{}, cells("a|b", "two\nlines"), cells("\\"), cells("", "NaN", "x"), block.TableEnd{}},
			"| a\\|b | two<br>lines |  |\n| --- | --- | --- |\n| \\\\ |  |  |\n|  | NaN | x |",
		},
		{
			"merged cells are printed once",
			[]block.Block{
				block.TableStart{},
				block.TableRow{Cells: []block.Cell{{Plain: "tall", Down: 2}, {Plain: "wide", Across: 2}}},
				cells("b", "c"), cells("d", "e", "f"),
				block.TableEnd{},
			},
			"| tall | wide |  |\n| --- | --- | --- |\n|  | b | c |\n| d | e | f |",
		},
		{
			"empty columns at the left are trimmed where asked",
			[]block.Block{block.TableStart{Trim: true}, cells("", "a"), cells("", "b", "c"), block.TableEnd{}},
			"| a |  |\n| --- | --- |\n| b | c |",
		},
		{
			"a table in a cell keeps its text",
			[]block.Block{block.TableStart{}, block.TableRow{Cells: []block.Cell{{Blocks: []block.Block{
				block.Paragraph{Text: block.Plain("one")}, block.TableStart{}, cells("x", "y"), block.TableEnd{}, block.Item{Text: block.Plain("two")},
			}}}}, block.TableEnd{}},
			"| one<br>x / y<br>• two |\n| --- |",
		},
		{"markers are comments that cannot be broken out of", []block.Block{block.Marker{Unit: "page", Number: 2, Note: "a --> b"}}, "<!-- page 2: a - -> b -->"},
		{"code keeps backticks inside", []block.Block{block.Code{Language: "go", Text: "a ``` b\n"}}, "````go\na ``` b\n````"},
		{"notes follow each other", []block.Block{para(block.Run{Text: "x"}, block.Run{Note: "1"}), block.Note{Label: "1", Text: block.Plain("one")}, block.Note{Label: "2", Text: block.Plain("two")}}, "x[^1]\n\n[^1]: one\n[^2]: two"},
		{"blank text prints nothing", []block.Block{plain(" \n "), block.Heading{Level: 1}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, strings.TrimSuffix(write(t, c.blocks...), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestASparseTableIsMeasuredBeforeItIsSquared(t *testing.T) {
	t.Parallel()
	w := markdown.New(100_000)
	_ = w.Put(block.TableStart{})
	wide := make([]block.Cell, 1000)
	wide[999].Plain = "x"
	if err := w.Put(block.TableRow{Cells: wide, At: 1}); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := w.Put(block.TableRow{Cells: []block.Cell{{Plain: "y"}}, At: i + 2}); err != nil {
			t.Fatal(err)
		}
	}
	var long *markdown.TooLong
	if err := w.Put(block.TableEnd{}); !errors.As(err, &long) {
		t.Fatalf("3 MB of blanks fit into 100 kB: %v", err)
	}
	if long.Rows < 10 || long.Rows > 33 {
		t.Errorf("%d rows are said to fit, want about 30", long.Rows)
	}
}

// FuzzWriter checks what must hold of any text: the size counted is the size
// in JSON, and no cell breaks out of its row.
func FuzzWriter(f *testing.F) {
	f.Add("plain", "a|b\nc", uint8(0))
	f.Add("**x** \u2028 \x00\x01", "`|`\\", uint8(3))
	f.Add("é\xff", "<br>\r\n", uint8(255))
	f.Fuzz(func(t *testing.T, text, cell string, style uint8) {
		w := markdown.New(1 << 20)
		for _, b := range []block.Block{
			block.Marker{Unit: "page", Number: 1, Note: text},
			block.Heading{Level: int(style), Text: block.Plain(text)},
			block.Paragraph{Text: block.Text{{Text: text, Style: block.Style(style)}, {Text: cell, Link: text}, {Text: text}}},
			block.Item{Level: int(style % 4), Text: block.Plain(cell)},
			block.TableStart{},
			block.TableRow{Cells: []block.Cell{{Plain: cell}, {Plain: text, Across: 2}}},
			block.TableRow{Cells: []block.Cell{{Blocks: []block.Block{block.Paragraph{Text: block.Text{{Text: cell, Style: block.Style(style)}}}}}}},
			block.TableEnd{},
		} {
			if err := w.Put(b); err != nil {
				return
			}
		}
		out := w.String()
		table := strings.Split(strings.TrimSpace(out), "\n")
		table = table[len(table)-3:]
		if table[1] != "| --- | --- | --- |" || !strings.HasPrefix(table[0], "| ") || !strings.HasPrefix(table[2], "| ") {
			t.Fatalf("a cell broke out of its table: %q", table)
		}
		wire, err := payload.Marshal(out)
		if err != nil || !json.Valid(wire) {
			t.Fatal(err)
		}
		if utf8.ValidString(text) && utf8.ValidString(cell) && w.Size() < int64(len(wire))-2 {
			t.Fatalf("counted %d bytes, JSON has %d", w.Size(), len(wire))
		}
	})
}
