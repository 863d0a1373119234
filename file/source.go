package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/payload"
)

// Options says where files may come from. The zero value opens no path and
// fetches public URLs.
type Options struct {
	Roots      []string          // folders that paths may point into; relative paths belong to the first
	AllowHosts []string          // hosts exempt from the address guard, as "host" or "host:port"
	MaxBytes   int64             // cap on one file; 0 means [MaxBytes]
	TempDir    string            // where downloads are kept while open; "" means the system's
	Transport  http.RoundTripper // replaces the guarded transport, in tests; nil keeps it
}

// Source opens files. It is safe for concurrent use.
type Source struct {
	roots    []string // absolute, symlinks resolved
	maxBytes int64
	tempDir  string
	client   *http.Client
	host     string
}

// NewSource checks the roots and returns a Source over them. A root that is
// not a folder is a Config fault.
func NewSource(o Options) (*Source, error) {
	s := &Source{maxBytes: o.MaxBytes, tempDir: o.TempDir}
	if s.maxBytes == 0 {
		s.maxBytes = MaxBytes
	}
	for _, root := range o.Roots {
		abs, err := filepath.Abs(root)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return nil, fault.New(fault.Config, "open root "+root, "Name an existing folder under files.roots.", "%w", fault.Cause(err))
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return nil, fault.New(fault.Config, "open root "+root, "Name an existing folder under files.roots.", "it is not a folder")
		}
		s.roots = append(s.roots, abs)
	}
	s.host, _ = os.Hostname()
	s.client = newClient(o)
	return s, nil
}

// Open opens the file that ref names and tells its type. Faults: Config for a
// wrong reference, FileNotFound, Download, UnsupportedFileType when declared
// type and content disagree, Document for an empty file.
func (s *Source) Open(ctx context.Context, ref payload.FileInput) (*File, error) {
	if faults := ref.Faults(); faults != nil {
		return nil, fault.New(fault.Config, "read file reference", "", "%s", strings.Join(faults, "; "))
	}
	f, err := s.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	return identify(f, ref.Type)
}

func (s *Source) open(ctx context.Context, ref payload.FileInput) (*File, error) {
	switch {
	case ref.Path != "":
		return s.openPath(ref.Path)
	case strings.HasPrefix(strings.ToLower(ref.URL), "artifact:"):
		return nil, fault.New(fault.Config, "open "+ref.URL, "Give a path, or an http or https url.", "this worker has no artifact store")
	default:
		return s.download(ctx, ref.URL)
	}
}

func (s *Source) openPath(path string) (*File, error) {
	root, rel, err := s.within(path)
	if err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, s.notFound(path, err)
	}
	defer func() { _ = r.Close() }()
	f, err := r.OpenFile(rel, os.O_RDONLY|noHang, 0)
	if err != nil {
		return nil, s.notFound(path, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(path, info)
	}
	if err == nil && info.Size() > s.maxBytes {
		err = tooBig(fault.Document, "open "+path, info.Size(), s.maxBytes)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &File{
		Name: filepath.Base(path), Size: info.Size(), extension: strings.ToLower(filepath.Ext(path)),
		r: f, close: f.Close,
	}, nil
}

// within finds the root that path lies in, and its name there. The root's
// own symlinks were resolved when it was opened; those of the path are the
// business of os.Root, which follows none out of the root.
func (s *Source) within(path string) (root, rel string, err error) {
	if len(s.roots) == 0 {
		return "", "", fault.New(fault.FileNotFound, "open "+path, "Set files.roots to the folders that paths may point into, or give a url.", "this worker opens no paths")
	}
	if !filepath.IsAbs(path) {
		if !filepath.IsLocal(path) {
			return "", "", s.outside(path)
		}
		for _, root := range s.roots[1:] {
			if _, err := os.Lstat(filepath.Join(s.roots[0], path)); err == nil {
				break
			}
			if _, err := os.Lstat(filepath.Join(root, path)); err == nil {
				return root, path, nil
			}
		}
		return s.roots[0], path, nil
	}
	for _, candidate := range []string{filepath.Clean(path), resolveFolder(path)} {
		for _, root := range s.roots {
			if rel, err := filepath.Rel(root, candidate); err == nil && filepath.IsLocal(rel) {
				return root, rel, nil
			}
		}
	}
	return "", "", s.outside(path)
}

// resolveFolder resolves symlinks of the folder of path, so that a path
// written through a link (/tmp on macOS) still meets its root.
func resolveFolder(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.Base(path))
}

func (s *Source) outside(path string) error {
	return fault.New(fault.FileNotFound, "open "+path, "Move the file there, or add its folder to files.roots of worker.yaml (dev: --root DIR).",
		"it lies outside the folders that the worker on %s may read (%s)", s.host, strings.Join(s.roots, ", "))
}

func (s *Source) notFound(path string, err error) error {
	hint := "Check the path; it is opened on the worker's disk, not on the caller's."
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.FileNotFound, "open "+path, hint, "no such file on %s under %s", s.host, strings.Join(s.roots, ", "))
	}
	if strings.Contains(err.Error(), "escapes") {
		return s.outside(path)
	}
	return fault.New(fault.FileNotFound, "open "+path, hint, "%w", fault.Cause(err))
}

func tooBig(k fault.Kind, op string, size, limit int64) error {
	e := fault.New(k, op, fmt.Sprintf("Give a smaller file, or raise the cap of %d bytes.", limit), "it has %d bytes, over the cap of %d", size, limit)
	e.Permanent = true
	return e
}
