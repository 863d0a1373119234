package pack

import (
	"bytes"
	"io"

	"github.com/holodeck-run/holodeck/fault"
)

// RefuseOLE returns a fault if the file is a compound file rather than a
// package but of a format of before 2007. modern names the format to save as.
func RefuseOLE(r io.ReaderAt, modern string) error {
	if !Compound(r) {
		return nil
	}
	return fault.New(fault.UnsupportedFileType, "", "Save it as "+modern+".", "there is no reader for the binary office formats of before 2007")
}

// Compound says whether the file is a compound file ([MS-CFB]).
func Compound(r io.ReaderAt) bool {
	head := make([]byte, 8)
	n, _ := r.ReadAt(head, 0)
	return n == 8 && bytes.Equal(head, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"))
}

func wide(s string) []byte {
	b := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		b = append(b, s[i], 0)
	}
	return b
}

// contains looks for a pattern in a file, a stretch at a time.
func contains(r io.ReaderAt, size int64, pattern []byte) bool {
	const stretch = 1 << 20
	buf := make([]byte, stretch+len(pattern))
	for off := int64(0); off < size; off += stretch {
		n, err := r.ReadAt(buf, off)
		if bytes.Contains(buf[:n], pattern) {
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}
