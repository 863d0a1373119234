package text

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// Decode returns data as UTF-8. A byte order mark decides; then whether all of
// it is valid UTF-8; then the NULs that UTF-16 and UTF-32 leave between Latin
// letters; then which legacy set makes the most plausible text of it.
// Windows-1252 reads whatever is left.
func Decode(data []byte) (string, error) {
	if e, skip := mark(data); e != nil {
		return decode(e, data[skip:])
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if utf8.Valid(data) {
		if e := zeros(data); e != nil {
			return decode(e, data)
		}
		return string(data), nil
	}
	if e := zeros(data); e != nil {
		return decode(e, data)
	}
	return decode(legacy(data), data)
}

// DecodeAs is [Decode] for data that names its own character set: the name
// stands where Decode would weigh the legacy sets. A name that is unknown, or
// that the data contradicts, decides nothing.
func DecodeAs(data []byte, label string) (string, error) {
	e, err := htmlindex.Get(label)
	if err != nil {
		return Decode(data)
	}
	switch name, _ := htmlindex.Name(e); {
	case name == "iso-2022-jp" && bytes.IndexByte(data, 0x1b) >= 0: // seven bits a byte: valid UTF-8 by chance
	case utf8.Valid(data), zeros(data) != nil, strings.HasPrefix(name, "utf-16"), name == "replacement", name == "x-user-defined":
		return Decode(data)
	case name == "utf-8":
		if s := string(bytes.ToValidUTF8(data, []byte("\uFFFD"))); mostly(s) {
			return s, nil
		}
		return Decode(data)
	}
	if e, _ := mark(data); e != nil {
		return Decode(data)
	}
	return decode(e, data)
}

// mostly says whether a text has more letters beyond ASCII than broken ones.
func mostly(s string) bool {
	broken, letters := 0, 0
	for _, r := range s {
		switch {
		case r == utf8.RuneError:
			broken++
		case r >= utf8.RuneSelf:
			letters++
		}
	}
	return letters > broken
}

func decode(e encoding.Encoding, data []byte) (string, error) {
	b, err := e.NewDecoder().Bytes(data)
	return string(b), err
}

func utf16(order utf.Endianness) encoding.Encoding { return utf.UTF16(order, utf.IgnoreBOM) }

func mark(data []byte) (encoding.Encoding, int) {
	for _, m := range []struct {
		mark string
		e    encoding.Encoding
	}{
		{"\xFF\xFE\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
		{"\x00\x00\xFE\xFF", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
		{"\xFF\xFE", utf16(utf.LittleEndian)},
		{"\xFE\xFF", utf16(utf.BigEndian)},
	} {
		if bytes.HasPrefix(data, []byte(m.mark)) {
			return m.e, len(m.mark)
		}
	}
	return nil, 0
}

// zeros tells UTF-16 and UTF-32 without a mark by where the NULs are.
func zeros(data []byte) encoding.Encoding {
	if len(data) < 4 || bytes.IndexByte(data, 0) < 0 {
		return nil
	}
	var at [4]int
	for i, c := range data {
		if c == 0 {
			at[i%4]++
		}
	}
	n := len(data) / 4
	full := func(i int) bool { return at[i]*10 >= n*9 }
	switch {
	case full(1) && full(2) && full(3):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case full(0) && full(1) && full(2):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	}
	even, odd := at[0]+at[2], at[1]+at[3]
	switch {
	case odd*5 > n && even*10 < odd:
		return utf16(utf.LittleEndian)
	case even*5 > n && odd*10 < even:
		return utf16(utf.BigEndian)
	}
	return nil
}

// candidate is a legacy set with the letters beyond ASCII that its languages
// use most; a set of more than one byte a letter needs none.
type candidate struct {
	e       encoding.Encoding
	letters string
	multi   bool
	kana    bool // its language is Japanese: other East Asian sets have kana, but not their texts
}

func candidates() []candidate {
	const (
		western  = "éèàçêëîïôûùâöäüßñáíóúãõåæøÉÈÀÇÊÄÖÜÑÁÓÅÆØ"
		central  = "ąćęłńóśźżáčďéěíňřšťúůýžöüőűôäľĺŕășțşţâîđĄĆĘŁŃÓŚŹŻÁČĎÉĚÍŇŘŠŤÚŮÝŽÖÜ"
		cyrillic = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґ"
	)
	return []candidate{
		{japanese.ShiftJIS, "", true, true},
		{japanese.EUCJP, "", true, true},
		{simplifiedchinese.GB18030, "", true, false},
		{traditionalchinese.Big5, "", true, false},
		{korean.EUCKR, "", true, false},
		{charmap.Windows1252, western, false, false},
		{charmap.Windows1250, central, false, false},
		{charmap.ISO8859_2, central, false, false},
		{charmap.Windows1251, cyrillic, false, false},
		{charmap.KOI8R, cyrillic, false, false},
		{charmap.ISO8859_5, cyrillic, false, false},
		{charmap.CodePage866, cyrillic, false, false},
		{charmap.Windows1253, "αεοιτνσηρπκλυςμωάέίόύήώγδθχφβξζψ", false, false},
		{charmap.Windows1254, "ğışİçöüâîĞŞÇÖÜ", false, false},
		{charmap.Windows1255, "יולהתמארשבכדנעחפםקזגצטןסךףץ", false, false},
		{charmap.Windows1256, "اليمونرتبةعدسفهكقحجأشصطخىإذئءغضزثظؤآ", false, false},
		{charmap.Windows1257, "āčēģīķļņšūžąęėįųĀČĒŠŪŽ", false, false},
	}
}

// sample is how much of a long text the choice of a legacy set weighs; whether
// a set can decode the text at all is always asked of the whole.
const sample = 256 << 10

func legacy(data []byte) encoding.Encoding {
	var best encoding.Encoding = charmap.Windows1252
	most := -1e9
	for _, c := range candidates() {
		s, err := decode(c.e, data)
		if err != nil || bytes.ContainsRune([]byte(s), utf8.RuneError) {
			continue
		}
		if score := plausible(s, c); score > most {
			best, most = c.e, score
		}
	}
	return best
}

// plausible scores a decoding a letter beyond ASCII: frequent letters among
// letters of their script are good, symbols inside words and mixed scripts bad.
func plausible(s string, c candidate) float64 {
	frequent := map[rune]float64{} // from 1.8 for the most frequent down to 0.8
	for i, r := range []rune(c.letters) {
		frequent[r] = 1.8 - float64(i)/float64(utf8.RuneCountInString(c.letters))
	}
	score, n := 0.0, 0
	prev := ' '
	for i, r := range s {
		if i > sample {
			break
		}
		next := ' '
		if w := utf8.RuneLen(r); i+w < len(s) {
			next, _ = utf8.DecodeRuneInString(s[i+w:])
		}
		if r >= utf8.RuneSelf {
			n++
			if c.multi {
				score += 2 * wideScore(r, prev, next, c.kana)
				n++ // two bytes
			} else {
				score += narrowScore(r, prev, next, frequent)
			}
		}
		prev = r
	}
	return score / float64(max(n, 1))
}

// syllables are the most frequent of Korean; one text in two of a wrong guess
// has hardly any of them.
const syllables = "이다는에의가을를은로하고지한사기리도인대어자나시해서정아보일그주게라전스만들있수과것부장상구면원제여비공세성위조중경유국동학생소오연니요무신우관계방문용선분적실발내었했안모때명년월말받으와까거물개체음된"

func wideScore(r, prev, next rune, kana bool) float64 {
	asciiLetter := func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }
	switch {
	case unicode.In(r, unicode.Hiragana, unicode.Katakana) && !kana:
		return -1
	case unicode.In(r, unicode.Hiragana):
		return 2
	case r >= 0xFF61 && r <= 0xFF9F: // half-width kana: one byte, and what a wrong guess makes
		return -0.5
	case unicode.In(r, unicode.Katakana), r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFF60:
		return 1.5
	case unicode.In(r, unicode.Hangul):
		if strings.ContainsRune(syllables, r) && !asciiLetter(prev) {
			return 1.8
		}
		return 0.3
	case unicode.In(r, unicode.Han):
		if asciiLetter(prev) || asciiLetter(next) {
			return -1
		}
		return 0.5 + common(r)
	case unicode.IsLetter(r):
		return -1
	}
	return 0
}

// common is 1 for the characters that the first level of both GB 2312 and
// Big5 holds: those that texts are made of.
func common(r rune) float64 {
	if b, err := simplifiedchinese.GBK.NewEncoder().Bytes([]byte(string(r))); err == nil && len(b) == 2 && b[0] >= 0xB0 && b[0] <= 0xD7 && b[1] >= 0xA1 {
		return 0.7
	}
	if b, err := traditionalchinese.Big5.NewEncoder().Bytes([]byte(string(r))); err == nil && len(b) == 2 && b[0] >= 0xA4 && b[0] <= 0xC6 {
		return 0.6
	}
	return 0
}

func narrowScore(r, prev, next rune, frequent map[rune]float64) float64 {
	letter := unicode.IsLetter
	switch {
	case letter(r):
		score := 0.2
		if f := frequent[r]; f > 0 {
			score = f
		} else if f := frequent[unicode.ToLower(r)]; f > 0 {
			score = f * 0.7
		}
		if unicode.IsUpper(r) && unicode.IsLower(prev) {
			score -= 2
		}
		for _, side := range []rune{prev, next} {
			if letter(side) && latin(side) != latin(r) {
				score -= 1
			}
		}
		return score
	case unicode.IsControl(r):
		return -3
	case letter(prev) && letter(next) && r != '’':
		return -1.5
	case r == '’' || r == '“' || r == '”' || r == '–' || r == '—' || r == '€' || r == '…' || r == '\u00a0' || r == '«' || r == '»' || r == '°' || r == '§':
		return 0.6
	case letter(prev) || letter(next):
		return -0.5
	}
	return 0
}

func latin(r rune) bool { return unicode.In(r, unicode.Latin) }
