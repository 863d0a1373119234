//go:build unix

package config_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/holodeck-run/holodeck/config"
)

func TestAPipeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "worker.yaml")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	_, err := config.Load(name, config.Options{})
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("err = %v, want one that says it is no regular file", err)
	}
}
