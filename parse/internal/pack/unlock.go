package pack

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"

	"github.com/xuri/excelize/v2"

	"github.com/holodeck-run/holodeck/fault"
)

// maxSpins bounds how often a document may ask for its password to be hashed;
// the programs that write them ask for 100,000.
const maxSpins = 2_000_000

var spins = regexp.MustCompile(`spinCount="(\d+)"`)

// Locked says whether the file is a compound file around an encrypted package
// ([MS-OFFCRYPTO] 2.3.2).
func Locked(r io.ReaderAt, size int64) bool {
	return Compound(r) && contains(r, size, wide("EncryptedPackage"))
}

// Unlock decrypts a locked file with its password and returns the package.
func Unlock(data []byte, password string) ([]byte, error) {
	if password == "" {
		return nil, NeedsPassword()
	}
	if m := spins.FindSubmatch(data); m != nil {
		if n, err := strconv.Atoi(string(m[1])); err != nil || n > maxSpins {
			return nil, fault.New(fault.Document, "", "Save a copy without a password.", "the document is refused: it asks for its password to be hashed %s times", m[1])
		}
	}
	plain, err := excelize.Decrypt(data, &excelize.Options{Password: password})
	switch {
	case errors.Is(err, excelize.ErrWorkbookPassword), err == nil && !bytes.HasPrefix(plain, []byte("PK")):
		return nil, WrongPassword()
	case err != nil:
		return nil, &fault.Error{Kind: fault.Document, Err: errors.Join(errors.New("the document is encrypted in a way that cannot be read"), err), Hint: "Save a copy without a password."}
	}
	return plain, nil
}

// NeedsPassword is the fault of a document that is encrypted.
func NeedsPassword() error {
	return fault.New(fault.Document, "", "Give its password (--password), or a copy without one.", "the document is encrypted and needs a password")
}

// WrongPassword is the fault of a password that does not fit.
func WrongPassword() error {
	return fault.New(fault.Document, "", "Give the right password (--password), or a copy without one.", "the password does not open the document")
}
