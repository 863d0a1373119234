package math_test

import (
	"strings"
	"testing"

	"github.com/holodeck-run/holodeck/parse/internal/math"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// r is a run of mathematics.
func r(s string) string { return "<m:r><m:t>" + s + "</m:t></m:r>" }

// el is an element with children.
func el(name string, inner ...string) string {
	return "<m:" + name + ">" + strings.Join(inner, "") + "</m:" + name + ">"
}

func val(name, v string) string { return `<m:` + name + ` m:val="` + v + `"/>` }

func TestEquationsAreLaTeX(t *testing.T) {
	t.Parallel()
	e := func(s string) string { return el("e", r(s)) }
	for _, c := range []struct{ name, in, want string }{
		{"a fraction", el("f", el("num", r("a+b")), el("den", r("2"))), `\frac{a+b}{2}`},
		{"a fraction on one line", el("f", el("fPr", val("type", "lin")), el("num", r("a")), el("den", r("bc"))), `a/{bc}`},
		{"a binomial", el("d", el("e", el("f", el("fPr", val("type", "noBar")), el("num", r("n")), el("den", r("k"))))), `\left(\genfrac{}{}{0pt}{}{n}{k}\right)`},
		{"an exponent of a word binds to the whole", el("sSup", e("ab"), el("sup", r("2"))), `{ab}^{2}`},
		{"an index and an exponent", el("sSubSup", e("x"), el("sub", r("i")), el("sup", r("2"))), `x_{i}^{2}`},
		{"marks before", el("sPre", el("sub", r("6")), el("sup", r("14")), e("C")), `{}_{6}^{14}C`},
		{"a square root", el("rad", el("radPr", val("degHide", "1")), el("deg"), e("x")), `\sqrt{x}`},
		{"a cube root", el("rad", el("deg", r("3")), e("x")), `\sqrt[3]{x}`},
		{"a sum with limits", el("nary", el("naryPr", val("chr", "∑")), el("sub", r("i=1")), el("sup", r("n")), e("i")), `\sum_{i=1}^{n} i`},
		{"an integral is the usual operator", el("nary", el("sub"), el("sup"), e("f")), `\int f`},
		{"braces are escaped", el("d", el("dPr", val("begChr", "{"), val("endChr", "}")), e("x")), `\{x\}`},
		{"cases have one brace", el("d", el("dPr", val("begChr", "{"), val("endChr", "")), el("e", el("eqArr", e("a"), e("b")))), `\left\{\begin{aligned}a \\ b\end{aligned}\right.`},
		{"parts in parentheses", el("d", el("dPr", val("sepChr", ",")), e("a"), e("b")), `(a,b)`},
		{"a named function", el("func", el("fName", r("sin")), e("x")), `\sin x`},
		{"a function of ours", el("func", el("fName", r("rank")), e("A")), `\operatorname{rank} A`},
		{"a limit", el("func", el("fName", el("limLow", e("lim"), el("lim", r("n→∞")))), e("x")), `\lim_{n→∞} x`},
		{"a vector", el("acc", el("accPr", val("chr", "\u20D7")), e("v")), `\vec{v}`},
		{"a mean", el("bar", el("barPr", val("pos", "top")), e("x")), `\overline{x}`},
		{"a brace below", el("groupChr", e("x")), `\underbrace{x}`},
		{"a matrix", el("m", el("mr", e("1"), e("0")), el("mr", e("0"), e("1"))), `\begin{matrix}1 & 0 \\ 0 & 1\end{matrix}`},
		{"words", `<m:r><m:rPr><m:nor/></m:rPr><m:t>if </m:t></m:r>` + r("x"), `\text{if }x`},
		{"what LaTeX obeys is escaped", r("5% &amp; a_b"), `5\% \& a\_b`},
		{"letters in italics are letters", r("𝑥+𝐀+ℎ"), `x+A+h`},
		{"deletions are out", `<w:del>` + r("y") + `</w:del>` + r("x"), `x`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := xmlscan.New(strings.NewReader("<m:oMath>" + c.in + "</m:oMath>"))
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
			got, err := math.Read(s)
			if err != nil || got != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
}
