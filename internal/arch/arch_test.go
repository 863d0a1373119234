// Package arch holds the code against ARCHITECTURE.md and the house rules. It
// has no code of its own.
package arch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/holodeck-run/holodeck"
	root   = "../.."
)

// pkg is what go list says of a package.
type pkg struct {
	ImportPath string
	Name       string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Dir,GoFiles,Imports,Deps", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]pkg{}
	d := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			found[short(p.ImportPath)] = p
		}
	}
}

func short(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// room is a row of the table.
type room struct{ ours, others []string }

var quoted = regexp.MustCompile("`([^`]+)`")

func rooms(t *testing.T) map[string]room {
	t.Helper()
	text, err := os.ReadFile(root + "/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Rooms")
	table, _, _ = strings.Cut(table, "\n## ")
	out := map[string]room{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.Contains(cells[1], "`") {
			continue
		}
		out[names(cells[1])[0]] = room{names(cells[3]), names(cells[4])}
	}
	return out
}

func names(cell string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// roomOf returns the row of a package: its own, else that of "parent/…".
func roomOf(all map[string]room, name string) (string, bool) {
	if _, ok := all[name]; ok {
		return name, true
	}
	for row := range all {
		if prefix, ok := strings.CutSuffix(row, "…"); ok && strings.HasPrefix(name, prefix) {
			return row, true
		}
	}
	return "", false
}

func allowed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(a string) bool {
		prefix, open := strings.CutSuffix(a, "…")
		return a == name || open && strings.HasPrefix(name, prefix)
	})
}

func TestTheMapIsTrue(t *testing.T) {
	t.Parallel()
	all, found := rooms(t), packages(t)
	used := map[string]bool{}
	for name, p := range found {
		row, ok := roomOf(all, name)
		if !ok {
			if !strings.HasPrefix(name, "release/") {
				t.Errorf("package %s has no row in ARCHITECTURE.md", name)
			}
			continue
		}
		used[row] = true
		for _, imp := range p.Imports {
			switch {
			case strings.HasPrefix(imp, module+"/"):
				if !allowed(all[row].ours, short(imp)) {
					t.Errorf("%s imports %s, and its row does not say so", name, short(imp))
				}
			case strings.Contains(strings.Split(imp, "/")[0], "."):
				if !slices.ContainsFunc(all[row].others, func(a string) bool { return imp == a || strings.HasPrefix(imp, a+"/") || strings.HasPrefix(imp, a+".") }) {
					t.Errorf("%s imports %s, and its row does not name it", name, imp)
				}
			}
		}
	}
	for row := range all {
		if !used[row] {
			t.Errorf("row %s has no package", row)
		}
	}
}

func TestServerStaysInItsRoom(t *testing.T) {
	t.Parallel()
	for name, p := range packages(t) {
		if name == "." || name == "embedded" || name == "internal/cli" || strings.HasPrefix(name, "release/") {
			continue
		}
		for _, d := range p.Deps {
			if strings.HasPrefix(d, "go.temporal.io/server") {
				t.Errorf("%s reaches %s", name, d)
				break
			}
		}
	}
}

func TestEnginesDoNotKnowTemporal(t *testing.T) {
	t.Parallel()
	found := packages(t)
	for _, name := range []string{"fault", "payload", "file", "gate", "decision", "config", "model", "agent", "parse"} {
		for _, d := range found[name].Deps {
			if strings.HasPrefix(d, "go.temporal.io/") {
				t.Errorf("%s reaches %s", name, d)
				break
			}
		}
	}
}

func TestWorkflowCodeStaysLight(t *testing.T) {
	t.Parallel()
	heavy := []string{"github.com/klippa-app", "github.com/tetratelabs", "github.com/openai", "github.com/anthropics", module + "/worker", module + "/parse", module + "/model", module + "/file"}
	found := packages(t)
	for _, name := range []string{"flow", "gate", "decision", "payload", "samples/hardship", "samples/feedback", "samples/approval"} {
		for _, d := range found[name].Deps {
			if slices.ContainsFunc(heavy, func(h string) bool { return strings.HasPrefix(d, h) }) {
				t.Errorf("%s reaches %s", name, d)
			}
		}
	}
	if len(found) < 15 {
		t.Errorf("go list found %v only", slices.Sorted(maps.Keys(found)))
	}
}

// TestSQLiteAndItsLibcBelongTogether: a libc of another version than sqlite's
// own go.mod names has lost tables in the past.
func TestSQLiteAndItsLibcBelongTogether(t *testing.T) {
	t.Parallel()
	version := func(dir, module string) string {
		cmd := exec.Command("go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", module)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list -m %s: %v", module, err)
		}
		return strings.TrimSpace(string(out))
	}
	_, dir, _ := strings.Cut(version(root, "modernc.org/sqlite"), " ")
	named, err := os.ReadFile(dir + "/go.mod")
	if err != nil {
		t.Skipf("the sources of modernc.org/sqlite are not here: %v", err)
	}
	want := regexp.MustCompile(`modernc.org/libc (v\S+)`).FindSubmatch(named)
	got, _, _ := strings.Cut(version(root, "modernc.org/libc"), " ")
	if want == nil || got != string(want[1]) {
		t.Errorf("modernc.org/libc is %s, sqlite names %s", got, want)
	}
}

// TestWallsAreHeld: a test that ARCHITECTURE.md names exists.
func TestWallsAreHeld(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(root + "/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(name)
		for _, m := range regexp.MustCompile(`func (Test\w+)\(`).FindAllStringSubmatch(string(source), -1) {
			found[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`Test[A-Z]\w+`).FindAllString(string(text), -1)
	if len(named) < 5 {
		t.Errorf("ARCHITECTURE.md names %v only", named)
	}
	for _, name := range named {
		if !found[name] {
			t.Errorf("ARCHITECTURE.md names %s, and there is no such test", name)
		}
	}
}
