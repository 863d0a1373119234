package office

import (
	"strconv"
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/numeral"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

func itoa(n int) string { return strconv.Itoa(n) }

// style is a paragraph or character style, with what it inherits resolved.
type style struct {
	based   string
	heading int // level, 0 for body text
	code    bool
	num     string // list, "" for none
	level   int
	set     block.Style // looks it turns on
	off     block.Style // looks it turns off
}

func (d *docx) readStyles(part string) error {
	d.styles = map[string]style{}
	var id string
	var st style
	keep := func() {
		if id != "" {
			d.styles[id] = st
		}
	}
	err := d.pkg.Scan(part, func(s *xmlscan.Scanner) error {
		switch s.Name() {
		case "style":
			keep()
			id, st = s.Attr("styleId"), style{}
		case "name":
			st.named(strings.ToLower(s.Attr("val")))
		case "basedOn":
			st.based = s.Attr("val")
		case "outlineLvl":
			if n, err := strconv.Atoi(s.Attr("val")); err == nil && n >= 0 && n < 9 && st.heading == 0 {
				st.heading = n + 1
			}
		case "numId":
			st.num = s.Attr("val")
		case "ilvl":
			st.level = max(st.level, level(s.Attr("val")))
		default:
			look(s, &st.set, &st.off)
		}
		return nil
	})
	keep()
	for id := range d.styles {
		d.styles[id] = d.inherit(id, 0)
	}
	return err
}

func (st *style) named(name string) {
	switch {
	case name == "title":
		st.heading = 1
	case strings.HasPrefix(name, "heading "):
		if n, err := strconv.Atoi(name[8:]); err == nil && n >= 1 && n <= 9 {
			st.heading = n
		}
	case strings.HasPrefix(name, "list "):
		// "List Bullet 2" is the second level, though its list has but one.
		if n := int(name[len(name)-1] - '0'); n >= 2 && n <= 9 {
			st.level = n - 1
		}
	case name == "macro text", strings.Contains(name, "source code"), name == "verbatim":
		st.code = true
	}
}

// inherit resolves a style through those it is based on.
func (d *docx) inherit(id string, depth int) style {
	st := d.styles[id]
	if st.based == "" || st.based == id || depth > 20 {
		return st
	}
	base := d.inherit(st.based, depth+1)
	if st.heading == 0 {
		st.heading = base.heading
	}
	if st.num == "" {
		st.num, st.level = base.num, max(st.level, base.level)
	}
	st.code = st.code || base.code
	st.set |= base.set &^ st.off
	st.based = ""
	return st
}

// look reads a run property that changes how text looks.
func look(s *xmlscan.Scanner, set, off *block.Style) {
	var l block.Style
	switch s.Name() {
	case "b":
		l = block.Bold
	case "i":
		l = block.Italic
	case "strike", "dstrike":
		l = block.Strike
	case "vertAlign":
		switch s.Attr("val") {
		case "superscript":
			*set |= block.Superscript
		case "subscript":
			*set |= block.Subscript
		}
		return
	default:
		return
	}
	if on(s) {
		*set, *off = *set|l, *off&^l
	} else {
		*set, *off = *set&^l, *off|l
	}
}

func level(s string) int {
	n, _ := strconv.Atoi(s)
	return min(max(n, 0), 8)
}

// numbering is the lists of a document.
type numbering struct {
	abstracts map[string]*[9]listLevel
	lists     map[string]list
}

type list struct {
	abstract string
	starts   map[int]int // levels that this list begins anew
}

type listLevel struct {
	format string // decimal, bullet, lowerLetter…
	text   string // "%1." and the like
	start  int
}

func (d *docx) readNumbering(part string) error {
	d.numbers = numbering{map[string]*[9]listLevel{}, map[string]list{}}
	var abstract *[9]listLevel
	var num string
	at := 0
	styled := map[string]string{} // abstract lists that are a style's, by name
	linked := map[string]string{}
	id := ""
	err := d.pkg.Scan(part, func(s *xmlscan.Scanner) error {
		switch s.Name() {
		case "abstractNum":
			abstract, num, id = new([9]listLevel), "", s.Attr("abstractNumId")
			d.numbers.abstracts[id] = abstract
		case "styleLink":
			styled[s.Attr("val")] = id
		case "numStyleLink":
			linked[id] = s.Attr("val")
		case "num":
			num, abstract = s.Attr("numId"), nil
			d.numbers.lists[num] = list{starts: map[int]int{}}
		case "abstractNumId":
			l := d.numbers.lists[num]
			l.abstract = s.Attr("val")
			d.numbers.lists[num] = l
		case "lvl", "lvlOverride":
			at = level(s.Attr("ilvl"))
		case "startOverride":
			if l, ok := d.numbers.lists[num]; ok {
				l.starts[at], _ = strconv.Atoi(s.Attr("val"))
			}
		case "start":
			if abstract != nil {
				abstract[at].start, _ = strconv.Atoi(s.Attr("val"))
			}
		case "numFmt":
			if abstract != nil {
				abstract[at].format = s.Attr("val")
			}
		case "lvlText":
			if abstract != nil {
				abstract[at].text = s.Attr("val")
			}
		}
		return nil
	})
	for id, name := range linked {
		if a := d.numbers.abstracts[styled[name]]; a != nil {
			d.numbers.abstracts[id] = a
		}
	}
	return err
}

// count moves a list on by one entry and returns how the entry is marked: by
// a bullet (ordered false, label ""), a number, or a label.
func (d *docx) count(num string, lvl int) (ordered bool, number int, label string) {
	l, ok := d.numbers.lists[num]
	a := d.numbers.abstracts[l.abstract]
	if !ok || a == nil {
		return false, 0, ""
	}
	c := d.counters[l.abstract]
	if c == nil {
		c = new([9]int)
		for i := range c {
			c[i] = a[i].start - 1
		}
		d.counters[l.abstract] = c
	}
	if start, ok := l.starts[lvl]; ok && !d.started[num+"/"+itoa(lvl)] {
		d.started[num+"/"+itoa(lvl)] = true
		c[lvl] = start - 1
	}
	c[lvl]++
	for i := lvl + 1; i < len(c); i++ {
		c[i] = a[i].start - 1
	}
	switch f := a[lvl]; {
	case f.format == "bullet" || f.format == "none" || f.text == "":
		return false, 0, ""
	case (f.format == "decimal" || f.format == "") && (f.text == "%"+itoa(lvl+1)+"." || f.text == "%"+itoa(lvl+1)+")"):
		return true, c[lvl], ""
	default:
		return false, 0, fillLabel(f.text, a, c)
	}
}

// fillLabel fills in the numbers of a label like "%1.%2".
func fillLabel(text string, a *[9]listLevel, c *[9]int) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+1 < len(text) && text[i+1] >= '1' && text[i+1] <= '9' {
			at := int(text[i+1] - '1')
			b.WriteString(spell(max(c[at], a[at].start, 0), a[at].format))
			i++
			continue
		}
		b.WriteByte(text[i])
	}
	return trimmed(b.String())
}

// spell writes a number in a list's way of counting.
func spell(n int, format string) string {
	switch format {
	case "lowerLetter":
		return strings.ToLower(numeral.Letters(n))
	case "upperLetter":
		return numeral.Letters(n)
	case "lowerRoman":
		return strings.ToLower(numeral.Roman(n))
	case "upperRoman":
		return numeral.Roman(n)
	case "decimalZero":
		if n > 0 && n < 10 {
			return "0" + itoa(n)
		}
	}
	return itoa(n)
}
