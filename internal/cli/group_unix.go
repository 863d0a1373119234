//go:build unix

package cli

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// ownGroup puts the command into a process group of its own, so that what it
// starts ends with it and a Ctrl-C reaches it through us, in order.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func signalGroup(cmd *exec.Cmd, s os.Signal) {
	number := syscall.SIGTERM
	if s == os.Kill {
		number = syscall.SIGKILL
	}
	_ = syscall.Kill(-cmd.Process.Pid, number) // it may have ended by itself
}

// exitCode is the code of a command that ended, as a shell gives it: 128 and
// the signal's number for one that was killed.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// outliveReader lets a server go on when whoever read its output has gone:
// dev 2>&1 | head must not end it. The signal is caught, not ignored, since
// what is ignored would be ignored by the user's own command too.
func outliveReader() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
