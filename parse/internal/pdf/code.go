package pdf

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/holodeck-run/holodeck/parse/internal/block"
)

// code returns the line behind the last of a listing that begins at line i: at
// least two lines in a font whose letters are equally wide. It returns i if
// there is none, or if the document is written in such a font throughout.
func (d *document) code(r region, i int) int {
	end := i
	for end < len(r.lines) && r.lines[end].mono && r.lines[end].grid() == nil && r.lines[end].tag.role == plain {
		if end > i && r.lines[end].base-r.lines[end-1].base > 3*r.lines[end].size {
			break
		}
		end++
	}
	if end-i < 2 || d.looks.mono*2 > d.looks.all {
		return i
	}
	return end
}

// listing sets lines of code as they stand, each character a cell.
func listing(lines []line) block.Block {
	left, pitch := math.Inf(1), pitch(lines)
	for _, l := range lines {
		left = min(left, l.left)
	}
	leading := typicalLeading(lines)
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
			if l.base-lines[i-1].base > 1.6*leading*l.size {
				b.WriteByte('\n')
			}
		}
		at := 0
		for j, s := range l.segs {
			want := min(int((s.left-left)/pitch+0.4), 200)
			if j > 0 && (want <= at || s.left-l.segs[j-1].right < 1.7*pitch) {
				want = at + 1
			}
			b.WriteString(strings.Repeat(" ", max(want-at, 0)))
			b.WriteString(s.text)
			if s.hyphen {
				b.WriteByte('-')
			}
			at = max(want, at) + utf8.RuneCountInString(s.text)
		}
	}
	return block.Code{Text: b.String()}
}

// pitch returns the width of a letter and the space to the next, from the
// longest text.
func pitch(lines []line) float64 {
	best, most := 6.0, 1
	for _, l := range lines {
		for _, s := range l.segs {
			if n := utf8.RuneCountInString(s.text); n > most {
				best, most = (s.right-s.left)/(float64(n)-0.2), n
			}
		}
	}
	return max(best, 1)
}
