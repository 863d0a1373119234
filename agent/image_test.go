package agent_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-run/holodeck/agent"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/payload"
)

// dot returns a picture of 3 × 2 pixels.
func dot(t *testing.T, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// vast returns a PNG whose header alone promises 50,000 × 50,000 pixels.
func vast() []byte {
	header := make([]byte, 13)
	binary.BigEndian.PutUint32(header, 50_000)
	binary.BigEndian.PutUint32(header[4:], 50_000)
	header[8], header[9] = 8, 2
	chunk := append([]byte("IHDR"), header...)
	out := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	out = append(out, chunk...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
}

func TestImagesAreChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	small := dot(t, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })
	contents := map[string][]byte{
		"a.png":       small,
		"b.jpg":       dot(t, func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }),
		"c.gif":       dot(t, func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) }),
		"named.txt":   small,
		"vast.png":    vast(),
		"damaged.png": small[:20],
		"long.png":    append(bytes.Clone(small), make([]byte, 20<<20)...),
		"d.webp":      append([]byte("RIFF\xc8\x00\x00\x00WEBPVP8 "), make([]byte, 200)...),
		"e.xyz":       {0, 1, 2, 3, 0xff},
		"note.txt":    []byte("only words"),
		"doc.pdf":     []byte("%PDF-1.4\n%%EOF"),
	}
	for name, data := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source, err := file.NewSource(file.Options{Roots: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		ref  payload.FileInput
		mime string
		kind fault.Kind
		says string
	}{
		"png":                      {payload.FileInput{Path: "a.png"}, "image/png", "", ""},
		"png that is declared":     {payload.FileInput{Path: "a.png", Type: "image"}, "image/png", "", ""},
		"jpeg":                     {payload.FileInput{Path: "b.jpg"}, "image/jpeg", "", ""},
		"gif":                      {payload.FileInput{Path: "c.gif"}, "image/gif", "", ""},
		"more pixels than allowed": {payload.FileInput{Path: "vast.png"}, "", fault.Config, "50000 × 50000 pixels"},
		"more bytes than allowed":  {payload.FileInput{Path: "long.png"}, "", fault.Config, "over the cap of 20971520"},
		"a damaged one":            {payload.FileInput{Path: "damaged.png"}, "", fault.Document, "damaged"},
		"a format of no provider":  {payload.FileInput{Path: "d.webp"}, "", fault.UnsupportedFileType, "Convert it to png or jpeg"},
		"nobody knows what":        {payload.FileInput{Path: "e.xyz"}, "", fault.Config, "this is application/octet-stream"},
		"a document by content":    {payload.FileInput{Path: "note.txt"}, "", fault.Config, "parse_document"},
		"a document by type":       {payload.FileInput{Path: "doc.pdf", Type: "pdf"}, "", fault.Config, "parse_document"},
		"one that is not there":    {payload.FileInput{Path: "none.png"}, "", fault.FileNotFound, "no such file"},
		"one outside":              {payload.FileInput{Path: "../a.png"}, "", fault.FileNotFound, "outside"},
		"no reference":             {payload.FileInput{}, "", fault.Config, "exactly one"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := says(`{"n":1}`)
			a := bound(s, func(spec *agent.Spec) { spec.Files = source })
			_, err := a.Invoke(t.Context(), payload.AgentInput{Message: "?", Files: []payload.FileInput{c.ref}})
			if c.kind == "" {
				if err != nil {
					t.Fatal(err)
				}
				img := s.asked[0].Messages[0].Images
				if len(img) != 1 || img[0].MIME != c.mime || !bytes.Equal(img[0].Data, contents[c.ref.Path]) {
					t.Errorf("%d images were sent", len(img))
				}
				return
			}
			e, ok := fault.As(err)
			if !ok || e.Kind != c.kind || e.Retryable() || !strings.Contains(e.Message(), c.says) {
				t.Errorf("Invoke() = %v, want %s with %q", err, c.kind, c.says)
			}
			if len(s.asked) > 0 {
				t.Error("the model was asked all the same")
			}
		})
	}
}

func TestAnAgentWithoutFilesRefusesThem(t *testing.T) {
	t.Parallel()
	_, err := bound(says(), nil).Invoke(t.Context(), payload.AgentInput{Message: "?", Files: []payload.FileInput{{Path: "a.png"}}})
	if !fault.Is(err, fault.Config) || !strings.Contains(err.Error(), "opens no files") {
		t.Errorf("Invoke() = %v", err)
	}
}
