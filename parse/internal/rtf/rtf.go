// Package rtf takes the text out of rich text.
//
// In go the bytes of a document in the Rich Text Format 1.9.1; out comes its
// text, or the HTML that was wrapped into it on its way through a mail program
// ([MS-OXRTFEX]). Fonts, colours, pictures and layout are left behind.
package rtf

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// maxDepth bounds how deep groups are followed.
const maxDepth = 1000

// Is says whether data begins as rich text does.
func Is(data []byte) bool { return bytes.HasPrefix(data, []byte(`{\rtf`)) }

// Text returns the text of a document, and whether that text is HTML.
func Text(data []byte) (text string, html bool) {
	p := parser{data: data, page: charmap.Windows1252}
	p.now.unicodeSkip = 1
	p.run()
	p.flush()
	return p.out.String(), p.html
}

// state is what a group inherits and its end undoes.
type state struct {
	dropped     bool // a destination that is not text
	shadow      bool // what stands for HTML that is given itself
	unicodeSkip int  // characters to drop after one given by number
}

type parser struct {
	data []byte
	at   int
	out  strings.Builder
	page encoding.Encoding
	now  state
	open []state
	html bool

	first   bool   // the next control word says what the group is
	starred bool   // the group may be ignored if it is not known
	skip    int    // characters to drop
	bytes   []byte // of the code page, not decoded yet
	units   []uint16
}

func (p *parser) run() {
	for p.at < len(p.data) {
		c := p.data[p.at]
		p.at++
		switch c {
		case '{':
			p.flush()
			if len(p.open) >= maxDepth {
				return
			}
			p.open = append(p.open, p.now)
			p.first, p.starred = true, false
		case '}':
			p.flush()
			if n := len(p.open); n > 0 {
				p.now, p.open = p.open[n-1], p.open[:n-1]
			}
			p.first = false
		case '\\':
			p.control()
		case '\r', '\n':
		default:
			p.first = false
			p.byte(c)
		}
	}
}

// control reads what follows a backslash.
func (p *parser) control() {
	if p.at >= len(p.data) {
		return
	}
	c := p.data[p.at]
	if !letter(c) {
		p.at++
		p.symbol(c)
		return
	}
	from := p.at
	for p.at < len(p.data) && letter(p.data[p.at]) && p.at-from < 32 {
		p.at++
	}
	word := string(p.data[from:p.at])
	from = p.at
	if p.at < len(p.data) && p.data[p.at] == '-' {
		p.at++
	}
	for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' && p.at-from < 11 {
		p.at++
	}
	n, err := strconv.Atoi(string(p.data[from:p.at]))
	if err != nil {
		n = 1
	}
	if p.at < len(p.data) && p.data[p.at] == ' ' {
		p.at++
	}
	p.word(word, n, err == nil)
}

func (p *parser) symbol(c byte) {
	switch c {
	case '*':
		p.starred = true
		return
	case '\'':
		if p.at+2 <= len(p.data) {
			if n, err := strconv.ParseUint(string(p.data[p.at:p.at+2]), 16, 8); err == nil {
				p.at += 2
				p.byte(byte(n))
			}
		}
	case '~':
		p.text("\u00a0")
	case '_':
		p.text("-")
	case '\\', '{', '}':
		p.byte(c)
	case '\r', '\n':
		p.text("\n")
	}
	p.first = false
}

// dropped are destinations that hold no text of the document.
var dropped = map[string]bool{
	"fonttbl": true, "colortbl": true, "stylesheet": true, "info": true, "pict": true, "object": true, "header": true,
	"footer": true, "headerl": true, "headerr": true, "headerf": true, "footerl": true, "footerr": true, "footerf": true,
	"listtable": true, "listoverridetable": true, "revtbl": true, "generator": true, "xmlnstbl": true, "themedata": true,
	"datastore": true, "latentstyles": true, "filetbl": true, "rsidtbl": true, "nonshppict": true, "bkmkstart": true, "bkmkend": true,
}

func (p *parser) word(word string, n int, given bool) {
	first, starred := p.first, p.starred
	p.first, p.starred = false, false
	switch word {
	case "par", "line", "row", "sect", "page":
		p.text("\n")
	case "tab", "cell":
		p.text("\t")
	case "emdash":
		p.text("—")
	case "endash":
		p.text("–")
	case "lquote":
		p.text("‘")
	case "rquote":
		p.text("’")
	case "ldblquote":
		p.text("“")
	case "rdblquote":
		p.text("”")
	case "bullet":
		p.text("•")
	case "u":
		if given {
			p.unicode(n)
		}
	case "uc":
		p.now.unicodeSkip = min(max(n, 0), 16)
	case "ansicpg":
		if e, err := htmlindex.Get("windows-" + strconv.Itoa(n)); err == nil {
			p.flush()
			p.page = e
		} else if n == 932 || n == 936 || n == 949 || n == 950 {
			p.page, _ = htmlindex.Get(map[int]string{932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5"}[n])
		}
	case "fromhtml":
		p.html = true
	case "htmltag":
		if p.html && starred {
			p.now.dropped, p.now.shadow = false, false
		}
	case "htmlrtf":
		p.flush()
		p.now.shadow = p.html && (!given || n != 0)
	case "bin":
		p.at = min(p.at+max(n, 0), len(p.data))
	default:
		if dropped[word] || starred && first {
			p.flush()
			p.now.dropped = true
		}
	}
}

// byte takes a character of the code page.
func (p *parser) byte(c byte) {
	if p.skip > 0 {
		p.skip--
		return
	}
	if len(p.units) > 0 {
		p.flush()
	}
	p.bytes = append(p.bytes, c)
}

// unicode takes a character given by number; what follows repeats it for
// programs that know none.
func (p *parser) unicode(n int) {
	if len(p.bytes) > 0 {
		p.flush()
	}
	p.units = append(p.units, uint16(n))
	p.skip = p.now.unicodeSkip
}

func (p *parser) text(s string) {
	p.flush()
	p.skip = 0
	if !p.now.dropped && !p.now.shadow {
		p.out.WriteString(s)
	}
}

// flush writes the characters that were gathered.
func (p *parser) flush() {
	if len(p.bytes) == 0 && len(p.units) == 0 {
		return
	}
	if !p.now.dropped && !p.now.shadow {
		p.out.WriteString(string(utf16.Decode(p.units)))
		if s, err := p.page.NewDecoder().Bytes(p.bytes); err == nil {
			p.out.Write(s)
		}
	}
	p.bytes, p.units, p.skip = p.bytes[:0], p.units[:0], 0
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
