package embedded

import (
	"errors"

	"golang.org/x/sys/windows"
)

func portTaken(err error) bool {
	return errors.Is(err, windows.WSAEADDRINUSE) || errors.Is(err, windows.WSAEACCES)
}
