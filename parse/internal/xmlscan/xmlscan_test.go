package xmlscan_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// trace prints tokens as one line: <a x=1> text </a>.
func trace(r io.Reader) (string, error) {
	var b strings.Builder
	s := xmlscan.New(r)
	for {
		k, err := s.Next()
		if err != nil {
			return b.String(), err
		}
		switch k {
		case xmlscan.EOF:
			return b.String(), nil
		case xmlscan.Start:
			fmt.Fprintf(&b, "<%s %s>", s.Name(), s.Attr("x"))
		case xmlscan.End:
			fmt.Fprintf(&b, "</%s>", s.Name())
		case xmlscan.Text:
			b.Write(s.Bytes())
		}
	}
}

func TestTokensAreTheDocuments(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long &amp; wide é ", 10_000)
	for _, c := range []struct{ name, in, want string }{
		{"prefixes are dropped", `<w:a w:x="1"><b/></w:a>`, `<a 1><b ></b></a>`},
		{"entities are resolved", `<a x="&lt;&#65;&#x42;'">&amp;&bad;& &quot;</a>`, `<a <AB'>&&bad;& "</a>`},
		{"a > inside of quotes ends nothing", `<a x='1>2'/>`, `<a 1>2></a>`},
		{"comments, instructions and types are no tokens", "<?xml x?><!DOCTYPE a [<!ENTITY b \"c\">]><a><!-- <b> -- -->t</a>", `<a >t</a>`},
		{"character data is text", `<a><![CDATA[<b>&amp;]]></a>`, `<a ><b>&amp;</a>`},
		{"long text comes whole", "<a>" + long + "</a>", "<a >" + strings.ReplaceAll(long, "&amp;", "&") + "</a>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
				if got, err := trace(r); err != nil || got != c.want {
					t.Errorf("got %.200q, %v, want %.200q", got, err, c.want)
				}
			}
		})
	}
}

func TestADocumentThatCannotBeReadOnSaysWhy(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]error{
		"<a><b></b>":                          xmlscan.ErrTruncated,
		"<a x='1":                             xmlscan.ErrTruncated,
		"<a><!-- ":                            xmlscan.ErrTruncated,
		"</a>":                                xmlscan.ErrTag,
		strings.Repeat("<a>", 1_000):          xmlscan.ErrDeep,
		"<a x='" + strings.Repeat("y", 5<<20): xmlscan.ErrTag,
	} {
		if _, err := trace(strings.NewReader(in)); !errors.Is(err, want) {
			t.Errorf("%.20q: got %v, want %v", in, err, want)
		}
	}
}
