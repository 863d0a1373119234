package pdf

import (
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
	unicodenorm "golang.org/x/text/unicode/norm"
)

// segment is text of one line that stands together. Coordinates are points
// with y growing downwards, turned so that the text reads level.
type segment struct {
	text                     string
	left, right, top, bottom float64
	base                     float64 // where the letters stand
	size                     float64 // of the font
	font                     string  // its name, as the document calls it
	bold, italic, mono       bool
	hyphen                   bool  // ends inside a word
	grid                     *grid // a table that stands here instead of text
	tag                      tag
	link                     string // where it leads
	glued                    bool   // no space parts it from the segment before
	aside                    int    // 0 for the page's text; the others read in another direction
	chars                    int
}

type char struct {
	r                        rune
	index                    int
	left, right, top, bottom float64
	link                     string
}

// part is characters that stand together.
type part struct {
	chars []char
	glued bool // to the part before
}

// softHyphen is how PDFium marks a hyphen at the end of a line.
const softHyphen = '\u0002'

// segments reads a page's characters and cuts them into segments, in the
// order of the page's content.
func (d *document) segments(index int) ([]segment, error) {
	loaded, err := d.open(index)
	if err != nil {
		return nil, errors.Join(pdfiumerrors.ErrPage, err)
	}
	page := requests.Page{ByReference: &loaded}
	defer func() { _, _ = d.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded}) }()
	text, err := d.GetPageTextStructured(&requests.GetPageTextStructured{Page: page, Mode: requests.GetPageTextStructuredModeChars})
	if err != nil {
		return nil, err
	}
	groups, degrees := level(text.Chars, d.links(page))
	if len(groups) == 0 {
		return nil, nil
	}
	t := d.tags(page)
	d.titled = t.headings
	drawn := d.rules(page, degrees)
	tables := drawn
	tp, err := d.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return nil, err
	}
	defer func() { _, _ = d.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: tp.TextPage}) }()
	fonts := map[string]look{}
	var segs []segment
	for aside, chars := range groups {
		if aside == 1 {
			drawn = rules{} // they are the page's, turned as its text
		}
		for _, p := range cut(chars, drawn) {
			if s, ok := build(p.chars); ok {
				s.aside, s.glued = aside, p.glued
				d.look(tp.TextPage, p.chars, fonts, t, &s)
				segs = append(segs, s)
			}
		}
	}
	segs = tabled(dedupe(segs), t.tables)
	if at := slices.IndexFunc(segs, func(s segment) bool { return s.aside > 0 }); at >= 0 {
		segs = slices.Insert(segs, at, d.figures(page, degrees, t)...)
	} else {
		segs = append(segs, d.figures(page, degrees, t)...)
	}
	return grids(segs, tables), nil
}

// level groups characters by the direction they read in, and turns each group
// so that it reads from left to right, y growing downwards. The group with the
// most characters comes first: it is the page's text, the others are stamps,
// axis titles and watermarks. It also returns by how many degrees the first
// was turned.
func level(in []*responses.GetPageTextStructuredChar, links []link) (out [][]char, degrees int) {
	groups := map[int][]char{}
	last := 0
	unreverse(in)
	for i, c := range in {
		r := first(c.Text)
		if r == 0 {
			continue
		}
		if r > ' ' {
			last = direction(c.Angle)
		}
		ch := turned(c.PointPosition, last, r, i)
		if len(links) > 0 {
			ch.link = linkAt(links, c.PointPosition)
		}
		groups[last] = append(groups[last], ch)
	}
	order := slices.Sorted(maps.Keys(groups))
	slices.SortStableFunc(order, func(a, b int) int { return len(groups[b]) - len(groups[a]) })
	for _, d := range order {
		out = append(out, groups[d])
	}
	if len(order) > 0 {
		degrees = order[0]
	}
	return out, degrees
}

// unreverse puts the two letters of the ligature of lam and alef into the
// order they are read in: PDFium turns the letters of a line from right to left
// round, those of one glyph too.
func unreverse(in []*responses.GetPageTextStructuredChar) {
	for i := 0; i+1 < len(in); i++ {
		a, b := in[i], in[i+1]
		if b.Text == "ل" && strings.ContainsRune("اأإآ", first(a.Text)) && a.Text != "" && a.PointPosition == b.PointPosition {
			in[i], in[i+1] = b, a
			i++
		}
	}
}

// turned returns a character with its box turned back by degrees.
func turned(p responses.CharPosition, degrees int, r rune, index int) char {
	c := char{r: r, index: index}
	switch degrees {
	case 0:
		c.left, c.right, c.top, c.bottom = p.Left, p.Right, -p.Top, -p.Bottom
	case 90:
		c.left, c.right, c.top, c.bottom = p.Bottom, p.Top, p.Left, p.Right
	case 180:
		c.left, c.right, c.top, c.bottom = -p.Right, -p.Left, p.Bottom, p.Top
	case 270:
		c.left, c.right, c.top, c.bottom = -p.Top, -p.Bottom, -p.Right, -p.Left
	default:
		sin, cos := math.Sincos(float64(degrees) * math.Pi / 180)
		x, y := (p.Left+p.Right)/2, (p.Top+p.Bottom)/2
		w, h := math.Abs(p.Right-p.Left)/2, math.Abs(p.Top-p.Bottom)/2
		half := min(w, h)
		x, y = x*cos+y*sin, x*sin-y*cos
		c.left, c.right, c.top, c.bottom = x-half, x+half, y-half, y+half
	}
	c.left, c.right = min(c.left, c.right), max(c.left, c.right)
	c.top, c.bottom = min(c.top, c.bottom), max(c.top, c.bottom)
	return c
}

// direction rounds an angle in radians to degrees, and to quarter turns if it
// is near one: slanted letters are not turned ones.
func direction(angle float64) int {
	d := -int(math.Round(angle * 180 / math.Pi)) // PDFium counts clockwise
	d = (d%360 + 360) % 360
	if off := (d + 45) % 90; off >= 37 && off <= 53 {
		return (d + 45) / 90 * 90 % 360
	}
	return d
}

func first(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// cut splits the characters where PDFium sees a line end, where the text
// jumps, at gaps too wide for a space, at lines drawn between letters, and
// where a link begins or ends.
func cut(chars []char, drawn rules) []part {
	var parts []part
	begin, glued := 0, false
	var last *char // the last visible one
	space := false // since then
	for i := range chars {
		c := &chars[i]
		if c.r == '\r' || c.r == '\n' {
			parts = append(parts, part{chars[begin:i], glued})
			begin, last, glued, space = i+1, nil, false, false
			continue
		}
		if c.r == ' ' || c.r == softHyphen || c.right <= c.left {
			space = space || c.r == ' '
			continue
		}
		if last != nil {
			em := max(c.bottom-c.top, last.bottom-last.top, 4)
			gap := c.left - last.right
			jump := gap > 0.7*em || gap < -1.5*em && !rtl(c.r) || c.top > last.bottom+em/2 || c.bottom < last.top-em/2 || drawn.between(last, c)
			if jump || c.link != last.link {
				parts = append(parts, part{chars[begin:i], glued})
				begin, glued = i, !jump && !space
			}
		}
		last, space = c, false
	}
	return append(parts, part{chars[begin:], glued})
}

func rtl(r rune) bool { return unicode.In(r, unicode.Arabic, unicode.Hebrew) }

// build makes a segment of characters that stand together.
func build(chars []char) (segment, bool) {
	var b strings.Builder
	s := segment{left: math.Inf(1), top: math.Inf(1), right: math.Inf(-1), bottom: math.Inf(-1)}
	var bases []float64
	for _, c := range chars {
		switch {
		case c.r == softHyphen:
			s.hyphen = true
			b.WriteByte('-')
			continue
		case c.r == '\u00ad', c.r == 0xFFFE, c.r == 0xFFFF, unicode.Is(unicode.Co, c.r), c.r < ' ' && c.r != '\t':
			continue // glyphs without a meaning
		case unicode.IsSpace(c.r):
			b.WriteByte(' ')
			continue
		}
		s.hyphen, s.link = false, c.link
		b.WriteString(fold(c.r))
		s.chars++
		if c.right > c.left || c.bottom > c.top {
			s.left, s.right = min(s.left, c.left), max(s.right, c.right)
			s.top, s.bottom = min(s.top, c.top), max(s.bottom, c.bottom)
			bases = append(bases, c.bottom)
		}
	}
	s.text = strings.Join(strings.Fields(b.String()), " ")
	if s.text == "" || len(bases) == 0 {
		return s, false
	}
	slices.Sort(bases)
	s.base = bases[len(bases)/2]
	if s.hyphen {
		s.text = strings.TrimSuffix(s.text, "-")
	}
	return s, true
}

// fold spells out ligatures, and takes the shapes that letters of right-to-left
// scripts have in a word for the letters.
func fold(r rune) string {
	switch r {
	case '\uFB00':
		return "ff"
	case '\uFB01':
		return "fi"
	case '\uFB02':
		return "fl"
	case '\uFB03':
		return "ffi"
	case '\uFB04':
		return "ffl"
	case '\uFB05', '\uFB06':
		return "st"
	}
	if r >= 0xFB1D && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC {
		return unicodenorm.NFKC.String(string(r)) // a shape of a letter, not the letter
	}
	return string(r)
}

// monospaced are fonts for code that do not always say so themselves.
var monospaced = regexp.MustCompile(`courier|mono|consol|menlo|monaco|typewriter|cmtt|inconsolata|sourcecode|lettergothic`)

type look struct{ bold, italic, mono bool }

// look asks for the font and the tag of a segment, at one character in its middle: asking
// for each would take longer than everything else together.
func (d *document) look(page references.FPDF_TEXTPAGE, chars []char, fonts map[string]look, t tags, s *segment) {
	at := -1
	for _, c := range chars[len(chars)/2:] {
		if c.r > ' ' && c.right > c.left {
			at = c.index
			break
		}
	}
	for i := 0; at < 0 && i < len(chars); i++ {
		if chars[i].r > ' ' {
			at = chars[i].index
		}
	}
	if at < 0 {
		s.size = s.bottom - s.top
		return
	}
	s.tag = d.tagAt(page, at, t)
	if f, err := d.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: page, Index: at}); err == nil {
		s.size = math.Abs(f.FontSize)
	}
	if m, err := d.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: page, Index: at}); err == nil {
		s.size *= math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D))
	}
	if h := s.bottom - s.top; s.size < h/3 || s.size > 20*h+4 {
		s.size = h
	}
	f, err := d.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: page, Index: at})
	if err != nil {
		return
	}
	l, ok := fonts[f.FontName]
	if !ok {
		name := strings.ToLower(f.FontName)
		l.bold = strings.Contains(name, "bold") || strings.Contains(name, "black") || strings.Contains(name, "heavy") || f.Flags&(1<<18) != 0
		l.italic = strings.Contains(name, "italic") || strings.Contains(name, "oblique") || f.Flags&(1<<6) != 0
		if w, err := d.FPDFText_GetFontWeight(&requests.FPDFText_GetFontWeight{TextPage: page, Index: at}); err == nil && w.FontWeight >= 600 {
			l.bold = true
		}
		l.mono = f.Flags&1 != 0 || monospaced.MatchString(name)
		fonts[f.FontName] = l
	}
	s.font, s.bold, s.italic, s.mono = f.FontName, l.bold, l.italic, l.mono
}

// dedupe drops text printed twice at one place, which is how some programs
// make it bold.
func dedupe(segs []segment) []segment {
	type key struct {
		text string
		x, y int
	}
	seen := make(map[key]bool, len(segs))
	out := segs[:0]
	for _, s := range segs {
		k := key{s.text, int(s.left / 2), int(s.base / 2)}
		if !seen[k] {
			seen[k] = true
			out = append(out, s)
		}
	}
	return out
}
