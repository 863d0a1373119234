package text_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/holodeck-run/holodeck/parse/internal/text"
)

func TestTheCharacterSetIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		e    encoding.Encoding
		text string
	}{
		{"utf-8 whose only letter beyond ascii comes late", encoding.Nop, strings.Repeat("plain ", 2000) + "é"},
		{"utf-16 little endian without a mark", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "Name,Größe\n"},
		{"utf-16 big endian with a mark", unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "Name,Größe\n"},
		{"utf-32 without a mark", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "Name,Größe\n"},
		{"western", charmap.Windows1252, "Die Größe der Straße – “naïve café” für 5 €"},
		{"western, one word", charmap.Windows1252, "résumé"},
		{"polish, latin 2", charmap.ISO8859_2, "zażółć gęślą jaźń"},
		{"polish, windows", charmap.Windows1250, "Pchnąć w tę łódź jeża lub ośm skrzyń fig"},
		{"czech", charmap.Windows1250, "Příliš žluťoučký kůň úpěl ďábelské ódy"},
		{"russian, windows", charmap.Windows1251, "Съешь же ещё этих мягких французских булок"},
		{"russian, koi8", charmap.KOI8R, "Съешь же ещё этих мягких французских булок"},
		{"greek", charmap.Windows1253, "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία"},
		{"hebrew", charmap.Windows1255, "שלום לכולם, זה משפט פשוט בעברית שנכתב היום"},
		{"japanese with kana", japanese.ShiftJIS, "これは日本語の文章です。"},
		{"japanese names alone", japanese.ShiftJIS, "名前,年齢,住所\n佐藤太郎,30,東京"},
		{"japanese, euc", japanese.EUCJP, "これは日本語の文章です。"},
		{"simplified chinese", simplifiedchinese.GB18030, "这是一个简单的中文句子，用来测试编码。"},
		{"traditional chinese", traditionalchinese.Big5, "這是一個簡單的中文句子，用來測試編碼。"},
		{"korean", korean.EUCKR, "이것은 한국어 문장입니다. 인코딩을 시험합니다."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data, err := c.e.NewEncoder().Bytes([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := text.Decode(data); err != nil || got != c.text {
				t.Errorf("got %q, %v, want %q", got, err, c.text)
			}
		})
	}
}
