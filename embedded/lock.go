package embedded

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/holodeck-run/holodeck/fault"
)

// lockFile keeps other servers off the database file until release is called
// or the process ends. The operating system drops the lock of a dead process,
// so a lock file left behind blocks nobody; it says only who held it last.
func lockFile(file string) (release func() error, err error) {
	path := file + ".lock"
	lock := flock.New(path, flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fileFault(file, "lock", err)
	}
	if !ok {
		return nil, fault.New(fault.Config, "open "+file, "Stop that server or choose another file with --db-filename.", "another server uses the file%s", holder(path))
	}
	// Where locks are mandatory the note cannot be written; it is a courtesy.
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	return lock.Unlock, nil
}

func holder(path string) string {
	note, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(note)))
	switch {
	case err != nil:
		return ""
	case pid == os.Getpid():
		return " (this process)"
	}
	return fmt.Sprintf(" (process %d)", pid)
}
