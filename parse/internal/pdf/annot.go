package pdf

import (
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
)

// maxAnnotations bounds those of a page that are looked at.
const maxAnnotations = 5_000

// link is an area of a page, in its own coordinates, that leads elsewhere.
type link struct {
	left, right, low, high float64
	target                 string
}

// links returns the areas of a page that lead to an address; those that lead
// to another page do not count, for markdown has no name for it.
func (d *document) links(page requests.Page) []link {
	var out []link
	for at := 0; len(out) < maxAnnotations; {
		next, err := d.FPDFLink_Enumerate(&requests.FPDFLink_Enumerate{Page: page, StartPos: at})
		if err != nil || next.Link == nil || next.NextStartPos == nil || *next.NextStartPos <= at {
			return out
		}
		at = *next.NextStartPos
		action, err := d.FPDFLink_GetAction(&requests.FPDFLink_GetAction{Link: *next.Link})
		if err != nil || action.Action == nil {
			continue
		}
		uri, err := d.FPDFAction_GetURIPath(&requests.FPDFAction_GetURIPath{Document: d.ref, Action: *action.Action})
		if err != nil || uri.URIPath == nil || *uri.URIPath == "" {
			continue
		}
		area, err := d.FPDFLink_GetAnnotRect(&requests.FPDFLink_GetAnnotRect{Link: *next.Link})
		if err != nil || area.Rect == nil {
			continue
		}
		r := area.Rect
		out = append(out, link{
			float64(min(r.Left, r.Right)), float64(max(r.Left, r.Right)),
			float64(min(r.Top, r.Bottom)), float64(max(r.Top, r.Bottom)), *uri.URIPath,
		})
	}
	return out
}

// linkAt returns where the text at a place of the page leads.
func linkAt(links []link, p responses.CharPosition) string {
	x, y := (p.Left+p.Right)/2, (p.Top+p.Bottom)/2
	for _, l := range links {
		if x >= l.left && x <= l.right && y >= l.low && y <= l.high {
			return l.target
		}
	}
	return ""
}

// filled says whether a page has fields of a form, or notes typed on it, whose
// text is not part of the page's own content.
func (d *document) filled(page requests.Page) bool {
	n, err := d.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil {
		return false
	}
	for i := range min(n.Count, maxAnnotations) {
		a, err := d.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: page, Index: i})
		if err != nil {
			continue
		}
		kind, err := d.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: a.Annotation})
		_, _ = d.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: a.Annotation})
		if err == nil && (kind.Subtype == enums.FPDF_ANNOT_SUBTYPE_WIDGET || kind.Subtype == enums.FPDF_ANNOT_SUBTYPE_FREETEXT) {
			return true
		}
	}
	return false
}

// open loads a page. What a form's fields show becomes part of its content.
func (d *document) open(index int) (references.FPDF_PAGE, error) {
	loaded, err := d.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: d.ref, Index: index})
	if err != nil {
		return "", err
	}
	page := requests.Page{ByReference: &loaded.Page}
	if !d.filled(page) {
		return loaded.Page, nil
	}
	_, err = d.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: page, Usage: requests.FPDFPage_FlattenUsageNormalDisplay})
	if err != nil {
		return loaded.Page, nil // the page is read without its fields
	}
	again, err := d.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: d.ref, Index: index})
	if err != nil {
		return loaded.Page, nil
	}
	_, _ = d.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page})
	return again.Page, nil
}
