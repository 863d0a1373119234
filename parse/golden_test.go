package parse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/parse"
	"github.com/holodeck-run/holodeck/payload"
)

var update = flag.Bool("update", false, "write what the golden cases give as what they must give")

// shared is the parser of all tests: PDFium starts once.
var shared = parse.New(parse.Options{CacheDir: cacheDir(), Instances: 2})

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "holodeck", "pdfium")
}

func open(t testing.TB, path string) *file.File {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return wrap(t, filepath.Base(path), data)
}

func wrap(t testing.TB, name string, data []byte) *file.File {
	t.Helper()
	f, err := file.New(name, "", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEveryCaseGivesItsMarkdown(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*/in.*")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, in := range cases {
		dir := filepath.Dir(in)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			doc, err := shared.Parse(t.Context(), parse.Request{Ref: refOf(t, dir), File: open(t, in)})
			if err != nil {
				t.Fatal(err)
			}
			got := doc.MarkdownContent
			for _, w := range doc.Metadata.Warnings {
				got += "\n[warning] " + w + "\n"
			}
			want := filepath.Join(dir, "want.md")
			if *update {
				if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), got); diff != "" {
				t.Errorf("markdown (-want +got):\n%s", diff)
			}
		})
	}
}

func refOf(t *testing.T, dir string) payload.FileInput {
	var ref payload.FileInput
	data, err := os.ReadFile(filepath.Join(dir, "ref.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return ref
	}
	if err == nil {
		err = json.Unmarshal(data, &ref)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ref
}
