package agent

import (
	"cmp"
	"context"
	"fmt"
	"image"
	_ "image/gif" // DecodeConfig knows the formats that are imported
	_ "image/jpeg"
	_ "image/png"
	"io"
	"strings"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/model"
	"github.com/holodeck-run/holodeck/payload"
)

const (
	maxImageBytes  = 20 << 20
	maxImagePixels = 40_000_000
)

// Opener opens a file by reference; *file.Source is one.
type Opener interface {
	Open(ctx context.Context, ref payload.FileInput) (*file.File, error)
}

func (a *Agent) images(ctx context.Context, refs []payload.FileInput) ([]model.Image, error) {
	var images []model.Image
	for _, ref := range refs {
		if ref.Type != "" && ref.Type != "image" {
			return nil, document(ref.Name(), ref.Type)
		}
		if a.spec.Files == nil {
			return nil, fault.New(fault.Config, "attach "+ref.Name(), "Give the worker a file source.", "this agent opens no files")
		}
		img, err := a.image(ctx, ref)
		if err != nil {
			return nil, err
		}
		images = append(images, img)
	}
	return images, nil
}

func (a *Agent) image(ctx context.Context, ref payload.FileInput) (model.Image, error) {
	f, err := a.spec.Files.Open(ctx, ref)
	if err != nil {
		return model.Image{}, err
	}
	defer func() { _ = f.Close() }()
	switch {
	case f.Type != "image":
		return model.Image{}, document(f.Name, cmp.Or(f.Type, f.MIME))
	case !strings.Contains(" image/png image/jpeg image/gif ", " "+f.MIME+" "):
		return model.Image{}, fault.New(fault.UnsupportedFileType, "attach "+f.Name, "Convert it to png or jpeg.", "png, jpeg and gif are sent to models, and this is %s", f.MIME)
	case f.Size > maxImageBytes:
		return model.Image{}, fault.New(fault.Config, "attach "+f.Name, "Give a smaller image.", "it has %d bytes, over the cap of %d", f.Size, maxImageBytes)
	}
	size, _, err := image.DecodeConfig(f.Reader())
	if err != nil {
		return model.Image{}, fault.New(fault.Document, "attach "+f.Name, "Give an intact image.", "the image is damaged: %w", err)
	}
	if int64(size.Width)*int64(size.Height) > maxImagePixels {
		return model.Image{}, fault.New(fault.Config, "attach "+f.Name, "Give a smaller image.", "it has %d × %d pixels, over the cap of %d", size.Width, size.Height, maxImagePixels)
	}
	data, err := io.ReadAll(f.Reader()) // no more than f.Size
	if err != nil {
		return model.Image{}, fmt.Errorf("read %s: %w", f.Name, err)
	}
	return model.Image{MIME: f.MIME, Data: data}, nil
}

func document(name, kind string) error {
	return fault.New(fault.Config, "attach "+name, "Call parse_document and put its markdown into the message or the context.", "files take images only, and this is %s", kind)
}
