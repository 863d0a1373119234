package mail

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/richardlehane/mscfb"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/rtf"
	"github.com/holodeck-run/holodeck/parse/internal/text"
	"github.com/holodeck-run/holodeck/parse/internal/web"
)

// Properties of messages, recipients and attachments ([MS-OXPROPS]).
const (
	propSubject        = 0x0037
	propSubmitTime     = 0x0039
	propSentName       = 0x0042
	propSentAddress    = 0x0065
	propHeaders        = 0x007D
	propRecipientType  = 0x0C15
	propSenderName     = 0x0C1A
	propSenderAddress  = 0x0C1F
	propDisplayBcc     = 0x0E02
	propDisplayCc      = 0x0E03
	propDisplayTo      = 0x0E04
	propDeliveryTime   = 0x0E06
	propBody           = 0x1000
	propRTF            = 0x1009
	propHTML           = 0x1013
	propDisplayName    = 0x3001
	propEmail          = 0x3003
	propData           = 0x3701
	propFileName       = 0x3704
	propLongName       = 0x3707
	propMIME           = 0x370E
	propContentID      = 0x3712
	propInternetPage   = 0x3FDE
	propMessagePage    = 0x3FFD
	propSMTP           = 0x39FE
	propSenderSMTP     = 0x5D01
	propSentSMTP       = 0x5D02
	propClass          = 0x001A
	typeUnicode        = 0x001F
	typeString         = 0x001E
	embeddedMessage    = "__substg1.0_3701000D"
	maxOutlookPropSize = 128 << 20
)

// object is a storage of the file: a message, recipient or attachment.
type object struct {
	props map[int]property
	fixed map[int]uint64
	kids  map[string]*object
	order []string
}

type property struct {
	kind int
	data []byte
}

// openOutlook reads a message in Outlook's format.
func openOutlook(r io.ReaderAt) (*message, error) {
	doc, err := mscfb.New(r)
	if err != nil {
		return nil, pack.Damaged(err)
	}
	root := newObject()
	for entries := 0; ; entries++ {
		f, err := doc.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || entries > maxParts*20 {
			return nil, pack.Damaged(errors.New("its directory cannot be read"))
		}
		if f.FileInfo().IsDir() {
			continue
		}
		if err := root.at(f.Path).add(f); err != nil {
			return nil, err
		}
	}
	if root.text(propClass, 0) == "" && len(root.props) == 0 {
		return nil, fault.New(fault.Document, "", "Give a mail saved as .msg or .eml.", "the file holds no mail")
	}
	return root.message(0)
}

func newObject() *object {
	return &object{props: map[int]property{}, fixed: map[int]uint64{}, kids: map[string]*object{}}
}

// at returns the object below o that a path leads to.
func (o *object) at(path []string) *object {
	for _, name := range path[:min(len(path), 4*maxDepth)] {
		kid := o.kids[name]
		if kid == nil {
			kid = newObject()
			o.kids[name] = kid
			o.order = append(o.order, name)
		}
		o = kid
	}
	return o
}

func (o *object) add(f *mscfb.File) error {
	id, isProp := strings.CutPrefix(f.Name, "__substg1.0_")
	table := f.Name == "__properties_version1.0"
	if !table && (!isProp || len(id) != 8) {
		return nil
	}
	if f.Size > maxOutlookPropSize {
		return nil // an attachment, of which the name is enough
	}
	data, err := io.ReadAll(io.LimitReader(f, maxOutlookPropSize))
	if err != nil {
		return pack.Damaged(err)
	}
	if table {
		o.table(data)
		return nil
	}
	n, err := strconv.ParseUint(id, 16, 32)
	if err == nil {
		o.props[int(n>>16)] = property{int(n & 0xFFFF), data}
	}
	return nil
}

// table reads the properties of fixed size. What stands before them depends on
// the kind of object; each is 16 bytes.
func (o *object) table(data []byte) {
	for at := len(data) % 16; at+16 <= len(data); at += 16 {
		tag := binary.LittleEndian.Uint32(data[at:])
		o.fixed[int(tag>>16)] = binary.LittleEndian.Uint64(data[at+8:])
	}
}

// text returns a property that is a string, by the code page given for those
// that are not Unicode.
func (o *object) text(id int, page uint64) string {
	p, ok := o.props[id]
	if !ok {
		return ""
	}
	if p.kind == typeUnicode {
		units := make([]uint16, len(p.data)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(p.data[2*i:])
		}
		return strings.TrimRight(string(utf16.Decode(units)), "\x00")
	}
	s, err := text.DecodeAs(p.data, pageLabel(page))
	if err != nil {
		return ""
	}
	return strings.TrimRight(s, "\x00")
}

// pageLabel names a Windows code page.
func pageLabel(page uint64) string {
	label := ""
	switch page {
	case 932:
		label = "shift_jis"
	case 936:
		label = "gbk"
	case 949:
		label = "euc-kr"
	case 950:
		label = "big5"
	case 20866:
		label = "koi8-r"
	case 28591, 28592, 28593, 28594, 28595, 28597, 28599, 28605:
		label = "iso-8859-" + strconv.FormatUint(page-28590, 10)
	case 50220, 50221, 50222:
		label = "iso-2022-jp"
	case 51932:
		label = "euc-jp"
	case 65001:
		label = "utf-8"
	default:
		label = "windows-" + strconv.FormatUint(page, 10)
	}
	if _, err := htmlindex.Get(label); err != nil {
		return ""
	}
	return label
}

func (o *object) firstText(page uint64, ids ...int) string {
	for _, id := range ids {
		if s := strings.TrimSpace(o.text(id, page)); s != "" {
			return s
		}
	}
	return ""
}

func (o *object) message(depth int) (*message, error) {
	if depth > maxDepth {
		return nil, fault.New(fault.Document, "", "Give a smaller mail.", "the mail is refused: it has messages in messages without end")
	}
	page := o.fixed[propMessagePage]
	if page == 0 {
		page = o.fixed[propInternetPage]
	}
	m := &message{subject: o.text(propSubject, page)}
	author := smtp(o.firstText(page, propSentSMTP, propSentAddress))
	sender := smtp(o.firstText(page, propSenderSMTP, propSenderAddress))
	from := address(o.firstText(page, propSentName, propSenderName), first(author, sender))
	by := "" // who sent it for somebody else
	if author != "" && sender != "" && !strings.EqualFold(author, sender) {
		by = address(o.firstText(page, propSenderName), sender)
	}
	to := o.recipients(page)
	headers, _ := split([]byte(o.text(propHeaders, page)))
	for _, h := range []header{
		{"From", first(from, addresses(headers.get("From")))},
		{"Sender", by},
		{"To", first(to[1], o.text(propDisplayTo, page))},
		{"Cc", first(to[2], o.text(propDisplayCc, page))},
		{"Bcc", first(to[3], o.text(propDisplayBcc, page))},
		{"Date", first(date(headers.get("Date")), o.time())},
	} {
		if h.value != "" {
			m.headers = append(m.headers, h)
		}
	}
	b, err := o.body(page)
	if err != nil {
		return nil, err
	}
	if b != (body{}) {
		m.bodies = append(m.bodies, b)
	}
	if class := o.text(propClass, page); strings.Contains(strings.ToUpper(class), "SMIME") && !strings.Contains(strings.ToUpper(class), "MULTIPARTSIGNED") && b == (body{}) {
		m.locked = "S/MIME"
	}
	return m, o.attachments(m, page, depth)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// smtp drops addresses that mean something inside of one company only.
func smtp(addr string) string {
	if strings.Contains(addr, "@") {
		return addr
	}
	return ""
}

// recipients returns the lists of those the mail went to, by their type.
func (o *object) recipients(page uint64) map[uint64]string {
	lists := map[uint64][]string{}
	for _, name := range o.order {
		if !strings.HasPrefix(name, "__recip_version1.0_") {
			continue
		}
		r := o.kids[name]
		one := address(r.firstText(page, propDisplayName), smtp(r.firstText(page, propSMTP, propEmail)))
		kind := r.fixed[propRecipientType] & 0xF
		if one != "" {
			lists[kind] = append(lists[kind], one)
		}
	}
	out := map[uint64]string{}
	for kind, list := range lists {
		out[kind] = strings.Join(list, ", ")
	}
	return out
}

// time returns when the mail was sent: a count of 100 ns since 1601.
func (o *object) time() string {
	for _, id := range []int{propSubmitTime, propDeliveryTime} {
		if v := o.fixed[id]; v > 116444736000000000 && v < 1<<62 {
			return time.Unix(int64(v/10_000_000)-11644473600, 0).UTC().Format("2006-01-02 15:04:05 -0700")
		}
	}
	return ""
}

func (o *object) body(page uint64) (body, error) {
	b := body{plain: strings.TrimSpace(text.Lines(o.text(propBody, page)))}
	if p, ok := o.props[propHTML]; ok {
		switch p.kind {
		case typeUnicode, typeString:
			b.html = text.Lines(o.text(propHTML, page))
		default:
			label := pageLabel(o.fixed[propInternetPage])
			if declared := web.Charset(p.data); declared != "" {
				label = declared
			}
			s, err := text.DecodeAs(p.data, label)
			if err != nil {
				return b, err
			}
			b.html = text.Lines(s)
		}
	}
	p, ok := o.props[propRTF]
	if b.html != "" || !ok {
		return b, nil
	}
	data, err := rtf.Decompress(p.data)
	if err != nil {
		return b, nil // the plain text is all there is
	}
	if s, isHTML := rtf.Text(data); isHTML {
		b.html = s
	} else if b.plain == "" {
		b.plain = strings.TrimSpace(text.Lines(s))
	}
	return b, nil
}

func (o *object) attachments(m *message, page uint64, depth int) error {
	for _, name := range o.order {
		if !strings.HasPrefix(name, "__attach_version1.0_") {
			continue
		}
		a := o.kids[name]
		if inner := a.kids[embeddedMessage]; inner != nil && len(inner.props) > 0 {
			one, err := inner.message(depth + 1)
			if err != nil {
				return err
			}
			m.messages = append(m.messages, one)
			continue
		}
		kind := a.text(propMIME, page)
		if a.text(propContentID, page) != "" && strings.HasPrefix(kind, "image/") {
			continue // a picture in the text
		}
		m.files = append(m.files, attachment{a.firstText(page, propLongName, propFileName, propDisplayName), kind, int64(len(a.props[propData].data))})
	}
	return nil
}
