package file_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/payload"
)

func source(t *testing.T, o file.Options) *file.Source {
	t.Helper()
	s, err := file.NewSource(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPathsStayUnderTheRoots(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, second := filepath.Join(dir, "root"), filepath.Join(dir, "second")
	write(t, filepath.Join(root, "in.txt"), "inside")
	write(t, filepath.Join(second, "other.txt"), "second")
	secret := write(t, filepath.Join(dir, "secret.txt"), "secret")
	for _, link := range [][2]string{{secret, "out.txt"}, {"../secret.txt", "rel.txt"}, {"in.txt", "fine.txt"}, {"loop.txt", "loop.txt"}} {
		if err := os.Symlink(link[0], filepath.Join(root, link[1])); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Link(secret, filepath.Join(root, "hard.txt")); err != nil {
		t.Skip(err)
	}
	s := source(t, file.Options{Roots: []string{root, second}})
	cases := map[string]string{ // path → text, or the fault's word
		"in.txt": "inside", filepath.Join(root, "in.txt"): "inside", "fine.txt": "inside", "./in.txt": "inside",
		"other.txt": "second", filepath.Join(second, "other.txt"): "second",
		"../secret.txt": "!outside", secret: "!outside", "out.txt": "!outside", "rel.txt": "!outside",
		"hard.txt": "!hard links", "none.txt": "!no such file", "loop.txt": "!", ".": "!folder", "in.txt/x": "!", "/etc/passwd": "!outside",
	}
	for path, want := range cases {
		f, err := s.Open(t.Context(), payload.FileInput{Path: path})
		if word, isFault := strings.CutPrefix(want, "!"); isFault {
			if !fault.Is(err, fault.FileNotFound) || !strings.Contains(err.Error(), word) {
				t.Errorf("open %s = %v, want FileNotFoundError with %q", path, err, word)
			}
			continue
		}
		if err != nil {
			t.Errorf("open %s = %v", path, err)
			continue
		}
		got, err := io.ReadAll(f.Reader())
		if string(got) != want || err != nil {
			t.Errorf("open %s reads %q, want %q", path, got, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestANamedPipeDoesNotHang(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no named pipes in folders")
	}
	dir := t.TempDir()
	if err := makeFIFO(filepath.Join(dir, "pipe")); err != nil {
		t.Skip(err)
	}
	_, err := source(t, file.Options{Roots: []string{dir}}).Open(t.Context(), payload.FileInput{Path: "pipe"})
	if !fault.Is(err, fault.FileNotFound) || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("open of a named pipe = %v, want FileNotFoundError", err)
	}
}

func TestReferencesAndRoots(t *testing.T) {
	t.Parallel()
	none := source(t, file.Options{})
	if _, err := none.Open(t.Context(), payload.FileInput{Path: "a"}); !fault.Is(err, fault.FileNotFound) {
		t.Errorf("a path without roots = %v", err)
	}
	if _, err := none.Open(t.Context(), payload.FileInput{Path: "a", URL: "http://b"}); !fault.Is(err, fault.Config) {
		t.Errorf("path and url = %v", err)
	}
	if _, err := none.Open(t.Context(), payload.FileInput{URL: "artifact://1"}); !fault.Is(err, fault.Config) {
		t.Errorf("an artifact without a store = %v", err)
	}
	if _, err := file.NewSource(file.Options{Roots: []string{filepath.Join(t.TempDir(), "none")}}); !fault.Is(err, fault.Config) {
		t.Errorf("a root that is not there = %v", err)
	}
}

func officeFile(t *testing.T, part string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"[Content_Types].xml", part} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, "<x/>"); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTypesAreToldFromTheContent(t *testing.T) {
	t.Parallel()
	word := officeFile(t, "word/document.xml")
	cases := []struct{ name, declared, content, want string }{
		{"a.pdf", "", "%PDF-1.4\n", "pdf"},
		{"a.bin", "", "junk\n%PDF-1.4\n", "pdf"},
		{"a.docx", "word", word, "word"},
		{"a.xlsx", "", officeFile(t, "xl/workbook.xml"), "excel"},
		{"a.pptx", "", officeFile(t, "ppt/presentation.xml"), "powerpoint"},
		{"renamed.pdf", "pdf", word, "!declared pdf, but its content is word"},
		{"renamed.docx", "word", "plain text", "!declared word, but its content is text"},
		{"a.csv", "", "a,b\n1,2\n", "csv"},
		{"a.csv", "text", "a,b\n1,2\n", "text"},
		{"a.txt", "csv", "a,b\n1,2\n", "csv"},
		{"a.txt", "pdf", "text", "!declared pdf"},
		{"a.png", "", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image"},
		{"a.png", "text", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "!declared text, but its content is image"},
		{"a.zip", "", officeFile(t, "readme"), ""},
		{"a.zip", "word", officeFile(t, "readme"), "!declared word, but its content is application/zip"},
		{"a.json", "", `{"a":1}`, "json"},
		{"page", "", "<!DOCTYPE html><html></html>", "html"},
		{"latin.txt", "", "za\xbf\xf3\xb3\xe6", "text"},
		{"utf16.txt", "", "h\x00i\x00 \x00t\x00h\x00e\x00r\x00e\x00", "text"},
		{"noise.pdf", "pdf", "\x00\x01\x02\x03\x04\x05\x06\x07\x08", "pdf"}, // the reader will call it damaged
		{"a mail without an ending", "", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat("\x00", 900) + "_\x00_\x00s\x00u\x00b\x00s\x00t\x00g\x001\x00.\x000\x00_\x00", "email"},
		{"noise.bin", "", "\x00\x01\x02\x03\x04\x05\x06\x07\x08", ""},
		{"empty.txt", "", "", "!the file is empty"},
		{"empty.pdf", "pdf", "", "!the file is empty"},
	}
	for _, c := range cases {
		f, err := file.New(c.name, c.declared, strings.NewReader(c.content), int64(len(c.content)))
		if word, isFault := strings.CutPrefix(c.want, "!"); isFault {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s as %q = %v, want %q", c.name, c.declared, err, word)
			}
			continue
		}
		if err != nil || f.Type != c.want {
			t.Errorf("%s as %q = %+v (%v), want type %q", c.name, c.declared, f, err, c.want)
		}
	}
}

// answer is a server for one test.
func answer(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// open fetches from a server of the test, which the address guard would
// refuse.
func open(t *testing.T, s *httptest.Server, path string, o file.Options) (*file.File, error) {
	t.Helper()
	o.AllowHosts = []string{strings.TrimPrefix(s.URL, "http://")}
	o.TempDir = t.TempDir()
	f, err := source(t, o).Open(t.Context(), payload.FileInput{URL: s.URL + path})
	if err != nil {
		left, _ := os.ReadDir(o.TempDir)
		if len(left) > 0 {
			t.Errorf("%s left %v behind", path, left)
		}
	}
	return f, err
}

func TestDownloads(t *testing.T) {
	t.Parallel()
	s := answer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="../../rows.csv"`)
		fmt.Fprint(w, "a,b\n1,2\n")
	})
	f, err := open(t, s, "/x?sig=secret", file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f.Reader())
	if f.Name != "rows.csv" || f.Type != "csv" || string(text) != "a,b\n1,2\n" || err != nil {
		t.Errorf("file = %+v with %q, want rows.csv of type csv", f, text)
	}
	if err := f.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestDownloadFaults(t *testing.T) {
	t.Parallel()
	statuses := map[int]bool{ // retryable
		400: false, 401: false, 403: false, 404: false, 410: false, 408: true, 425: true, 429: true, 500: true, 503: true,
	}
	for status, retry := range statuses {
		s := answer(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
		})
		_, err := open(t, s, "/x?sig=secret", file.Options{})
		e, ok := fault.As(err)
		if !ok || e.Kind != fault.Download || e.Retryable() != retry {
			t.Errorf("%d = %v, want a DownloadError with retryable %v", status, err, retry)
			continue
		}
		if strings.Contains(e.Message(), "secret") {
			t.Errorf("%d shows the query: %s", status, e.Message())
		}
		if retry && e.RetryAfter != 7*time.Second {
			t.Errorf("%d retries after %s, want 7s", status, e.RetryAfter)
		}
	}
}

func TestDownloadsAreCapped(t *testing.T) {
	t.Parallel()
	for name, declare := range map[string]bool{"declared": true, "streamed": false} {
		s := answer(t, func(w http.ResponseWriter, _ *http.Request) {
			if declare {
				w.Header().Set("Content-Length", "2000")
			}
			_, _ = io.WriteString(w, strings.Repeat("x", 2000))
		})
		_, err := open(t, s, "/x", file.Options{MaxBytes: 1000})
		if e, ok := fault.As(err); !ok || e.Kind != fault.Download || e.Retryable() || !strings.Contains(err.Error(), "over the cap of 1000") {
			t.Errorf("%s = %v, want a final DownloadError that names the cap", name, err)
		}
	}
	cut := answer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2000")
		_, _ = io.WriteString(w, "short")
	})
	if e, ok := fault.As(second(open(t, cut, "/x", file.Options{}))); !ok || !e.Retryable() {
		t.Errorf("a cut download = %v, want a retryable DownloadError", e)
	}
}

func second[T any](_ T, err error) error { return err }

func TestInnerAddressesAreRefused(t *testing.T) {
	t.Parallel()
	hits := 0
	inner := answer(t, func(http.ResponseWriter, *http.Request) { hits++ })
	outer := answer(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inner.URL, http.StatusFound) })
	guarded := source(t, file.Options{})
	for _, raw := range []string{inner.URL, "http://localhost:" + inner.URL[strings.LastIndex(inner.URL, ":")+1:], "http://[::1]:80/", "http://10.0.0.1/", "http://169.254.169.254/latest", "http://0.0.0.0/", "http://2130706433/"} {
		_, err := guarded.Open(t.Context(), payload.FileInput{URL: raw})
		if e, ok := fault.As(err); !ok || e.Kind != fault.Download || e.Retryable() && !strings.Contains(err.Error(), "lookup") {
			t.Errorf("%s = %v, want a final DownloadError", raw, err)
		}
	}
	if _, err := open(t, outer, "/", file.Options{}); !fault.Is(err, fault.Download) {
		t.Errorf("a redirect inwards = %v, want a DownloadError", err)
	}
	if hits > 0 {
		t.Errorf("the inner server was reached %d times", hits)
	}
	for _, raw := range []string{"ftp://example.com/x", "file:///etc/passwd", "http://user:pass@example.com/", "http:///x", "http://%zz"} {
		_, err := guarded.Open(t.Context(), payload.FileInput{URL: raw})
		if e, ok := fault.As(err); !ok || e.Kind != fault.Download || e.Retryable() {
			t.Errorf("%s = %v, want a final DownloadError", raw, err)
		}
	}
}

func TestTooManyRedirectsEnd(t *testing.T) {
	t.Parallel()
	hits := 0
	s := answer(t, func(w http.ResponseWriter, r *http.Request) {
		hits++
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	_, err := open(t, s, "/", file.Options{})
	if e, ok := fault.As(err); !ok || e.Retryable() || !strings.Contains(err.Error(), "more than 5 redirects") || hits != 6 {
		t.Errorf("%d requests, then %v; want 6 and a final DownloadError", hits, err)
	}
}

func TestACancelledDownloadIsTheCallersEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := answer(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	src := source(t, file.Options{AllowHosts: []string{"127.0.0.1"}})
	if _, err := src.Open(ctx, payload.FileInput{URL: s.URL}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open = %v, want context.Canceled", err)
	}
}
