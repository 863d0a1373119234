// Package math turns equations of office documents into LaTeX.
//
// In goes a scanner on an element of Office Math (ECMA-376 part 1, §22.1); out
// comes the LaTeX of what it holds, without the dollar signs around it.
// Letters and symbols stay the Unicode characters they are, which every
// renderer of today takes. It does not read MathML, nor check that an equation
// makes sense.
package math

import (
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// Read reads the element whose start tag was just given to its end.
func Read(s *xmlscan.Scanner) (string, error) {
	r := reader{s}
	n, err := r.node()
	return strings.Join(strings.Fields(n.latex), " "), err
}

type reader struct{ s *xmlscan.Scanner }

// node is an element that was read.
type node struct {
	name  string
	latex string
	props map[string]string // values of the property element inside
	kids  []node            // for elements whose parts are told apart by name
}

// part returns the LaTeX of the children of a name, joined.
func (n node) part(name string) string {
	var b strings.Builder
	for _, k := range n.kids {
		if k.name == name {
			b.WriteString(k.latex)
		}
	}
	return b.String()
}

// node reads an element: its children first, then what it is.
func (r reader) node() (node, error) {
	n := node{name: r.s.Name(), props: map[string]string{}}
	var text strings.Builder
	for depth := r.s.Depth() - 1; ; {
		k, err := r.s.Next()
		switch {
		case err != nil:
			return n, err
		case k == xmlscan.EOF:
			return n, xmlscan.ErrTruncated
		case k == xmlscan.End && r.s.Depth() <= depth:
			n.latex = n.write(text.String())
			return n, nil
		case k == xmlscan.Text && n.name == "t":
			text.Write(r.s.Bytes())
		case k != xmlscan.Start:
		case strings.HasSuffix(r.s.Name(), "Pr"):
			if err := r.properties(n.props); err != nil {
				return n, err
			}
		case r.s.Is("del"), r.s.Is("moveFrom"), r.s.Is("delText"):
			if err := r.s.Skip(); err != nil {
				return n, err
			}
		default:
			kid, err := r.node()
			if err != nil {
				return n, err
			}
			n.kids = append(n.kids, kid)
			text.WriteString(kid.latex)
		}
	}
}

func (r reader) properties(into map[string]string) error {
	return r.s.Each(func() error {
		name := r.s.Name()
		v, ok := r.s.Lookup("val")
		if !ok {
			v = "1"
		}
		into[name] = v
		if strings.HasSuffix(name, "Pr") {
			return r.s.Skip()
		}
		return nil
	})
}

// on says whether a property is set.
func (n node) on(name string) bool {
	v := n.props[name]
	return v == "1" || v == "on" || v == "true"
}

// or returns a property's value, or what stands for it if it is not given.
func (n node) or(name, otherwise string) string {
	if v, ok := n.props[name]; ok {
		return v
	}
	return otherwise
}

// write returns the LaTeX of an element, inner being that of its children.
func (n node) write(inner string) string {
	switch n.name {
	case "t":
		return characters(inner)
	case "r":
		return n.run(inner)
	case "f":
		return n.fraction()
	case "sSup":
		return base(n.part("e")) + "^" + braced(n.part("sup"))
	case "sSub":
		return base(n.part("e")) + "_" + braced(n.part("sub"))
	case "sSubSup":
		return base(n.part("e")) + "_" + braced(n.part("sub")) + "^" + braced(n.part("sup"))
	case "sPre":
		return "{}_" + braced(n.part("sub")) + "^" + braced(n.part("sup")) + n.part("e")
	case "rad":
		if deg := strings.TrimSpace(n.part("deg")); deg != "" && !n.on("degHide") {
			return `\sqrt[` + deg + "]" + braced(n.part("e"))
		}
		return `\sqrt` + braced(n.part("e"))
	case "nary":
		return n.nary()
	case "d":
		return n.delimited()
	case "func":
		return n.function()
	case "limLow":
		return limit(n.part("e"), n.part("lim"), "_", `\underset`)
	case "limUpp":
		return limit(n.part("e"), n.part("lim"), "^", `\overset`)
	case "acc":
		return accent(n.or("chr", "\u0302")) + braced(n.part("e"))
	case "bar":
		if n.or("pos", "bot") == "top" {
			return `\overline` + braced(n.part("e"))
		}
		return `\underline` + braced(n.part("e"))
	case "groupChr":
		return n.group()
	case "borderBox":
		return `\boxed` + braced(n.part("e"))
	case "phant":
		if v, ok := n.props["show"]; ok && v != "1" && v != "on" && v != "true" {
			return `\phantom` + braced(n.part("e"))
		}
		return inner
	case "m":
		return n.rows("matrix", "mr")
	case "eqArr":
		return n.rows("aligned", "e")
	case "mr":
		return inner
	}
	return inner
}
