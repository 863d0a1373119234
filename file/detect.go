package file

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/holodeck-run/holodeck/fault"
)

// head is how much of a file is looked at to tell a text from a binary.
const head = 64 << 10

// Detect tells the document type (one of payload.Types, "" if none) and media
// type of content. Binary formats are told by their bytes alone; among the
// formats that are text, the extension decides where the bytes leave a choice.
func Detect(r io.ReaderAt, size int64, extension string) (kind, mime string, err error) {
	b := make([]byte, min(size, head))
	if n, err := r.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", "", err
	} else {
		b = b[:n]
	}
	if len(b) == 0 {
		return byExtension(extension), "inode/x-empty", nil
	}
	m := mimetype.Detect(b)
	mime, _, _ = strings.Cut(m.String(), ";")
	switch {
	case bytes.Contains(b[:min(len(b), 1024)], []byte("%PDF-")):
		return "pdf", "application/pdf", nil
	case bytes.HasPrefix(b, []byte("PK\x03\x04")), bytes.HasPrefix(b, []byte("PK\x05\x06")):
		kind, mime = zipKind(r, size, mime)
		return kind, mime, nil
	case bytes.HasPrefix(b, []byte{0xD0, 0xCF, 0x11, 0xE0}):
		return oleKind(r, size, mime, extension), mime, nil
	case slices.ContainsFunc(bareWorkbook, func(mark string) bool { return bytes.HasPrefix(b, []byte(mark)) }):
		return "excel", "application/vnd.ms-excel", nil
	case strings.HasPrefix(mime, "image/") && mime != "image/svg+xml":
		return "image", mime, nil
	case isText(m), plausibleText(b):
		return textKind(mime, extension), textMIME(mime, extension), nil
	default:
		return "", mime, nil
	}
}

// bareWorkbook marks workbooks of Excel 2 to 5 without a container: the record
// that begins one, with its length.
var bareWorkbook = []string{"\x09\x00\x04\x00", "\x09\x02\x06\x00", "\x09\x04\x06\x00", "\x09\x08\x08\x00\x00\x05", "\x09\x08\x10\x00\x00\x06"}

func isText(m *mimetype.MIME) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return true
		}
	}
	return false
}

// plausibleText accepts what the signature library calls binary but a charset
// decision can still read: text of a legacy code page, or UTF-16 without a
// mark. Control characters other than white space give binaries away.
func plausibleText(b []byte) bool {
	control, zeros := 0, [2]int{}
	for i, c := range b {
		switch {
		case c == 0:
			zeros[i%2]++
		case c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b:
			control++
		}
	}
	if control > 0 {
		return false
	}
	even, odd := zeros[0], zeros[1]
	return even+odd == 0 || (even == 0 || odd == 0) && (even+odd)*3 >= len(b)
}

// parts that mark an office package, by the name of a member.
var packages = []struct{ prefix, kind, mime string }{
	{"word/", "word", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{"xl/", "excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	{"ppt/", "powerpoint", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
}

func zipKind(r io.ReaderAt, size int64, mime string) (kind, media string) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return byMIME(mime), mime // damaged: the reader of that type will say so
	}
	for _, f := range z.File {
		if f.Name == "mimetype" {
			if m := firstLine(f); m != "" {
				return byMIME(m), m
			}
		}
		for _, p := range packages {
			if strings.HasPrefix(strings.TrimPrefix(f.Name, "/"), p.prefix) {
				return p.kind, p.mime
			}
		}
	}
	return "", "application/zip"
}

func firstLine(f *zip.File) string {
	r, err := f.Open()
	if err != nil {
		return ""
	}
	defer func() { _ = r.Close() }()
	b, _ := io.ReadAll(io.LimitReader(r, 200))
	return strings.TrimSpace(string(b))
}

func byMIME(mime string) string {
	switch {
	case mime == "application/epub+zip":
		return "epub"
	case strings.HasPrefix(mime, "application/vnd.oasis.opendocument."):
		return "opendocument"
	}
	for _, p := range packages {
		if p.mime == mime {
			return p.kind
		}
	}
	return ""
}

// oleKind tells a compound file apart. An encrypted office package has no
// visible content, so there the extension speaks.
func oleKind(r io.ReaderAt, size int64, mime, extension string) string {
	switch mime {
	case "application/vnd.ms-excel":
		return "excel"
	case "application/msword":
		return "word"
	case "application/vnd.ms-powerpoint":
		return "powerpoint"
	case "application/vnd.ms-outlook":
		return "email"
	}
	if k := byExtension(extension); k != "" {
		return k
	}
	return byStream(r, size)
}

// streams mark a compound file, by the name of what only it holds.
var streams = []struct{ name, kind string }{
	{"__substg1.0_", "email"},
	{"WordDocument", "word"},
	{"PowerPoint Document", "powerpoint"},
	{"Workbook", "excel"},
}

// byStream looks for the names in the directory of a compound file, which may
// stand anywhere in it.
func byStream(r io.ReaderAt, size int64) string {
	const stretch = 1 << 20
	buf := make([]byte, stretch+64)
	for off := int64(0); off < min(size, 64<<20); off += stretch {
		n, err := r.ReadAt(buf, off)
		for _, s := range streams {
			if bytes.Contains(buf[:n], wide(s.name)) {
				return s.kind
			}
		}
		if err != nil {
			break
		}
	}
	return ""
}

func wide(s string) []byte {
	b := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		b = append(b, s[i], 0)
	}
	return b
}

func textKind(mime, extension string) string {
	if k := byExtension(extension); isTextKind(k) {
		return k
	}
	switch mime {
	case "text/html", "application/xhtml+xml":
		return "html"
	case "application/json", "application/geo+json":
		return "json"
	case "text/xml", "application/rss+xml", "application/atom+xml", "image/svg+xml":
		return "xml"
	case "message/rfc822":
		return "email"
	default:
		return "text"
	}
}

func textMIME(mime, extension string) string {
	switch {
	case extension == ".md" || extension == ".markdown":
		return "text/markdown"
	case extension == ".ipynb":
		return "application/x-ipynb+json"
	case byExtension(extension) == "csv" && extension == ".tsv":
		return "text/tab-separated-values"
	case byExtension(extension) == "csv":
		return "text/csv"
	case mime == "application/octet-stream":
		return "text/plain"
	default:
		return mime
	}
}

func isTextKind(kind string) bool {
	switch kind {
	case "text", "csv", "html", "json", "xml", "email", "notebook":
		return true
	default:
		return false
	}
}

// byExtension returns the type that a file name claims, "" if none.
func byExtension(extension string) string {
	switch strings.ToLower(extension) {
	case ".pdf":
		return "pdf"
	case ".docx", ".docm", ".dotx", ".doc":
		return "word"
	case ".xlsx", ".xlsm", ".xltx", ".xls":
		return "excel"
	case ".pptx", ".pptm", ".ppsx", ".ppt":
		return "powerpoint"
	case ".csv", ".tsv":
		return "csv"
	case ".html", ".htm", ".xhtml":
		return "html"
	case ".json", ".jsonl", ".ndjson":
		return "json"
	case ".xml", ".rss", ".atom":
		return "xml"
	case ".eml", ".msg":
		return "email"
	case ".ipynb":
		return "notebook"
	case ".epub":
		return "epub"
	case ".odt", ".ods", ".odp":
		return "opendocument"
	case ".txt", ".md", ".markdown", ".log", ".rst":
		return "text"
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff":
		return "image"
	default:
		return ""
	}
}

// DeclaredBy returns the type that the name of a file claims, "" if none: what
// a caller declares when it has nothing but the name.
func DeclaredBy(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return byExtension(name[i:])
	}
	return ""
}

// agree holds the declared type against the content. Text may be read as any
// format that is text; anything else must be what it says. Bytes of no known
// format pass, so that the reader of the declared type can call them damaged.
func (f *File) agree(declared string) error {
	switch {
	case f.Size == 0:
		return fault.New(fault.Document, "open "+f.Name, "Give a file with content.", "the file is empty")
	case declared == "" || declared == f.Type:
		return nil
	case isTextKind(declared) && isTextKind(f.Type):
		f.Type = declared
		return nil
	case f.Type == "" && !isTextKind(declared) && f.MIME == "application/octet-stream":
		f.Type = declared
		return nil
	}
	is := f.Type
	if is == "" {
		is = f.MIME
	}
	return fault.New(fault.UnsupportedFileType, "open "+f.Name, "Correct the type, or the file's extension.",
		"it is declared %s, but its content is %s", declared, is)
}
