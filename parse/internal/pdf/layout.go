package pdf

import (
	"cmp"
	"math"
	"slices"
	"unicode"

	"github.com/holodeck-run/holodeck/parse/internal/block"
)

// line is what stands on one base line within a region.
type line struct {
	segs                     []segment
	pieces                   []piece // the same where they stand apart
	left, right, top, bottom float64
	base, size               float64
	bold, mono               bool
	font                     string
	tag                      tag // this and the font are those of most of it
}

func (l *line) text() string {
	if len(l.segs) == 1 {
		return l.segs[0].text
	}
	return l.runs().String()
}

// runs returns the text with its links.
func (l *line) runs() block.Text {
	var t block.Text
	for i, s := range l.segs {
		if i > 0 && !s.glued {
			t = append(t, block.Run{Text: " ", Link: shared(l.segs[i-1].link, s.link)})
		}
		t = append(t, block.Run{Text: s.text, Link: s.link})
	}
	return t
}

// shared is the link of a space between two texts.
func shared(a, b string) string {
	if a == b {
		return a
	}
	return ""
}

// grid returns the table that stands on the line, nil if it is text.
func (l *line) grid() *grid { return l.segs[0].grid }

func (l *line) hyphen() bool { return l.segs[len(l.segs)-1].hyphen }

// region is a part of a page that is read from top to bottom.
type region struct {
	lines       []line
	left, right float64
}

// regions puts a page's segments in reading order: lines from top to bottom,
// and where they stand in columns, one column after the other. Text that reads in another direction comes
// last.
func regions(segs []segment) []region {
	end := 0
	for end < len(segs) && segs[end].aside == 0 {
		end++
	}
	out := split(rows(segs[:end]), 0)
	for begin := end; begin < len(segs); begin = end {
		for end = begin; end < len(segs) && segs[end].aside == segs[begin].aside; end++ {
		}
		out = append(out, whole(rows(segs[begin:end])))
	}
	return out
}

// rows groups segments into lines by their base line.
func rows(segs []segment) []line {
	segs = slices.Clone(segs)
	slices.SortStableFunc(segs, func(a, b segment) int { return cmp.Compare(a.base, b.base) })
	var out []line
	for _, s := range segs {
		// A few lines back is enough: what is level with s was added lately.
		at := -1
		for i := len(out) - 1; i >= 0 && i >= len(out)-6; i-- {
			if sameLine(&out[i], s) {
				at = i
				break
			}
		}
		if at < 0 {
			out = append(out, line{base: s.base, size: s.size, top: s.top, bottom: s.bottom, left: s.left, right: s.right})
			at = len(out) - 1
		}
		out[at].add(s)
	}
	for i := range out {
		out[i].order()
	}
	return out
}

func sameLine(l *line, s segment) bool {
	if s.grid != nil || l.segs[0].grid != nil {
		return false
	}
	size := min(l.size, s.size)
	if math.Abs(l.base-s.base) <= max(0.35*size, 1) {
		return true
	}
	overlap := min(l.bottom, s.bottom) - max(l.top, s.top)
	if overlap > 0.6*min(s.bottom-s.top, l.bottom-l.top) && math.Abs(l.base-s.base) <= 0.5*size {
		return true // quotation marks and the like stand high
	}
	if s.chars > 2 && max(s.left-l.right, l.left-s.right) > size && math.Abs(l.base-s.base) <= 0.45*size {
		return true // what is typed into a form stands a little off its label
	}
	small := s.size < 0.8*l.size || l.size < 0.8*s.size // a raised or lowered figure
	return small && overlap > 0.5*min(s.bottom-s.top, l.bottom-l.top) && s.left-l.right < size && l.left-s.right < size
}

func (l *line) add(s segment) {
	l.segs = append(l.segs, s)
	l.left, l.right = min(l.left, s.left), max(l.right, s.right)
	l.top, l.bottom = min(l.top, s.top), max(l.bottom, s.bottom)
}

// order sorts a line's segments and takes its look from the longest of them.
func (l *line) order() {
	right := 0
	for _, s := range l.segs {
		for _, r := range s.text {
			if rtl(r) {
				right++
			} else if unicode.IsLetter(r) {
				right--
			}
		}
	}
	slices.SortStableFunc(l.segs, func(a, b segment) int {
		if right > 0 {
			return cmp.Compare(b.left, a.left)
		}
		return cmp.Compare(a.left, b.left)
	})
	longest := 0
	l.bold, l.mono = true, true
	for _, s := range l.segs {
		if s.chars > longest {
			longest, l.size, l.base, l.tag, l.font = s.chars, s.size, s.base, s.tag, s.font
		}
		l.bold, l.mono = l.bold && s.bold, l.mono && s.mono
	}
	l.pieces = apart(l.segs, l.size)
}

// split cuts lines into columns where a gutter of white space runs between
// prose on both sides, and leaves them as they are otherwise: cells of a
// table also leave gutters, but they are short.
func split(lines []line, depth int) []region {
	if len(lines) == 0 {
		return nil
	}
	x, ok := gutter(lines)
	if !ok || depth > 4 {
		return []region{whole(lines)}
	}
	var out []region
	var band, before []line
	flush := func() {
		if len(band) == 0 {
			return
		}
		if prose(band, x, 2) && clear(band, x) {
			if len(before) > 0 {
				out = append(out, whole(before))
				before = nil
			}
			left, right := halves(band, x)
			out = append(out, split(left, depth+1)...)
			out = append(out, split(right, depth+1)...)
		} else {
			before = append(before, band...)
		}
		band = nil
	}
	for _, l := range lines {
		if crosses(&l, x) {
			flush()
			before = append(before, l)
			continue
		}
		band = append(band, l)
	}
	flush()
	if len(before) > 0 {
		out = append(out, whole(before))
	}
	return out
}

func whole(lines []line) region {
	r := region{lines: lines, left: math.Inf(1), right: math.Inf(-1)}
	for _, l := range lines {
		r.left, r.right = min(r.left, l.left), max(r.right, l.right)
	}
	return r
}

func crosses(l *line, x float64) bool {
	for _, p := range l.pieces {
		if p.left < x && p.right > x {
			return true
		}
	}
	return false
}

func halves(lines []line, x float64) (left, right []line) {
	var a, b []segment
	for _, l := range lines {
		for _, s := range l.segs {
			if (s.left+s.right)/2 < x {
				a = append(a, s)
			} else {
				b = append(b, s)
			}
		}
	}
	return rows(a), rows(b)
}

// gutter looks for the position with the most lines that have text on both
// sides of it, less those that cross it, and that has prose on both sides.
func gutter(lines []line) (float64, bool) {
	w := whole(lines)
	width := w.right - w.left
	if len(lines) < 6 || width < 100 {
		return 0, false
	}
	const steps = 200
	at := func(x float64) int { return min(max(int((x-w.left)/width*steps), 0), steps) }
	score := make([]int, steps+1)
	code := 0
	for _, l := range lines {
		if l.mono {
			code++
		}
	}
	for _, l := range lines {
		if l.mono && code*4 < 3*len(lines) {
			continue // a listing has columns of its own
		}
		for i, p := range l.pieces {
			for x := at(p.left) + 1; x <= at(p.right); x++ {
				score[x] -= 2
			}
			if i+1 < len(l.pieces) {
				for x := at(p.right) + 1; x <= at(l.pieces[i+1].left); x++ {
					score[x] += 3
				}
			}
		}
	}
	best, lo := -1, steps/5
	for i := lo; i <= steps-lo; i++ {
		if best < 0 || score[i] > score[best] {
			best = i
		}
	}
	end := best
	for end < steps-lo && score[end+1] == score[best] {
		end++
	}
	x := w.left + width*float64(best+end)/2/steps
	return x, prose(lines, x, 4)
}

// prose says whether what does not cross x is running text on both sides: at
// least so many lines, of a length that cells of a table hardly have, and
// mostly in one piece.
func prose(lines []line, x float64, least int) bool {
	var n, chars, cells [2]int
	for _, l := range lines {
		if crosses(&l, x) {
			continue
		}
		var here, pieces [2]int
		for _, p := range l.pieces {
			side := 0
			if p.left >= x {
				side = 1
			}
			pieces[side]++
			for i := range p.segs {
				here[side] += p.segs[i].weight()
			}
		}
		for side, c := range here {
			if c > 0 {
				n[side]++
				chars[side] += c
			}
			if pieces[side] > 1 {
				cells[side]++
			}
		}
	}
	for side := range n {
		if n[side] < least || chars[side] < 18*n[side] || cells[side]*2 > n[side] {
			return false
		}
	}
	return true
}

// clear says whether the white space at x is as wide as a letter is high in
// all lines together: gaps between words fall under each other by chance.
func clear(lines []line, x float64) bool {
	left, right, size := math.Inf(-1), math.Inf(1), 0.0
	for _, l := range lines {
		size = max(size, min(l.size, l.bottom-l.top))
		for _, s := range l.segs {
			if s.left < x {
				left = max(left, s.right)
			} else {
				right = min(right, s.left)
			}
		}
	}
	return right-left >= 0.9*min(size, 12)
}

// weight is the number of letters, where one as wide as high counts twice.
func (s *segment) weight() int {
	n := s.chars
	for _, r := range s.text {
		if wideScript(r) || unicode.Is(unicode.Hangul, r) {
			n++
		}
	}
	return n
}

// looks counts the characters of a document by the size and the name of their
// font.
type looks struct {
	sizes map[int]int // by half points
	fonts map[string]int
	all   int
	mono  int // those in fonts whose letters are equally wide
}

func (z *looks) add(segs []segment) {
	if z.sizes == nil {
		z.sizes, z.fonts = map[int]int{}, map[string]int{}
	}
	for _, s := range segs {
		if s.grid != nil {
			continue
		}
		z.sizes[int(math.Round(s.size*2))] += s.chars
		z.fonts[s.font] += s.chars
		z.all += s.chars
		if s.mono {
			z.mono += s.chars
		}
	}
}

// body returns the size most text has.
func (z *looks) body() float64 {
	best, most := 0, 0
	for size, n := range z.sizes {
		if n > most || n == most && size < best {
			best, most = size, n
		}
	}
	return float64(best) / 2
}

// rare says whether little of a document is in a font, and most of it in
// another.
func (z *looks) rare(font string) bool {
	most := 0
	for _, n := range z.fonts {
		most = max(most, n)
	}
	return z.fonts[font]*8 < z.all && most*2 > z.all
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
