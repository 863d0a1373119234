package sheet

import (
	"context"
	"fmt"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/text"
)

// CSV puts delimited text at sink as one table. It returns what was odd.
func CSV(ctx context.Context, data []byte, asked string, sink block.Sink) (warnings []string, err error) {
	want := everything()
	if asked != "" {
		var ok bool
		if want, ok = parseArea(asked); !ok {
			return nil, badArea(asked, "")
		}
	}
	s, err := text.Decode(data)
	if err != nil {
		return nil, err
	}
	r := newRecords(text.Lines(s))
	if err := sink.Put(block.TableStart{}); err != nil {
		return nil, err
	}
	var used area
	filled := false
	for n := 1; n <= want.bottom; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fields, ok := r.next()
		if !ok {
			break
		}
		for i, f := range fields {
			if f != "" {
				used.grow(n, i+1)
			}
		}
		if n < want.top {
			continue
		}
		row := cells(fields, want)
		if len(row) == 0 {
			continue
		}
		filled = true
		if err := sink.Put(block.TableRow{Cells: row, At: n}); err != nil {
			return nil, err
		}
	}
	if !filled && asked != "" {
		return nil, outside(asked, "the file", used)
	}
	if !filled {
		return nil, fault.New(fault.Document, "", "Give a file with rows.", "the csv file is empty")
	}
	if r.open > 0 {
		warnings = append(warnings, fmt.Sprintf("a quotation mark on line %d has no end; it was read as text", r.open))
	}
	return warnings, sink.Put(block.TableEnd{})
}

// cells returns the fields of a record inside want, without empty ones at the end.
func cells(fields []string, want area) []block.Cell {
	if len(fields) < want.left {
		return nil
	}
	fields = fields[want.left-1 : min(len(fields), want.right)]
	for len(fields) > 0 && strings.TrimSpace(fields[len(fields)-1]) == "" {
		fields = fields[:len(fields)-1]
	}
	row := make([]block.Cell, len(fields))
	for i, f := range fields {
		row[i].Plain = f
	}
	return row
}

// records cuts delimited text into records. Blank lines are none.
type records struct {
	s         string
	delimiter byte
	fields    []string
	line      int
	open      int  // the line of a quotation mark without an end, 0 if none
	literal   bool // no later mark has an end either
}

func newRecords(s string) *records {
	if head, rest, _ := strings.Cut(s, "\n"); len(head) == 5 && strings.EqualFold(head[:4], "sep=") {
		return &records{s: rest, delimiter: head[4], line: 2}
	}
	return &records{s: s, delimiter: sniff(s), line: 1}
}

// sniff chooses the delimiter whose records agree best on a number of fields.
func sniff(s string) byte {
	if len(s) > 64<<10 {
		s = s[:64<<10]
		if i := strings.LastIndexByte(s, '\n'); i > 0 {
			s = s[:i]
		}
	}
	best, most := byte(','), 0.0
	for _, d := range []byte{',', ';', '\t', '|'} {
		r := &records{s: s, delimiter: d, line: 1}
		count := map[int]int{}
		n := 0
		for n < 200 {
			fields, ok := r.next()
			if !ok {
				break
			}
			count[len(fields)]++
			n++
		}
		score := 0.0
		for fields, times := range count {
			if fields > 1 {
				agree := float64(times) / float64(n)
				score = max(score, agree*agree*(1+float64(min(fields, 20))/100))
			}
		}
		if score > most*1.001 {
			best, most = d, score
		}
	}
	return best
}

// next returns the next record; the slice is used again.
func (r *records) next() ([]string, bool) {
	for strings.HasPrefix(r.s, "\n") {
		r.s = r.s[1:]
		r.line++
	}
	if r.s == "" {
		return nil, false
	}
	r.fields = r.fields[:0]
	for {
		f, ok := r.quoted()
		if !ok {
			i := strings.IndexAny(r.s, string([]byte{r.delimiter, '\n'}))
			if i < 0 {
				i = len(r.s)
			}
			f, r.s = r.s[:i], r.s[i:]
		}
		r.fields = append(r.fields, f)
		if r.s == "" {
			return r.fields, true
		}
		end := r.s[0] == '\n'
		r.s = r.s[1:]
		if end {
			r.line++
			return r.fields, true
		}
	}
}

// quoted reads a field in quotation marks, doubled ones standing for one. A
// mark that nothing closes is text.
func (r *records) quoted() (string, bool) {
	lead := len(r.s) - len(strings.TrimLeft(r.s, " "))
	if r.literal || lead >= len(r.s) || r.s[lead] != '"' {
		return "", false
	}
	for i := lead + 1; ; {
		n := strings.IndexByte(r.s[i:], '"')
		if n < 0 {
			r.literal, r.open = true, r.line
			return "", false
		}
		i += n + 1
		if strings.HasPrefix(r.s[i:], `"`) {
			i++
			continue
		}
		rest := strings.TrimLeft(r.s[i:], " ")
		if rest == "" || rest[0] == r.delimiter || rest[0] == '\n' {
			f := strings.ReplaceAll(r.s[lead+1:i-1], `""`, `"`)
			r.line += strings.Count(f, "\n")
			r.s = rest
			return f, true
		}
	}
}
