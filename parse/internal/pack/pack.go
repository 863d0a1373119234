// Package pack opens office packages: zip files of XML parts that relate to
// each other.
//
// In goes the file; out come its parts, found by their relations rather than
// by guessed names. What would unpack to more than a document can have is
// refused before anything is unpacked. It does not know what the parts mean.
package pack

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// Limits of a package.
const (
	maxUnpacked = 1 << 30
	maxRatio    = 200
	ratioFloor  = 16 << 20 // small packages may be as repetitive as they like
	maxMembers  = 20_000
)

// Package is an open package.
type Package struct {
	parts map[string]*zip.File
	main  string
}

// Relation leads from one part to another, or to a link.
type Relation struct {
	Type     string // the last element of its type: "hyperlink", "styles"
	Target   string // a part's name, or the link if External
	External bool
}

// Open opens a package and finds its main part.
func Open(r io.ReaderAt, size int64) (*Package, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, Damaged(err)
	}
	if len(z.File) > maxMembers {
		return nil, bomb("it has %d members, more than the %d allowed", len(z.File), maxMembers)
	}
	p := &Package{parts: make(map[string]*zip.File, len(z.File))}
	var total uint64
	for _, f := range z.File {
		if total += f.UncompressedSize64; f.UncompressedSize64 > maxUnpacked || total > maxUnpacked {
			return nil, bomb("it unpacks to more than %d MiB", maxUnpacked>>20)
		}
		p.parts[clean(f.Name)] = f
	}
	if total > ratioFloor && total > uint64(size)*maxRatio {
		return nil, bomb("it unpacks to %d times its size, more than the %d allowed", total/uint64(size), maxRatio)
	}
	rels, err := p.Relations("")
	if err != nil {
		return nil, err
	}
	for _, rel := range rels {
		if rel.Type == "officeDocument" && !rel.External {
			p.main = rel.Target
		}
	}
	if p.main == "" || !p.Has(p.main) {
		return nil, Damaged(errors.New("its main part is missing"))
	}
	return p, nil
}

// Damaged is the fault of a package that cannot be read.
func Damaged(err error) error {
	return &fault.Error{
		Kind: fault.Document,
		Err:  fmt.Errorf("the document is damaged: %w", err),
		Hint: "Open it in the program that made it and save it again, or give another copy.",
	}
}

func bomb(format string, args ...any) error {
	return fault.New(fault.Document, "", "Give a smaller document.", "the document is refused: "+format, args...)
}

func clean(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"))
}

// Main returns the name of the main part.
func (p *Package) Main() string { return p.main }

// Has says whether there is a part of that name.
func (p *Package) Has(part string) bool { return p.parts[clean(part)] != nil }

// Open opens a part for reading. A part longer than it declares is an error.
func (p *Package) Open(part string) (io.ReadCloser, error) {
	f := p.parts[clean(part)]
	if f == nil {
		return nil, Damaged(fmt.Errorf("its part %s is missing", part))
	}
	r, err := f.Open()
	if err != nil {
		return nil, Damaged(err)
	}
	return &capped{r, int64(f.UncompressedSize64)}, nil
}

type capped struct {
	io.ReadCloser
	left int64
}

func (c *capped) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	if c.left -= int64(n); c.left < 0 {
		return 0, errors.New("a part is longer than it declares")
	}
	return n, err
}

// Scan calls visit for every start tag of a part, with the scanner on it.
// A part that is not there has none.
func (p *Package) Scan(part string, visit func(*xmlscan.Scanner) error) error {
	if !p.Has(part) {
		return nil
	}
	r, err := p.Open(part)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	s := xmlscan.New(r)
	for {
		k, err := s.Next()
		if err != nil {
			return Damaged(err)
		}
		switch k {
		case xmlscan.EOF:
			return nil
		case xmlscan.Start:
			if err := visit(s); err != nil {
				return Explain(err)
			}
		}
	}
}

// Explain calls the errors of XML that cannot be read on damage; others, such
// as those of a sink or a context, pass.
func Explain(err error) error {
	switch err {
	case xmlscan.ErrDeep, xmlscan.ErrTag, xmlscan.ErrTruncated:
		return Damaged(err)
	}
	return err
}

// Relations returns a part's relations by id; of the package itself for "".
func (p *Package) Relations(part string) (map[string]Relation, error) {
	dir, base := path.Split(part)
	rels := map[string]Relation{}
	err := p.Scan(dir+"_rels/"+base+".rels", func(s *xmlscan.Scanner) error {
		if !s.Is("Relationship") {
			return nil
		}
		rel := Relation{
			Type:     s.Attr("Type")[strings.LastIndexByte(s.Attr("Type"), '/')+1:],
			Target:   s.Attr("Target"),
			External: s.Attr("TargetMode") == "External",
		}
		if !rel.External {
			if !strings.HasPrefix(rel.Target, "/") {
				rel.Target = path.Join("/", dir, rel.Target)
			}
			rel.Target = strings.TrimPrefix(rel.Target, "/")
		}
		rels[s.Attr("Id")] = rel
		return nil
	})
	return rels, err
}

// Related returns the target of the first relation of a type, "" if none.
func (p *Package) Related(part, kind string) (string, error) {
	rels, err := p.Relations(part)
	if err != nil {
		return "", err
	}
	for _, r := range rels {
		if r.Type == kind && !r.External {
			return r.Target, nil
		}
	}
	return "", nil
}
