// Package file opens the file that a reference names.
//
// In goes a [payload.FileInput]; out comes a [File], open, with its size and
// the type told from its content. A path is opened under the configured roots
// only; a URL is fetched through a guard that refuses addresses inside the
// network, with a cap on its size, into a temporary file that Close removes.
//
// The package does not read documents (that is parse) and does not remember
// files between calls.
package file

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
)

// MaxBytes is the default cap on one file: 100 MiB.
const MaxBytes = 100 << 20

// File is one open file. It is safe for concurrent ReadAt.
type File struct {
	Name string // base name, for messages and metadata
	Type string // one of payload.Types, told from the content; "" if unknown
	MIME string // media type, told from the content
	Size int64  // in bytes

	r         io.ReaderAt
	close     func() error
	extension string // with the dot, lower case; from the name or the media type
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (int, error) { return f.r.ReadAt(p, off) }

// Close releases the file; a downloaded one is removed.
func (f *File) Close() error { return f.close() }

// Extension returns the file's extension in lower case, with the dot.
func (f *File) Extension() string { return f.extension }

// Reader returns a fresh reader over the whole file.
func (f *File) Reader() *io.SectionReader { return io.NewSectionReader(f.r, 0, f.Size) }

// New wraps bytes that are already at hand, told apart as Open does. The name
// is for messages and its extension a hint; declared may be empty.
func New(name, declared string, r io.ReaderAt, size int64) (*File, error) {
	return identify(&File{
		Name:      filepath.Base(name),
		Size:      size,
		extension: strings.ToLower(filepath.Ext(name)),
		r:         r,
		close:     func() error { return nil },
	}, declared)
}

// identify sets Type and MIME, or closes f and says what contradicts.
func identify(f *File, declared string) (*File, error) {
	kind, mime, err := Detect(f, f.Size, f.extension)
	if err == nil {
		f.Type, f.MIME = kind, mime
		err = f.agree(declared)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func regular(name string, info os.FileInfo) error {
	if info.IsDir() {
		return fault.New(fault.FileNotFound, "open "+name, "Name a file inside it.", "it is a folder")
	}
	if !info.Mode().IsRegular() {
		return fault.New(fault.FileNotFound, "open "+name, "Name a regular file.", "it is a %s, not a regular file", modeName(info.Mode()))
	}
	if links(info) > 1 {
		return fault.New(fault.FileNotFound, "open "+name, "Name a copy of it.",
			"it has %d hard links, so it may lie outside the roots as well", links(info))
	}
	return nil
}

func modeName(m os.FileMode) string {
	switch {
	case m&os.ModeNamedPipe != 0:
		return "named pipe"
	case m&os.ModeSocket != 0:
		return "socket"
	case m&os.ModeDevice != 0:
		return "device"
	default:
		return "special file"
	}
}

// OpenLocal opens a path that the user of this machine typed: no root confines
// it, and no cap but that of the readers. The path must be a regular file.
func OpenLocal(path, declared string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noHang, 0)
	if err != nil {
		return nil, fault.New(fault.FileNotFound, "open "+path, "Check the path.", "%w", fault.Cause(err))
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = regular(path, info)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return identify(&File{
		Name: filepath.Base(path), Size: info.Size(), extension: strings.ToLower(filepath.Ext(path)), r: f, close: f.Close,
	}, declared)
}
