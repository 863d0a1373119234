//go:build !unix

package cli

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func signalGroup(cmd *exec.Cmd, _ os.Signal) { _ = cmd.Process.Kill() }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

func outliveReader() {}
