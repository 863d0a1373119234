package math

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// run writes a run: text that is no mathematics is told apart.
func (n node) run(inner string) string {
	if !n.on("nor") || strings.TrimSpace(inner) == "" {
		return inner
	}
	return `\text{` + inner + "}"
}

func (n node) fraction() string {
	num, den := n.part("num"), n.part("den")
	switch n.props["type"] {
	case "lin":
		return base(num) + "/" + base(den)
	case "skw":
		return "{" + num + "}/{" + den + "}"
	case "noBar":
		return `\genfrac{}{}{0pt}{}` + braced(num) + braced(den)
	}
	return `\frac` + braced(num) + braced(den)
}

// operators are the large operators whose commands set limits rightly.
var operators = map[string]string{
	"∑": `\sum`, "∏": `\prod`, "∐": `\coprod`, "∫": `\int`, "∬": `\iint`, "∭": `\iiint`,
	"∮": `\oint`, "∯": `\oiint`, "∰": `\oiiint`, "⋃": `\bigcup`, "⋂": `\bigcap`, "⋁": `\bigvee`,
	"⋀": `\bigwedge`, "⨁": `\bigoplus`, "⨂": `\bigotimes`, "⨀": `\bigodot`, "⨆": `\bigsqcup`, "⨄": `\biguplus`,
}

func (n node) nary() string {
	char := n.or("chr", "∫")
	out := operators[char]
	if out == "" {
		out = `\mathop{` + characters(char) + "}"
	}
	if sub := strings.TrimSpace(n.part("sub")); sub != "" && !n.on("subHide") {
		out += "_" + braced(sub)
	}
	if sup := strings.TrimSpace(n.part("sup")); sup != "" && !n.on("supHide") {
		out += "^" + braced(sup)
	}
	return out + " " + n.part("e")
}

// fences are the delimiters that are written otherwise than they look.
var fences = map[string]string{
	"{": `\{`, "}": `\}`, "⟨": `\langle `, "⟩": `\rangle `, "〈": `\langle `, "〉": `\rangle `, "‖": `\|`,
	"∥": `\|`, "⌈": `\lceil `, "⌉": `\rceil `, "⌊": `\lfloor `, "⌋": `\rfloor `, "": ".",
}

func fence(s string) string {
	if f, ok := fences[s]; ok {
		return f
	}
	return s
}

// delimited writes what stands in parentheses of any kind. They grow with what
// is in them only where that is taller than a line.
func (n node) delimited() string {
	open, shut := n.or("begChr", "("), n.or("endChr", ")")
	var parts []string
	tall := open == "" || shut == ""
	for _, k := range n.kids {
		if k.name == "e" {
			parts = append(parts, k.latex)
			tall = tall || strings.Contains(k.latex, `\`)
		}
	}
	inner := strings.Join(parts, fence(n.or("sepChr", "|")))
	switch {
	case open == "" && shut == "":
		return inner
	case tall:
		return `\left` + fence(open) + inner + `\right` + fence(shut)
	}
	return fence(open) + inner + fence(shut)
}

// named are the functions that LaTeX sets upright by a command.
var named = map[string]bool{
	"sin": true, "cos": true, "tan": true, "cot": true, "sec": true, "csc": true, "arcsin": true, "arccos": true,
	"arctan": true, "sinh": true, "cosh": true, "tanh": true, "coth": true, "log": true, "ln": true, "lg": true,
	"exp": true, "lim": true, "limsup": true, "liminf": true, "max": true, "min": true, "sup": true, "inf": true,
	"det": true, "dim": true, "gcd": true, "ker": true, "arg": true, "deg": true, "hom": true, "Pr": true,
}

func (n node) function() string {
	return strings.TrimSpace(upright(n.part("fName"))) + " " + n.part("e")
}

// upright writes the name of a function, and what hangs on it, as a command.
func upright(name string) string {
	name = strings.TrimSpace(name)
	word := name
	if i := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		word = name[:i]
	}
	switch {
	case named[word]:
		return `\` + name
	case len(word) > 1 && word == name:
		return `\operatorname{` + name + "}"
	}
	return name
}

func limit(e, lim, mark, otherwise string) string {
	if up := upright(e); strings.HasPrefix(up, `\`) && named[strings.TrimPrefix(up, `\`)] {
		return up + mark + braced(lim)
	}
	return otherwise + braced(lim) + braced(e)
}

func accent(char string) string {
	switch char {
	case "\u0300", "`":
		return `\grave`
	case "\u0301", "´":
		return `\acute`
	case "\u0303", "~", "˜":
		return `\widetilde`
	case "\u0304", "\u0305", "¯", "‾":
		return `\overline`
	case "\u0306", "˘":
		return `\breve`
	case "\u0307", "˙":
		return `\dot`
	case "\u0308", "¨":
		return `\ddot`
	case "\u20DB":
		return `\dddot`
	case "\u030A":
		return `\mathring`
	case "\u030C", "ˇ":
		return `\check`
	case "\u20D6":
		return `\overleftarrow`
	case "\u20D7", "→":
		return `\vec`
	case "\u20E1":
		return `\overleftrightarrow`
	}
	return `\hat`
}

func (n node) group() string {
	top := n.or("pos", "bot") == "top"
	switch n.or("chr", "⏟") {
	case "⏞":
		return `\overbrace` + braced(n.part("e"))
	case "⏟":
		return `\underbrace` + braced(n.part("e"))
	}
	if top {
		return `\overset` + braced(characters(n.props["chr"])) + braced(n.part("e"))
	}
	return `\underset` + braced(characters(n.props["chr"])) + braced(n.part("e"))
}

// rows writes a matrix or a stack of equations.
func (n node) rows(environment, row string) string {
	var lines []string
	for _, k := range n.kids {
		if k.name != row {
			continue
		}
		line := k.latex
		if row == "mr" {
			var cells []string
			for _, c := range k.kids {
				if c.name == "e" {
					cells = append(cells, c.latex)
				}
			}
			line = strings.Join(cells, " & ")
		}
		lines = append(lines, line)
	}
	return `\begin{` + environment + "}" + strings.Join(lines, ` \\ `) + `\end{` + environment + "}"
}

func braced(s string) string { return "{" + strings.TrimSpace(s) + "}" }

// base braces what is more than one character, so that an exponent binds to
// the whole of it.
func base(s string) string {
	s = strings.TrimSpace(s)
	if len([]rune(s)) == 1 {
		return s
	}
	return "{" + s + "}"
}

// characters escapes what LaTeX reads as something else. Letters that Unicode
// keeps in italics or bold are the plain ones: LaTeX slants them itself.
func characters(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune(`#$%&_{}`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\\':
			b.WriteString(`\backslash `)
		case r == '~':
			b.WriteString(`\sim `)
		case r == '^':
			b.WriteString(`\hat{}`)
		case r == '\u2061', r == '\u2062', r == '\u2063', r == '\u2064', r == '\u200b': // what is not seen
		case r >= 0x1D400 && r <= 0x1D7FF:
			b.WriteString(norm.NFKC.String(string(r)))
		case r == '\u210E':
			b.WriteByte('h')
		case r == '\u2212':
			b.WriteByte('-')
		case unicode.IsControl(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
