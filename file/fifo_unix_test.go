//go:build unix

package file_test

import "syscall"

func makeFIFO(name string) error { return syscall.Mkfifo(name, 0o600) }
