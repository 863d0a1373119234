package data

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/pack"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// XML puts a feed's entries at sink, and any other XML whole, as code.
func XML(ctx context.Context, data []byte, sink block.Sink) error {
	charset := ""
	if m := regexp.MustCompile(`^\s*<\?xml[^>]*encoding\s*=\s*["']([-\w:]+)`).FindSubmatch(data[:min(len(data), 512)]); m != nil {
		charset = string(m[1])
	}
	s, err := decoded(ctx, data, charset)
	if err != nil {
		return err
	}
	switch root(s) {
	case "rss", "feed", "RDF":
		f, err := readFeed(ctx, s)
		if err != nil {
			return err
		}
		if f.any() {
			return f.put(ctx, sink)
		}
	}
	return sink.Put(block.Code{Language: "xml", Text: strings.TrimSpace(s)})
}

// root returns the name of the first element.
func root(s string) string {
	scan := xmlscan.New(strings.NewReader(s))
	for {
		switch k, err := scan.Next(); {
		case err != nil, k == xmlscan.EOF:
			return ""
		case k == xmlscan.Start:
			return scan.Name()
		}
	}
}

// damaged calls errors of the XML damage; others pass.
func damaged(err error) error {
	for _, of := range []error{xmlscan.ErrDeep, xmlscan.ErrTag, xmlscan.ErrTruncated} {
		if errors.Is(err, of) {
			return pack.Damaged(err)
		}
	}
	return err
}
