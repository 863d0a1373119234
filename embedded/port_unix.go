//go:build !windows

package embedded

import (
	"errors"
	"syscall"
)

func portTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
