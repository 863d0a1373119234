package config

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
)

var errBlank = errors.New("is set but blank")

// Get returns the variable's value, "" if unset. A nil Lookup has none.
func (l Lookup) Get(name string) string {
	if l == nil {
		return ""
	}
	v, _ := l(name)
	return v
}

// NonBlank returns the variable's value, "" if unset, and an error if it is
// set but blank.
func (l Lookup) NonBlank(name string) (string, error) {
	if l == nil {
		return "", nil
	}
	v, ok := l(name)
	if ok && strings.TrimSpace(v) == "" {
		return "", errBlank
	}
	return v, nil
}

// WithDotEnv returns a Lookup that falls back to the NAME=value lines of a
// .env file; variables that are set stay as they are. The file argument is
// for messages.
func (l Lookup) WithDotEnv(file string, data []byte) (Lookup, error) {
	values := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fault.New(fault.Config, fmt.Sprintf("%s:%d:1", file, n), "Write NAME=value.", "the line assigns nothing")
		}
		values[strings.TrimSpace(name)] = unquote(strings.TrimSpace(value))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return func(name string) (string, bool) {
		if l != nil {
			if v, ok := l(name); ok {
				return v, true
			}
		}
		v, ok := values[name]
		return v, ok
	}, nil
}

func unquote(v string) string {
	if len(v) >= 2 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0] {
		return v[1 : len(v)-1]
	}
	if i := strings.Index(v, " #"); i >= 0 {
		return strings.TrimSpace(v[:i])
	}
	return v
}

func resolved(file string) string {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real
	}
	return file
}
