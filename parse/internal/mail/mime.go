package mail

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/text"
	"github.com/holodeck-run/holodeck/parse/internal/web"
)

// parseMessage reads a message in the Internet format. What is malformed in it
// is read as well as it can be.
func parseMessage(ctx context.Context, data []byte) (*message, error) {
	if wide(data) {
		s, err := text.Decode(data)
		if err != nil {
			return nil, err
		}
		data = []byte(s)
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if bytes.HasPrefix(data, []byte("From ")) { // the line that parts mails in a mailbox
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	p := &parser{ctx: ctx}
	m, err := p.message(data, 0)
	if err != nil {
		return nil, err
	}
	if len(m.headers) == 0 && m.subject == "" {
		return nil, fault.New(fault.Document, "", "Give a mail with its headers, or declare the file as text.", "the file has no headers of a mail")
	}
	return m, nil
}

// wide says whether a message is written in UTF-16.
func wide(data []byte) bool {
	head := data[:min(len(data), 64)]
	return bytes.HasPrefix(head, []byte("\xFF\xFE")) || bytes.HasPrefix(head, []byte("\xFE\xFF")) || bytes.IndexByte(head, 0) >= 0
}

type parser struct {
	ctx   context.Context
	parts int
}

// fields are the headers of a message or part.
type fields []header

func (f fields) get(name string) string {
	for _, h := range f {
		if strings.EqualFold(h.name, name) {
			return h.value
		}
	}
	return ""
}

// split parts headers and content at the first blank line. Lines that begin
// with a space go on with the one before; lines that are no header are
// dropped.
func split(data []byte) (fields, []byte) {
	var f fields
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		trimmed := bytes.TrimRight(line, "\r")
		if len(trimmed) == 0 {
			return f, rest
		}
		switch name, value, ok := bytes.Cut(trimmed, []byte(":")); {
		case (trimmed[0] == ' ' || trimmed[0] == '\t') && len(f) > 0:
			f[len(f)-1].value += " " + string(bytes.TrimSpace(trimmed))
		case ok && !bytes.ContainsAny(name, " \t"):
			f = append(f, header{string(name), string(bytes.TrimSpace(value))})
		case len(f) == 0:
			return nil, data // no headers at all
		}
		data = rest
	}
	return f, nil
}

func (p *parser) message(data []byte, depth int) (*message, error) {
	f, content := split(data)
	m := &message{subject: decoded(f.get("Subject"))}
	from := addresses(f.get("From"))
	for _, name := range []string{"From", "Sender", "Reply-To", "To", "Cc", "Bcc"} {
		value := addresses(f.get(name))
		if value != from || name == "From" || name == "To" {
			m.headers = append(m.headers, header{name, value})
		}
	}
	m.headers = append(m.headers, header{"Date", date(f.get("Date"))})
	m.headers = shown(m.headers)
	return m, p.part(m, f, content, "text/plain", depth)
}

func shown(hs []header) []header {
	out := hs[:0]
	for _, h := range hs {
		if h.value != "" {
			out = append(out, h)
		}
	}
	return out
}

// part adds a part to the message it stands in.
func (p *parser) part(m *message, f fields, content []byte, usual string, depth int) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if p.parts++; p.parts > maxParts || depth > maxDepth {
		return fault.New(fault.Document, "", "Give a smaller mail.", "the mail is refused: it has more parts, or parts in parts, than a mail has")
	}
	kind, params := contentType(f.get("Content-Type"), usual)
	name, attached := filename(f, params)
	switch {
	case strings.HasPrefix(kind, "multipart/"):
		return p.multipart(m, kind, params["boundary"], content, depth)
	case kind == "message/rfc822" || kind == "message/global":
		inner, err := p.message(transferred(f, content), depth+1)
		if err == nil {
			m.messages = append(m.messages, inner)
		}
		return err
	case strings.HasSuffix(kind, "pkcs7-mime"):
		if !strings.HasPrefix(params["smime-type"], "signed") {
			m.locked = "S/MIME"
		}
		m.files = append(m.files, attachment{name, kind, int64(len(transferred(f, content)))})
		return nil
	case strings.HasSuffix(kind, "pkcs7-signature"), kind == "application/pgp-signature", kind == "application/pgp-encrypted":
		return nil
	}
	data := transferred(f, content)
	if textual(kind) && !attached {
		return p.text(m, kind, params, data)
	}
	if f.get("Content-ID") == "" || attached || !strings.HasPrefix(kind, "image/") {
		m.files = append(m.files, attachment{name, kind, int64(len(data))})
	}
	return nil
}

func textual(kind string) bool {
	switch kind {
	case "text/plain", "text/html", "text/calendar", "message/delivery-status", "text/enriched", "text/markdown":
		return true
	}
	return false
}

func (p *parser) text(m *message, kind string, params map[string]string, data []byte) error {
	charset := params["charset"]
	if kind == "text/html" && charset == "" {
		charset = web.Charset(data)
	}
	s, err := text.DecodeAs(data, charset)
	if err != nil {
		return err
	}
	s = text.Lines(s)
	switch {
	case kind == "text/html":
		m.bodies = append(m.bodies, body{html: s})
	case kind == "text/calendar":
		m.bodies = append(m.bodies, body{plain: calendar(s)})
	case strings.EqualFold(params["format"], "flowed"):
		m.bodies = append(m.bodies, body{plain: flowed(s, strings.EqualFold(params["delsp"], "yes"))})
	default:
		m.bodies = append(m.bodies, body{plain: s})
	}
	return nil
}

// multipart reads the parts between the lines that name the boundary; the last
// of these may be missing.
func (p *parser) multipart(m *message, kind, boundary string, content []byte, depth int) error {
	if boundary == "" {
		return p.text(m, "text/plain", nil, content)
	}
	usual := "text/plain"
	if kind == "multipart/digest" {
		usual = "message/rfc822"
	}
	if kind == "multipart/encrypted" {
		m.locked = "PGP"
	}
	inner := &message{}
	for _, one := range pieces(content, boundary) {
		f, data := split(one)
		if err := p.part(inner, f, data, usual, depth+1); err != nil {
			return err
		}
	}
	if kind == "multipart/alternative" {
		inner.bodies = twins(inner.bodies)
	}
	m.bodies = append(m.bodies, inner.bodies...)
	m.files = append(m.files, inner.files...)
	m.messages = append(m.messages, inner.messages...)
	if inner.locked != "" {
		m.locked = inner.locked
	}
	return nil
}

func pieces(content []byte, boundary string) [][]byte {
	mark := []byte("--" + boundary)
	var out [][]byte
	begin := -1
	for at := 0; at < len(content); {
		end := bytes.IndexByte(content[at:], '\n')
		next := len(content)
		if end >= 0 {
			next = at + end + 1
		}
		if line := content[at:next]; bytes.HasPrefix(line, mark) {
			tail := bytes.TrimRight(line[len(mark):], " \t\r\n")
			if len(tail) == 0 || string(tail) == "--" {
				if begin >= 0 {
					out = append(out, content[begin:at])
				}
				begin = next
				if len(tail) > 0 {
					return out
				}
			}
		}
		at = next
	}
	if begin >= 0 {
		out = append(out, content[begin:])
	}
	return out
}

// twins makes one body of alternatives.
func twins(bodies []body) []body {
	var one body
	for _, b := range bodies {
		if b.plain != "" && one.plain == "" {
			one.plain = b.plain
		}
		if b.html != "" {
			one.html = b.html
		}
	}
	if one == (body{}) {
		return nil
	}
	return []body{one}
}

func contentType(value, usual string) (string, map[string]string) {
	if value == "" {
		return usual, nil
	}
	kind, params, err := mime.ParseMediaType(value)
	if err != nil { // a parameter that is none: what comes before it counts
		if kind == "" {
			kind, _, _ = strings.Cut(value, ";")
		}
		if params == nil {
			params = map[string]string{}
		}
		for _, p := range strings.Split(value, ";")[1:] {
			k, v, _ := strings.Cut(p, "=")
			k = strings.ToLower(strings.TrimSpace(k))
			if params[k] == "" {
				params[k] = strings.Trim(strings.TrimSpace(v), `"`)
			}
		}
	}
	if kind = strings.ToLower(strings.TrimSpace(kind)); !strings.Contains(kind, "/") {
		return usual, params
	}
	return kind, params
}

// filename returns the name of a part, and whether it is meant as a file.
func filename(f fields, params map[string]string) (string, bool) {
	disposition, more := contentType(strings.Replace(f.get("Content-Disposition"), ";", "/x;", 1), "")
	name := decoded(more["filename"])
	if name == "" {
		name = decoded(params["name"])
	}
	return name, strings.HasPrefix(strings.ToLower(f.get("Content-Disposition")), "attachment") || strings.HasPrefix(disposition, "attachment")
}

// transferred undoes the transfer encoding, as far as it holds.
func transferred(f fields, content []byte) []byte {
	switch strings.ToLower(strings.TrimSpace(f.get("Content-Transfer-Encoding"))) {
	case "base64":
		clean := bytes.Map(func(r rune) rune {
			if r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '+' || r == '/' {
				return r
			}
			return -1
		}, content)
		out := make([]byte, base64.RawStdEncoding.DecodedLen(len(clean)))
		n, _ := base64.RawStdEncoding.Decode(out, clean)
		return out[:n]
	case "quoted-printable":
		out, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(content)))
		if err != nil && len(out) < len(content)/2 {
			return content
		}
		return out
	}
	return content
}

// decoded reads the encoded words of a header (RFC 2047); bytes beyond ASCII
// that are not encoded are decoded by their look.
func decoded(value string) string {
	d := mime.WordDecoder{CharsetReader: charsetReader}
	if s, err := text.Decode([]byte(value)); err == nil {
		value = s
	}
	if s, err := d.DecodeHeader(value); err == nil {
		return s
	}
	return value
}

func charsetReader(charset string, r io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	s, err := text.DecodeAs(data, charset)
	return strings.NewReader(s), err
}

// addresses writes a list of addresses: a name, then the address behind it.
func addresses(value string) string {
	if value == "" {
		return ""
	}
	p := netmail.AddressParser{WordDecoder: &mime.WordDecoder{CharsetReader: charsetReader}}
	list, err := p.ParseList(value)
	if err != nil {
		return strings.NewReplacer("<", "(", ">", ")").Replace(decoded(value))
	}
	var out []string
	for _, a := range list {
		out = append(out, address(a.Name, a.Address))
	}
	return strings.Join(out, ", ")
}

func address(name, addr string) string {
	if i := strings.LastIndexByte(name, '<'); i > 0 && strings.HasSuffix(name, ">") {
		name, addr = name[:i], first(addr, strings.Trim(name[i:], "<>")) // both in one
	}
	switch name = strings.Trim(strings.TrimSpace(name), `'"`); {
	case name == "" || strings.EqualFold(name, addr):
		return addr
	case addr == "":
		return name
	}
	return name + " (" + addr + ")"
}

func date(value string) string {
	t, err := netmail.ParseDate(value)
	if err != nil {
		return decoded(value)
	}
	return t.Format("2006-01-02 15:04:05 -0700")
}
