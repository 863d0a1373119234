package pdf

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holodeck-run/holodeck/parse/internal/block"
)

// emit puts a region's lines at sink as headings, list items and paragraphs.
func (d *document) emit(r region, sink block.Sink) error {
	leading := typicalLeading(r.lines)
	for i := 0; i < len(r.lines); {
		if g := r.lines[i].grid(); g != nil {
			if err := g.put(sink); err != nil {
				return err
			}
			i++
			continue
		}
		g, end := d.aligned(r, i)
		if to := d.code(r, i); to > i && (g == nil || len(g.cells[0]) < 3) {
			if err := sink.Put(listing(r.lines[i:to])); err != nil {
				return err
			}
			i = to
			continue
		}
		if g != nil {
			if err := g.put(sink); err != nil {
				return err
			}
			i = end
			continue
		}
		level := d.heading(r, i)
		end = i + 1
		for end < len(r.lines) && d.joins(r, i, end, leading) {
			end++
		}
		if err := sink.Put(shown(join(r.lines[i:end]), level, r.lines[i].tag)); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// shown makes a block of a text that is a heading if level says so, and an
// entry of a list if its tag or its look does.
func shown(text block.Text, level int, t tag) block.Block {
	if level > 0 {
		return block.Heading{Level: level, Text: text}
	}
	it, mark := item(text.String())
	it.Text = text
	if mark > 0 {
		it.Text = behind(text, mark)
	}
	switch {
	case t.role == entry:
		it.Level = t.level
		return it
	case mark > 0:
		return it
	}
	return block.Paragraph{Text: text}
}

// behind returns a text without its first n bytes.
func behind(t block.Text, n int) block.Text {
	for i, r := range t {
		if n < len(r.Text) {
			r.Text = r.Text[n:]
			return append(block.Text{r}, t[i+1:]...)
		}
		n -= len(r.Text)
	}
	return nil
}

// joins says whether line i belongs to the heading or paragraph that began at
// line from.
func (d *document) joins(r region, from, i int, leading float64) bool {
	first, level := &r.lines[from], d.heading(r, from)
	if a, b := first.tag, r.lines[i].tag; r.lines[i].grid() == nil && (a.role != plain || b.role != plain) {
		return a.element == b.element
	}
	if (level > 0) != (d.heading(r, i) > 0) || !r.close(i, leading) {
		return false
	}
	if level > 0 { // at most three lines, and a whole title of the outline ends it
		return i-from < 3 && d.known(first.text()) == 0
	}
	return r.continues(from, i)
}

// typicalLeading returns the usual distance from base line to base line, in
// units of the font size.
func typicalLeading(lines []line) float64 {
	count := map[int]int{}
	best := 0
	for i := 1; i < len(lines); i++ {
		if size := lines[i].size; size > 0 {
			k := int(math.Round((lines[i].base - lines[i-1].base) / size * 20))
			if k < 16 || k > 50 {
				continue
			}
			count[k]++
			if count[k] > count[best] || count[k] == count[best] && k < best {
				best = k
			}
		}
	}
	if best == 0 {
		return 1.25
	}
	return float64(best) / 20
}

// close says whether line i follows the one before it in the same look and
// at the usual distance.
func (r region) close(i int, leading float64) bool {
	prev, next := &r.lines[i-1], &r.lines[i]
	if next.grid() != nil {
		return false
	}
	size := max(prev.size, 1)
	if math.Abs(prev.size-next.size) > 0.12*size || prev.bold != next.bold {
		return false
	}
	gap := (next.base - prev.base) / size
	return gap >= 0 && gap <= max(leading*1.3, leading+0.25)
}

// continues says whether line i goes on with the paragraph or list item that
// began at line from, the two lines being close.
func (r region) continues(from, i int) bool {
	prev, next := &r.lines[i-1], &r.lines[i]
	size := max(prev.size, 1)
	if len(prev.segs) > 1 && wide(prev) || len(next.segs) > 1 && wide(next) {
		return false // cells of a row: each row stands for itself
	}
	if _, mark := item(next.text()); mark > 0 || leader.MatchString(prev.text()) {
		return false
	}
	short := prev.right < r.right-0.25*(r.right-r.left)
	if short && (ends(prev.text()) || startsUpper(next.text())) {
		return false
	}
	first := &r.lines[from]
	indented := next.left > prev.left+0.8*size && i-1 > from || next.left > first.left+3*size
	if _, mark := item(first.text()); mark > 0 {
		return next.left >= first.left-1
	}
	return !indented
}

// wide says whether the gaps in a line are too wide for words.
func wide(l *line) bool {
	for i := 1; i < len(l.segs); i++ {
		if l.segs[i].left-l.segs[i-1].right > 1.5*l.size {
			return true
		}
	}
	return false
}

func ends(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, `"'”’)]`))
	return strings.ContainsRune(".!?:;。！？", r)
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r) || unicode.IsDigit(r)
}

// startsTitle says whether a text begins as a title does: with a capital, a
// number, or a letter of a script without capitals.
func startsTitle(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, "([「『《"))
	return unicode.IsUpper(r) || unicode.IsDigit(r) || unicode.Is(unicode.Lo, r)
}

// join makes one text of lines, healing words that were hyphenated.
func join(lines []line) block.Text {
	var t block.Text
	for i := range lines {
		t = append(t, lines[i].runs()...)
		if i+1 == len(lines) || lines[i].hyphen() || len(t) == 0 {
			continue
		}
		end := t[len(t)-1]
		last, _ := utf8.DecodeLastRuneInString(end.Text)
		begin := lines[i+1].segs[0]
		next, _ := utf8.DecodeRuneInString(begin.text)
		if !(wideScript(last) && wideScript(next)) {
			t = append(t, block.Run{Text: " ", Link: shared(end.Link, begin.link)})
		}
	}
	return merged(t)
}

// merged joins neighbours that lead to the same place.
func merged(t block.Text) block.Text {
	out := t[:0]
	for _, r := range t {
		if n := len(out) - 1; n >= 0 && out[n].Link == r.Link {
			out[n].Text += r.Text
			continue
		}
		out = append(out, r)
	}
	return out
}

// wideScript says whether r is of a script that puts no spaces between words.
func wideScript(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFF65
}

// known returns the level that the document's bookmarks give a text.
func (d *document) known(text string) int {
	if len(d.marks) == 0 {
		return 0
	}
	return d.marks[norm(text)]
}

// heading returns the level of line i if it is a heading, 0 otherwise.
func (d *document) heading(r region, i int) int {
	body := d.body
	l := &r.lines[i]
	text := l.text()
	n := utf8.RuneCountInString(text)
	if n < 2 || n > 200 || !strings.ContainsFunc(text, unicode.IsLetter) {
		return 0
	}
	if d.titled || l.tag.role != plain {
		if l.tag.role == heading {
			return l.tag.level
		}
		return 0
	}
	if leader.MatchString(text) || i+1 < len(r.lines) && leader.MatchString(r.lines[i+1].text()) && l.size < 1.2*body {
		return 0 // an entry of a table of contents
	}
	if level := d.known(text); level > 0 && (l.bold || l.size >= body) {
		return level
	}
	if wide(l) {
		return 0
	}
	switch ratio := l.size / max(body, 1); {
	case ratio >= 1.75:
		return 1
	case ratio >= 1.35:
		return 2
	case ratio >= 1.13 && n <= 120:
		return 3
	case ratio >= 0.98 && l.bold && n <= 90 && !ends(text) && r.alone(i):
		return 4
	case ratio >= 0.98 && n <= 60 && startsTitle(text) && !ends(text) && !l.mono && !caption.MatchString(text) && r.apart(i) && (ratio >= 1.06 || d.looks.rare(l.font)):
		return 4
	}
	return 0
}

// apart says whether line i stands alone in its look, with space above.
func (r region) apart(i int) bool {
	l := &r.lines[i]
	other := func(j int) bool {
		if j < 0 || j >= len(r.lines) {
			return true
		}
		o := &r.lines[j]
		return o.grid() != nil || o.font != l.font || math.Abs(o.size-l.size) > 0.04*l.size
	}
	if i+1 >= len(r.lines) || !other(i-1) || !other(i+1) || len(l.segs) > 2 {
		return false
	}
	return i == 0 || l.base-r.lines[i-1].base > 1.3*l.size
}

// alone says whether line i is set off from what is around it: no text of its
// own look follows or precedes it closely.
func (r region) alone(i int) bool {
	l := &r.lines[i]
	if i+1 >= len(r.lines) || r.lines[i+1].bold && r.lines[i+1].grid() == nil {
		return false
	}
	if i > 0 {
		prev := &r.lines[i-1]
		if !prev.bold && l.base-prev.base < 1.15*l.size {
			return false
		}
	}
	return l.segs[0].chars > 2
}

var (
	caption  = regexp.MustCompile(`(?i)^(fig(ure|\.)?|tab(le|leau|elle|\.)?|abb(ildung|\.)?|图|表|図)\s*\d`)
	bullet   = regexp.MustCompile(`^[•●○▪■□◦‣⁃·∙✓✔➢►–—*-]\s+(\S.*)$`)
	ordered  = regexp.MustCompile(`^(\d{1,3})[.)]\s+(\S.*)$`)
	lettered = regexp.MustCompile(`^(\(?(?:[a-z]|[ivx]{1,5}|\d{1,3})\))\s+(\S.*)$`)
)

// item reads a text that begins with a bullet, number or letter as an entry
// of a list. mark is where the entry's own text begins, 0 if it is no entry.
func item(text string) (it block.Item, mark int) {
	if m := bullet.FindStringSubmatchIndex(text); m != nil {
		return block.Item{}, m[2]
	}
	if m := ordered.FindStringSubmatchIndex(text); m != nil {
		n, err := strconv.Atoi(text[m[2]:m[3]])
		if err != nil {
			return block.Item{}, 0
		}
		return block.Item{Ordered: true, Number: n}, m[4]
	}
	if m := lettered.FindStringSubmatchIndex(text); m != nil {
		return block.Item{Label: text[m[2]:m[3]]}, m[4]
	}
	return block.Item{}, 0
}
