package pdf

import (
	"cmp"
	"math"
	"slices"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
)

// Bounds on the drawing that is looked at: a map or plot is no table.
const (
	maxObjects  = 6000
	maxSegments = 4000
	maxRules    = 3000
)

// slack is how far lines that meet on paper may miss each other.
const slack = 3.0

// rule is a level or upright line: at is where it runs, from and to its ends.
type rule struct{ at, from, to float64 }

// rules are the lines drawn on a page, turned as its text is.
type rules struct{ level, upright []rule }

// rules collects the lines that a page draws, be they strokes, thin boxes or
// the edges of frames.
func (d *document) rules(page requests.Page, degrees int) rules {
	var z rules
	n, err := d.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil || degrees%90 != 0 {
		return z
	}
	for i := range min(n.Count, maxObjects) {
		obj, err := d.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			continue
		}
		kind, err := d.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: obj.PageObject})
		if err != nil || kind.Type != enums.FPDF_PAGEOBJ_PATH {
			continue
		}
		d.path(obj.PageObject, degrees, &z)
		if len(z.level)+len(z.upright) > maxRules {
			return rules{}
		}
	}
	z.level, z.upright = joined(z.level), joined(z.upright)
	return z
}

// path adds the lines of one path object.
func (d *document) path(obj references.FPDF_PAGEOBJECT, degrees int, z *rules) {
	b, err := d.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: obj})
	if err != nil {
		return
	}
	count, err := d.FPDFPath_CountSegments(&requests.FPDFPath_CountSegments{PageObject: obj})
	if err != nil || count.Count > maxSegments {
		return
	}
	thin := min(b.Right-b.Left, b.Top-b.Bottom) <= slack
	if thin || count.Count <= 5 {
		z.box(responses.CharPosition{Left: float64(b.Left), Right: float64(b.Right), Top: float64(b.Top), Bottom: float64(b.Bottom)}, degrees)
		return
	}
	m, err := d.FPDFPageObj_GetMatrix(&requests.FPDFPageObj_GetMatrix{PageObject: obj})
	if err != nil {
		return
	}
	var x, y float64
	for i := range count.Count {
		seg, err := d.FPDFPath_GetPathSegment(&requests.FPDFPath_GetPathSegment{PageObject: obj, Index: i})
		if err != nil {
			return
		}
		point, err := d.FPDFPathSegment_GetPoint(&requests.FPDFPathSegment_GetPoint{PathSegment: seg.PathSegment})
		kind, err2 := d.FPDFPathSegment_GetType(&requests.FPDFPathSegment_GetType{PathSegment: seg.PathSegment})
		if err != nil || err2 != nil {
			return
		}
		px, py := float64(point.X), float64(point.Y)
		nx := float64(m.Matrix.A)*px + float64(m.Matrix.C)*py + float64(m.Matrix.E)
		ny := float64(m.Matrix.B)*px + float64(m.Matrix.D)*py + float64(m.Matrix.F)
		if kind.Type == enums.FPDF_SEGMENT_LINETO && min(math.Abs(nx-x), math.Abs(ny-y)) < 0.5 {
			z.box(responses.CharPosition{Left: min(x, nx), Right: max(x, nx), Bottom: min(y, ny), Top: max(y, ny)}, degrees)
		}
		x, y = nx, ny
	}
}

// box adds a thin box as a line, another one as its four edges.
func (z *rules) box(p responses.CharPosition, degrees int) {
	c := turned(p, degrees, 0, 0)
	w, h := c.right-c.left, c.bottom-c.top
	switch {
	case w <= slack && h <= slack:
	case h <= slack:
		z.level = append(z.level, rule{(c.top + c.bottom) / 2, c.left, c.right})
	case w <= slack:
		z.upright = append(z.upright, rule{(c.left + c.right) / 2, c.top, c.bottom})
	default:
		z.level = append(z.level, rule{c.top, c.left, c.right}, rule{c.bottom, c.left, c.right})
		z.upright = append(z.upright, rule{c.left, c.top, c.bottom}, rule{c.right, c.top, c.bottom})
	}
}

// joined makes one of lines that continue each other.
func joined(in []rule) []rule {
	slices.SortFunc(in, func(a, b rule) int {
		return cmp.Or(cmp.Compare(math.Round(a.at), math.Round(b.at)), cmp.Compare(a.from, b.from))
	})
	out := in[:0]
	for _, r := range in {
		if n := len(out) - 1; n >= 0 && math.Abs(out[n].at-r.at) <= 1 && r.from <= out[n].to+slack {
			out[n].to = max(out[n].to, r.to)
			continue
		}
		out = append(out, r)
	}
	return out
}

// between says whether an upright line runs between two characters of a line.
func (z rules) between(a, b *char) bool {
	if len(z.upright) == 0 {
		return false
	}
	left, right, y := a.right, b.left, (b.top+b.bottom)/2
	if right < left {
		left, right = b.right, a.left
	}
	for _, v := range z.upright {
		if v.at >= left-0.5 && v.at <= right+0.5 && v.from <= y && v.to >= y {
			return true
		}
	}
	return false
}
