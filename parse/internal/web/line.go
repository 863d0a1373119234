package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/holodeck-run/holodeck/parse/internal/block"
)

// line gathers the text of one block. White space is one space, wherever the
// markup has it, and none at the edges.
type line struct {
	text     block.Text
	pictures []string // the descriptions of pictures in it
	words    bool     // there is more than pictures
	space    bool     // white space is due before what comes
}

// take returns the text, and the pictures if it has nothing else, and begins
// the next.
func (l *line) take() (block.Text, []string) {
	t, pictures := l.text, l.pictures
	if l.words {
		pictures = nil
	}
	*l = line{}
	return t, pictures
}

func (l *line) add(s string, k look) {
	if s == "" {
		return
	}
	s = strings.NewReplacer("\u00a0", " ", "\u00ad", "", "\u200b", "", "\ufeff", "").Replace(s)
	words := strings.Fields(s)
	if len(words) == 0 {
		l.space = l.space || len(l.text) > 0
		return
	}
	if white(s[0]) && len(l.text) > 0 {
		l.space = true
	}
	l.words = true
	l.put(strings.Join(words, " "), k)
	l.space = white(s[len(s)-1])
}

func white(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// put appends s; a space that is due belongs to the run before it.
func (l *line) put(s string, k look) {
	if n := len(l.text) - 1; l.space && n >= 0 && !strings.HasSuffix(l.text[n].Text, "\n") {
		if l.text[n].Style == k.style && l.text[n].Link == k.link {
			l.text[n].Text += " "
		} else {
			l.text = append(l.text, block.Run{Text: " "})
		}
	}
	l.space = false
	if n := len(l.text) - 1; n >= 0 && l.text[n].Style == k.style && l.text[n].Link == k.link {
		l.text[n].Text += s
		return
	}
	l.text = append(l.text, block.Run{Text: s, Style: k.style, Link: k.link})
}

// broken says whether the line has just ended.
func (l *line) broken() bool {
	n := len(l.text) - 1
	return n >= 0 && l.text[n].Text == "\n"
}

func (l *line) breakLine() {
	l.space = false
	if len(l.text) > 0 {
		l.text = append(l.text, block.Run{Text: "\n"})
	}
}

// picture stands a picture's description in the line. One without any says
// nothing: it is decoration, or a counter of visits.
func (l *line) picture(n *html.Node, k look) {
	alt := attr(n, "alt")
	if alt == "" {
		alt = attr(n, "title")
	}
	alt = strings.Join(strings.Fields(alt), " ")
	if alt == "" {
		return
	}
	if k.link != "" {
		l.words = true // the picture is what is clicked on
	}
	l.pictures = append(l.pictures, alt)
	l.put(alt, k)
}

// box shows a box to tick, and the value of a field.
func (l *line) box(n *html.Node) {
	_, checked := lookup(n, "checked")
	switch strings.ToLower(attr(n, "type")) {
	case "checkbox":
		mark := "[ ]"
		if checked {
			mark = "[x]"
		}
		l.add(mark+" ", look{})
	case "", "text", "number", "date", "email", "tel", "url":
		l.add(attr(n, "value"), look{})
	}
}

// formula returns an equation as its author wrote it, if the page says.
func formula(n *html.Node) string {
	for d := range n.Descendants() {
		if d.Data == "annotation" && attr(d, "encoding") == "application/x-tex" {
			return "$" + strings.TrimSpace(content(d)) + "$"
		}
	}
	if alt := attr(n, "alttext"); alt != "" {
		return "$" + strings.TrimSpace(alt) + "$"
	}
	return content(n)
}

// looks returns the look of what an inline element holds.
func (w *walker) looks(n *html.Node, l look) look {
	switch n.DataAtom {
	case atom.B, atom.Strong:
		l.style |= block.Bold
	case atom.I, atom.Em, atom.Cite, atom.Var, atom.Dfn:
		l.style |= block.Italic
	case atom.S, atom.Strike, atom.Del:
		l.style |= block.Strike
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		l.style |= block.Mono
	case atom.Sup:
		l.style |= block.Superscript
	case atom.Sub:
		l.style |= block.Subscript
	case atom.A:
		if href, ok := lookup(n, "href"); ok {
			l.link = w.resolve(href)
		}
	case atom.Span, atom.Font:
		l.style |= styled(attr(n, "style"))
	}
	return l
}

func styled(css string) (s block.Style) {
	if css == "" {
		return 0
	}
	css = strings.ToLower(strings.ReplaceAll(css, " ", ""))
	for _, c := range []struct {
		rule  string
		style block.Style
	}{
		{"font-weight:bold", block.Bold},
		{"font-weight:700", block.Bold},
		{"font-style:italic", block.Italic},
		{"text-decoration:line-through", block.Strike},
	} {
		if strings.Contains(css, c.rule) {
			s |= c.style
		}
	}
	return s
}

// resolve returns where a link leads: against the base that the page names, as
// it stands without one. A place inside the page is no link.
func (w *walker) resolve(href string) string {
	href = strings.TrimSpace(href)
	if href == "" || href[0] == '#' {
		return ""
	}
	if w.base == nil {
		return href
	}
	u, err := w.base.Parse(href)
	if err != nil {
		return href
	}
	return u.String()
}
