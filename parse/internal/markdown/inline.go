package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holodeck-run/holodeck/parse/internal/block"
)

// inline prints a text. Line breaks stay "\n" (or "<br>" in a cell), preceded
// by the two spaces that make them hard.
func inline(t block.Text, cell bool) string {
	if len(t) == 1 && t[0].Style == 0 && t[0].Link == "" && t[0].Note == "" {
		return breaks(escape(strings.TrimSpace(t[0].Text), 0, 0, cell), cell)
	}
	t = merge(t)
	var b strings.Builder
	for i, r := range t {
		if r.Note != "" {
			b.WriteString("[^" + r.Note + "]")
			continue
		}
		var before, after rune
		if i > 0 {
			before, _ = utf8.DecodeLastRuneInString(t[i-1].Text)
		}
		if i+1 < len(t) {
			after, _ = utf8.DecodeRuneInString(t[i+1].Text)
		}
		b.WriteString(run(r, before, after, cell))
	}
	return breaks(strings.TrimSpace(b.String()), cell)
}

// merge joins neighbours of one look, gives the spaces at a run's edges to the
// unstyled text around it, and drops empty runs.
func merge(t block.Text) block.Text {
	out := make(block.Text, 0, len(t))
	add := func(r block.Run) {
		if r.Text == "" && r.Note == "" {
			return
		}
		if n := len(out) - 1; n >= 0 && r.Note == "" && out[n].Note == "" && out[n].Style == r.Style && out[n].Link == r.Link {
			out[n].Text += r.Text
			return
		}
		out = append(out, r)
	}
	for _, r := range t {
		if r.Style&^block.Mono == 0 && r.Link == "" || r.Note != "" {
			add(r)
			continue
		}
		body := strings.TrimSpace(r.Text)
		if body == "" {
			add(block.Run{Text: r.Text})
			continue
		}
		lead := r.Text[:strings.Index(r.Text, body)]
		tail := r.Text[len(lead)+len(body):]
		if n := len(out) - 1; lead != "" && n >= 0 && out[n].Style == r.Style && out[n].Link == r.Link {
			add(block.Run{Text: lead + body, Style: r.Style, Link: r.Link})
		} else {
			add(block.Run{Text: lead})
			add(block.Run{Text: body, Style: r.Style, Link: r.Link})
		}
		add(block.Run{Text: tail})
	}
	return rejoin(out)
}

// rejoin heals "**a** **b**": a space between two runs of one look is theirs.
func rejoin(t block.Text) block.Text {
	out := t[:0]
	for i := 0; i < len(t); i++ {
		n := len(out) - 1
		if n >= 0 && i+1 < len(t) && t[i].Note == "" && strings.Trim(t[i].Text, " ") == "" &&
			out[n].Style == t[i+1].Style && out[n].Link == t[i+1].Link && out[n].Note == "" && t[i+1].Note == "" {
			out[n].Text += t[i].Text + t[i+1].Text
			i++
			continue
		}
		out = append(out, t[i])
	}
	return out
}

func run(r block.Run, before, after rune, cell bool) string {
	var s string
	switch {
	case r.Style&block.Math != 0:
		s = "$" + latex(r.Text, cell) + "$"
	case r.Style&block.Mono != 0 && !strings.Contains(r.Text, "\n"):
		s = mono(r.Text, cell)
	default:
		s = escape(r.Text, before, after, cell)
	}
	for _, m := range []struct {
		style            block.Style
		mark, open, shut string
	}{
		{block.Superscript, "", "<sup>", "</sup>"},
		{block.Subscript, "", "<sub>", "</sub>"},
		{block.Strike, "~~", "<s>", "</s>"},
		{block.Italic, "*", "<i>", "</i>"},
		{block.Bold, "**", "<b>", "</b>"},
	} {
		switch {
		case r.Style&m.style == 0:
		case m.mark == "" || !flanks(r.Text, before, after) || strings.Contains(r.Text, "\n"):
			s = m.open + s + m.shut
		default:
			s = m.mark + s + m.mark
		}
	}
	if r.Link != "" {
		if target := target(r.Link); target != "" {
			return "[" + strings.ReplaceAll(s, "\n", " ") + "](" + target + ")"
		}
	}
	return s
}

// flanks says whether * around s would be read as emphasis: punctuation at an
// edge next to a letter outside would not.
func flanks(s string, before, after rune) bool {
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	return (!punct(first) || !word(before)) && (!punct(last) || !word(after))
}

func punct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func word(r rune) bool { return r != 0 && !unicode.IsSpace(r) && !punct(r) }

// target returns a link's destination as it may stand in markdown, empty if it
// must not stand there: what runs code or carries data is no link to follow.
func target(link string) string {
	link = strings.TrimSpace(link)
	scheme, _, _ := strings.Cut(strings.ToLower(link), ":")
	switch scheme {
	case "javascript", "vbscript", "data", "file":
		return ""
	}
	link = strings.NewReplacer("\n", "", "\r", "", "<", "%3C", ">", "%3E", "|", "%7C", "\t", "%09").Replace(link)
	if strings.ContainsAny(link, " ()") {
		return "<" + link + ">"
	}
	return link
}

// latex is s as it may stand in a cell, where a bar would end it.
func latex(s string, cell bool) string {
	if cell {
		s = strings.ReplaceAll(s, "|", `\vert `)
	}
	return strings.TrimSpace(s)
}

func mono(s string, cell bool) string {
	ticks := fence(s)[2:]
	if !strings.Contains(s, "`") {
		ticks = "`"
	}
	if cell {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// fence returns more backticks than any run of them in s, three at least.
func fence(s string) string {
	longest, n := 2, 0
	for _, r := range s {
		if r == '`' {
			n++
			longest = max(longest, n)
		} else {
			n = 0
		}
	}
	return strings.Repeat("`", longest+1)
}

func image(alt string, cell bool) string {
	alt = strings.Join(strings.Fields(alt), " ")
	if alt == "" {
		alt = "image"
	}
	return "![" + escape(alt, 0, 0, cell) + "]()"
}

func breaks(s string, cell bool) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	out := lines[:0]
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	if cell {
		return strings.Join(out, "<br>")
	}
	return strings.Join(out, "  \n")
}
