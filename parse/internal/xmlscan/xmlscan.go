// Package xmlscan reads XML as a stream of tags and text, fast and in bounded
// memory, for documents that are mostly markup.
//
// In goes UTF-8 (or UTF-16 with a mark); out come start tags with their
// attributes, text with its entities resolved, and end tags. Names are given
// without their prefix: office formats come in two sets of namespaces with the
// same names. Document types are skipped, so no entity is ever expanded; depth
// and the size of a tag are bounded. It does not check that a document is
// well-formed beyond what reading it takes.
package xmlscan

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Kind is what [Scanner.Next] met.
type Kind int

// The kinds of token.
const (
	EOF   Kind = iota // the document has ended
	Start             // Name and Attr are set
	End               // Name is set
	Text              // Bytes is set; long text comes in pieces
)

const (
	maxDepth = 512
	maxTag   = 4 << 20
)

// Errors of documents that cannot be read on.
var (
	ErrDeep      = errors.New("its XML is nested too deeply")
	ErrTag       = errors.New("its XML has a tag without an end")
	ErrTruncated = errors.New("its XML ends too early")
)

// Scanner reads one document. It must be made by [New].
type Scanner struct {
	r        io.Reader
	buf      []byte
	pos, end int
	err      error // of r

	name    []byte
	attrs   []attr
	text    []byte
	scratch []byte
	depth   int
	empty   bool // the start tag just given also ends
}

type attr struct {
	name, value []byte
	prefixed    bool
}

// New returns a scanner over r.
func New(r io.Reader) *Scanner {
	bom := unicode.BOMOverride(transform.Nop)
	return &Scanner{r: transform.NewReader(r, bom), buf: make([]byte, 32<<10)}
}

// Name returns the local name of the tag. It is valid until the next Next.
func (s *Scanner) Name() string { return string(s.name) }

// Is says whether the tag's local name is name.
func (s *Scanner) Is(name string) bool { return string(s.name) == name }

// Bytes returns the text. It is valid until the next Next.
func (s *Scanner) Bytes() []byte { return s.text }

// Depth returns how many tags are open, a start tag just given included.
func (s *Scanner) Depth() int { return s.depth }

// Attr returns the value of the attribute with that local name, "" if the
// start tag has none.
func (s *Scanner) Attr(name string) string {
	v, _ := s.Lookup(name)
	return v
}

// Raw returns an attribute's value as it stands in the document, for numbers
// and references. It is valid until the next Next.
func (s *Scanner) Raw(name string) []byte {
	for _, a := range s.attrs {
		if string(a.name) == name {
			return a.value
		}
	}
	return nil
}

// Prefixed is Attr for an attribute that has a prefix, where the tag has
// another of the same local name: r:id beside id.
func (s *Scanner) Prefixed(name string) string {
	for _, a := range s.attrs {
		if a.prefixed && string(a.name) == name {
			return string(unescape(nil, a.value))
		}
	}
	return ""
}

// Lookup is Attr that tells a missing attribute from an empty one.
func (s *Scanner) Lookup(name string) (string, bool) {
	for _, a := range s.attrs {
		if string(a.name) == name {
			if bytes.IndexByte(a.value, '&') < 0 {
				return string(a.value), true
			}
			return string(unescape(nil, a.value)), true
		}
	}
	return "", false
}

// Next reads the next token.
func (s *Scanner) Next() (Kind, error) {
	if s.empty {
		s.empty = false
		s.depth--
		return End, nil
	}
	for {
		if s.pos == s.end && !s.fill() {
			return s.finish()
		}
		if s.buf[s.pos] != '<' {
			return s.readText()
		}
		kind, skip, err := s.readTag()
		if err != nil || !skip {
			return kind, err
		}
	}
}

func (s *Scanner) finish() (Kind, error) {
	if s.err != io.EOF {
		return EOF, s.err
	}
	if s.depth > 0 {
		return EOF, ErrTruncated
	}
	return EOF, nil
}

// Each calls visit for every start tag inside the element whose start tag was
// just given, and reads to its end. visit may read on inside its own element.
func (s *Scanner) Each(visit func() error) error {
	for depth := s.depth; ; {
		k, err := s.Next()
		switch {
		case err != nil:
			return err
		case k == EOF:
			return ErrTruncated
		case k == End && s.depth < depth:
			return nil
		case k == Start:
			if err := visit(); err != nil {
				return err
			}
		}
	}
}

// Skip reads to the end of the element whose start tag was just given.
func (s *Scanner) Skip() error {
	for depth := s.depth - 1; ; {
		k, err := s.Next()
		if err != nil {
			return err
		}
		if k == EOF {
			return ErrTruncated
		}
		if k == End && s.depth <= depth {
			return nil
		}
	}
}

// Content returns the text of the element whose start tag was just given, the
// elements inside it included.
func (s *Scanner) Content() (string, error) {
	var b []byte
	for depth := s.depth - 1; ; {
		k, err := s.Next()
		switch {
		case err != nil:
			return "", err
		case k == EOF:
			return "", ErrTruncated
		case k == Text:
			b = append(b, s.text...)
		case k == End && s.depth <= depth:
			return string(b), nil
		}
	}
}

// fill reads more; it says whether there is anything new.
func (s *Scanner) fill() bool {
	if s.err != nil {
		return false
	}
	if s.pos > 0 {
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.err = err
		}
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	s.err = io.ErrNoProgress
	return false
}

func (s *Scanner) readText() (Kind, error) {
	for from := s.pos; ; {
		i := bytes.IndexByte(s.buf[from:s.end], '<')
		if i >= 0 {
			return s.giveText(s.buf[s.pos : from+i])
		}
		have := s.end - s.pos
		if have >= 16<<10 {
			// A piece: an entity cut in two stays for the next one.
			cut := s.end
			if i := bytes.LastIndexByte(s.buf[s.end-16:s.end], '&'); i >= 0 {
				cut = s.end - 16 + i
			}
			return s.giveText(s.buf[s.pos:cut])
		}
		if !s.fill() {
			if s.err == io.EOF {
				return s.giveText(s.buf[s.pos:s.end])
			}
			return EOF, s.err
		}
		from = s.pos + have
	}
}

func (s *Scanner) giveText(raw []byte) (Kind, error) {
	s.pos += len(raw)
	if bytes.IndexByte(raw, '&') >= 0 {
		s.scratch = unescape(s.scratch[:0], raw)
		raw = s.scratch
	}
	s.text = raw
	return Text, nil
}

// readTag reads what begins with "<" at pos; skip is set for what is no token.
func (s *Scanner) readTag() (kind Kind, skip bool, err error) {
	for s.end-s.pos < 9 && s.fill() {
	}
	rest := s.buf[s.pos:s.end]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return 0, true, s.past("-->")
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		s.pos += 9
		return s.cdata()
	case bytes.HasPrefix(rest, []byte("<?")):
		return 0, true, s.past("?>")
	case bytes.HasPrefix(rest, []byte("<!")):
		return 0, true, s.doctype()
	}
	end, err := s.tagEnd()
	if err != nil {
		return 0, false, err
	}
	tag := s.buf[s.pos+1 : end]
	s.pos = end + 1
	if len(tag) > 0 && tag[0] == '/' {
		s.name = local(bytes.TrimSpace(tag[1:]))
		s.attrs = s.attrs[:0]
		if s.depth == 0 {
			return 0, false, ErrTag
		}
		s.depth--
		return End, false, nil
	}
	if n := len(tag); n > 0 && tag[n-1] == '/' {
		s.empty = true
		tag = tag[:n-1]
	}
	s.parse(tag)
	s.depth++
	if s.depth > maxDepth {
		return 0, false, ErrDeep
	}
	return Start, false, nil
}

// past moves behind the next occurrence of mark.
func (s *Scanner) past(mark string) error {
	for {
		if i := bytes.Index(s.buf[s.pos:s.end], []byte(mark)); i >= 0 {
			s.pos += i + len(mark)
			return nil
		}
		s.pos = max(s.pos, s.end-len(mark)+1)
		if !s.fill() {
			return s.early()
		}
	}
}

func (s *Scanner) early() error {
	if s.err != io.EOF {
		return s.err
	}
	return ErrTruncated
}

func (s *Scanner) cdata() (Kind, bool, error) {
	for {
		if i := bytes.Index(s.buf[s.pos:s.end], []byte("]]>")); i >= 0 {
			s.text = s.buf[s.pos : s.pos+i]
			s.pos += i + 3
			return Text, false, nil
		}
		if s.end-s.pos > maxTag {
			return 0, false, ErrTag
		}
		if !s.fill() {
			return 0, false, s.early()
		}
	}
}

// doctype skips a declaration and the subset in its brackets.
func (s *Scanner) doctype() error {
	depth := 0
	for {
		for ; s.pos < s.end; s.pos++ {
			switch s.buf[s.pos] {
			case '<':
				depth++
			case '>':
				if depth--; depth == 0 {
					s.pos++
					return nil
				}
			}
		}
		if !s.fill() {
			return s.early()
		}
	}
}

// tagEnd returns the index of the ">" that ends the tag at pos; one inside
// quotes does not.
func (s *Scanner) tagEnd() (int, error) {
	quote := byte(0)
	for i := 1; ; {
		for ; s.pos+i < s.end; i++ {
			switch c := s.buf[s.pos+i]; {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '>':
				return s.pos + i, nil
			}
		}
		if i > maxTag {
			return 0, ErrTag
		}
		if !s.fill() {
			return 0, s.early()
		}
	}
}
