package parse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/markdown"
	"github.com/holodeck-run/holodeck/payload"
)

// takes returns the extraction options that apply to a type.
func takes(kind string) []string {
	switch kind {
	case "pdf", "powerpoint":
		return []string{"pages"}
	case "excel":
		return []string{"sheet", "range"}
	case "csv":
		return []string{"range"}
	default:
		return nil
	}
}

// applies refuses options that have no meaning for the type of the file.
func applies(ref payload.FileInput, kind string) error {
	have := takes(kind)
	for _, o := range []struct {
		name string
		set  bool
	}{{"pages", len(ref.Pages) > 0}, {"sheet", ref.Sheet != ""}, {"range", ref.Range != ""}} {
		if !o.set || slices.Contains(have, o.name) || !slices.Contains(payload.Types(), kind) {
			continue
		}
		if len(have) == 0 {
			return fault.New(fault.ExtractionParam, "", "Leave "+o.name+" out.", "%s does not apply to %s; nothing can be selected there", o.name, kind)
		}
		return fault.New(fault.ExtractionParam, "", "Leave "+o.name+" out, or use "+strings.Join(have, " or ")+".",
			"%s does not apply to %s, where %s can be given", o.name, kind, strings.Join(have, " and "))
	}
	return nil
}

// Oversize is the Details of a PayloadsTooLarge fault of [Parser.Parse].
type Oversize struct {
	AtLeast    int64    `json:"size"`       // bytes in JSON when the reader stopped
	Limit      int64    `json:"limit"`      // bytes allowed
	Fix        []string `json:"fix"`        // what helps: pages, sheet or range, else shorten
	Suggestion string   `json:"suggestion"` // a value for it that fits; empty if none is known
}

func tooLarge(op string, ref payload.FileInput, meta payload.Metadata, e *markdown.TooLong) error {
	d := Oversize{AtLeast: e.Size, Limit: e.Limit, Fix: []string{"shorten"}}
	hint := "Give a shorter document, or split it."
	switch {
	case e.Unit != "" && len(e.Pages) > 0:
		d.Fix, d.Suggestion = []string{"pages"}, ranges(e.Pages, "-")
		hint = fmt.Sprintf("Ask for fewer pages: pages %s fit.", ranges(e.Pages, "–"))
		if len(e.Pages) == 1 {
			hint = fmt.Sprintf("Ask for fewer pages: page %d fits.", e.Pages[0])
		}
	case len(e.Done) > 0 && ref.Sheet == "":
		d.Fix, d.Suggestion = []string{"sheet"}, e.Done[0]
		hint = fmt.Sprintf("Ask for one sheet at a time: sheet %s.", quoted(e.Done))
		if len(e.Done) == 1 {
			hint = fmt.Sprintf("Ask for one sheet at a time: sheet %q fits.", e.Done[0])
		}
	case e.Rows > 0:
		d.Fix, d.Suggestion = []string{"range"}, rowRange(ref.Range, e)
		hint = fmt.Sprintf("Ask for fewer rows: rows %d–%d fit: range %s", e.First, e.Rows, d.Suggestion)
		if meta.Type == "excel" && e.Sheet != "" && len(meta.Sheets) > 1 && ref.Sheet == "" {
			hint += fmt.Sprintf(" of sheet %q", e.Sheet)
		}
		hint += "."
	}
	err := fault.New(fault.PayloadsTooLarge, op, hint, "the markdown has at least %s, more than the limit of %s", size(e.Size), size(e.Limit))
	err.Details = d
	return err
}

// rowRange narrows the range asked for to the rows that fit.
func rowRange(asked string, e *markdown.TooLong) string {
	if from, to, ok := strings.Cut(strings.ReplaceAll(asked, "$", ""), ":"); ok {
		left, right := strings.TrimRight(from, "0123456789"), strings.TrimRight(to, "0123456789")
		if left != "" && right != "" && !strings.Contains(left, "!") {
			return fmt.Sprintf("%s%d:%s%d", left, e.First, right, e.Rows)
		}
	}
	return fmt.Sprintf("%d:%d", e.First, e.Rows)
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = strconv.Quote(n)
	}
	if len(q) > 5 {
		q = append(q[:5], "…")
	}
	return strings.Join(q, ", ")
}

func size(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// ranges writes page numbers as people do: 1-3, 7.
func ranges(pages []int, dash string) string {
	var parts []string
	for i := 0; i < len(pages); {
		j := i
		for j+1 < len(pages) && pages[j+1] == pages[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d%s%d", pages[i], dash, pages[j]))
		} else {
			parts = append(parts, strconv.Itoa(pages[i]))
		}
		i = j + 1
	}
	if dash == "-" {
		return strings.Join(parts, ",")
	}
	return strings.Join(parts, ", ")
}
