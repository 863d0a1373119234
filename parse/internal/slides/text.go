package slides

import (
	"errors"
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/math"
	"github.com/holodeck-run/holodeck/parse/internal/numeral"
)

var errShapes = errors.New("a slide has more objects than can be read")

// para is a paragraph, with the bullet that it sets itself.
type para struct {
	text   block.Text
	level  int
	bullet bullet
}

// bullet is how a paragraph is marked.
type bullet struct {
	kind   bulletKind
	scheme string // of a numbered one (ECMA-376 part 1, 20.1.10.61)
	start  int
}

type bulletKind uint8

const (
	unset bulletKind = iota
	none
	dot // a character or picture
	numbered
)

// levels are the bullets of the nine levels of a list.
type levels [9]bullet

// levels reads the levels of the element just begun.
func (r *reader) levels(into *levels) error {
	at := -1
	return r.s.Each(func() error {
		name := r.s.Name()
		if len(name) == 7 && strings.HasPrefix(name, "lvl") && strings.HasSuffix(name, "pPr") {
			at = int(name[3]-'0') - 1
		}
		if at >= 0 && at < len(into) {
			r.bullet(&into[at])
		}
		if name == "defRPr" || name == "extLst" {
			return r.s.Skip()
		}
		return nil
	})
}

// bullet notes the bullet that the tag just given sets, if it sets one.
func (r *reader) bullet(b *bullet) {
	switch r.s.Name() {
	case "buNone":
		*b = bullet{kind: none}
	case "buChar", "buBlip":
		*b = bullet{kind: dot}
	case "buAutoNum":
		start, err := strconv.Atoi(r.s.Attr("startAt"))
		if err != nil || start < 1 {
			start = 1
		}
		*b = bullet{numbered, r.s.Attr("type"), start}
	}
}

func (r *reader) para() (para, error) {
	var p para
	err := r.s.Each(func() error {
		switch r.s.Name() {
		case "pPr":
			if n, err := strconv.Atoi(r.s.Attr("lvl")); err == nil {
				p.level = min(max(n, 0), 8)
			}
			return r.s.Each(func() error {
				r.bullet(&p.bullet)
				return nil
			})
		case "r":
			return r.run(&p)
		case "br":
			p.text = append(p.text, block.Run{Text: "\n"})
			return r.s.Skip()
		case "fld":
			if strings.HasPrefix(r.s.Attr("type"), "slidenum") {
				return r.s.Skip()
			}
			return r.run(&p)
		case "oMath":
			latex, err := math.Read(r.s)
			p.text = append(p.text, block.Run{Text: latex, Style: block.Math})
			return err
		case "Fallback", "endParaRPr", "rPr":
			return r.s.Skip()
		}
		return nil
	})
	return p, err
}

// run reads a run: its looks and link, then its text.
func (r *reader) run(p *para) error {
	var run block.Run
	err := r.s.Each(func() error {
		switch r.s.Name() {
		case "rPr":
			run.Style = r.look()
		case "hlinkClick":
			if rel, ok := r.rels[r.s.Prefixed("id")]; ok && rel.External {
				run.Link = rel.Target
			}
		case "t":
			t, err := r.s.Content()
			run.Text += strings.ReplaceAll(t, "\v", "\n") // how older files break a line
			return err
		}
		return nil
	})
	if run.Text != "" {
		p.text = append(p.text, run)
	}
	return err
}

func (r *reader) look() block.Style {
	var l block.Style
	if set(r.s.Attr("b")) {
		l |= block.Bold
	}
	if set(r.s.Attr("i")) {
		l |= block.Italic
	}
	if s := r.s.Attr("strike"); s == "sngStrike" || s == "dblStrike" {
		l |= block.Strike
	}
	switch n, err := strconv.Atoi(strings.TrimSuffix(r.s.Attr("baseline"), "%")); {
	case err != nil:
	case n > 0:
		l |= block.Superscript
	case n < 0:
		l |= block.Subscript
	}
	return l
}

// mark makes the n-th paragraph numbered by a scheme an entry of a list.
func (b bullet) mark(n int, it block.Item) block.Item {
	n += b.start - 1
	form := b.scheme
	digits := strconv.Itoa(n)
	switch {
	case strings.HasPrefix(form, "alphaLc"):
		digits = strings.ToLower(numeral.Letters(n))
	case strings.HasPrefix(form, "alphaUc"):
		digits = numeral.Letters(n)
	case strings.HasPrefix(form, "romanLc"):
		digits = strings.ToLower(numeral.Roman(n))
	case strings.HasPrefix(form, "romanUc"):
		digits = numeral.Roman(n)
	case !strings.HasSuffix(form, "ParenBoth"):
		it.Ordered, it.Number = true, n
		return it
	}
	switch {
	case strings.HasSuffix(form, "ParenBoth"):
		it.Label = "(" + digits + ")"
	case strings.HasSuffix(form, "ParenR"):
		it.Label = digits + ")"
	default:
		it.Label = digits + "."
	}
	return it
}
