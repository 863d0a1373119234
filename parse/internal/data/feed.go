package data

import (
	"context"
	"html"
	"strings"
	"time"

	"github.com/holodeck-run/holodeck/parse/internal/block"
	"github.com/holodeck-run/holodeck/parse/internal/web"
	"github.com/holodeck-run/holodeck/parse/internal/xmlscan"
)

// entry is what a feed says of itself, or of one thing it announces.
type entry struct {
	title, link, author, date string
	body                      string // the longest of its descriptions, which may be HTML
}

type feed struct {
	entry
	items []entry
}

func (f *feed) any() bool { return f.title != "" || len(f.items) > 0 }

// readFeed reads RSS in its versions, and Atom.
func readFeed(ctx context.Context, s string) (*feed, error) {
	var f feed
	scan := xmlscan.New(strings.NewReader(s))
	for n := 0; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		k, err := scan.Next()
		switch {
		case err != nil:
			return nil, damaged(err)
		case k == xmlscan.EOF:
			return &f, nil
		case k != xmlscan.Start:
		case scan.Is("rss"), scan.Is("feed"), scan.Is("RDF"), scan.Is("channel"):
		case scan.Is("item"), scan.Is("entry"):
			var e entry
			if err := scan.Each(func() error { return e.read(scan) }); err != nil {
				return nil, damaged(err)
			}
			f.items = append(f.items, e)
		default:
			if err := f.read(scan); err != nil {
				return nil, damaged(err)
			}
		}
	}
}

// read takes what the element just begun says, and reads to its end.
func (e *entry) read(s *xmlscan.Scanner) error {
	name := s.Name()
	if name == "link" {
		href, rel := s.Attr("href"), s.Attr("rel")
		v, err := s.Content()
		if href == "" {
			href = strings.TrimSpace(v)
		}
		if rel == "" || rel == "alternate" {
			first(&e.link, href)
		}
		return err
	}
	if name == "author" || name == "creator" {
		v, err := s.Content()
		first(&e.author, strings.Join(strings.Fields(v), " "))
		return err
	}
	var into *string
	switch name {
	case "title":
		into = &e.title
	case "pubDate", "published", "date", "issued":
		into = &e.date
	case "updated", "lastBuildDate", "modified":
		if e.date != "" {
			return s.Skip()
		}
		into = &e.date
	case "description", "summary", "content", "encoded", "subtitle", "tagline":
		v, err := s.Content()
		if len(v) > len(e.body) {
			e.body = v
		}
		return err
	default:
		return s.Skip()
	}
	v, err := s.Content()
	first(into, strings.TrimSpace(v))
	return err
}

func first(into *string, v string) {
	if *into == "" {
		*into = v
	}
}

func (f *feed) put(ctx context.Context, sink block.Sink) error {
	if err := f.entry.put(ctx, 1, sink); err != nil {
		return err
	}
	for _, e := range f.items {
		if err := e.put(ctx, 2, sink); err != nil {
			return err
		}
	}
	return nil
}

func (e *entry) put(ctx context.Context, level int, sink block.Sink) error {
	title := strings.Join(strings.Fields(html.UnescapeString(e.title)), " ")
	if title == "" {
		title = "(untitled)"
	}
	if err := sink.Put(block.Heading{Level: level, Text: block.Plain(title)}); err != nil {
		return err
	}
	var about block.Text
	for _, part := range []block.Run{{Text: day(e.date)}, {Text: e.author}, {Text: e.link, Link: e.link}} {
		if part.Text == "" {
			continue
		}
		if len(about) > 0 {
			about = append(about, block.Run{Text: " · "})
		}
		about = append(about, part)
	}
	if !about.Blank() {
		if err := sink.Put(block.Paragraph{Text: about}); err != nil {
			return err
		}
	}
	if strings.TrimSpace(e.body) == "" {
		return nil
	}
	return web.Fragment(ctx, e.body, under{sink, level})
}

// under puts the headings of a description below the entry's own.
type under struct {
	block.Sink
	level int
}

// Put implements [block.Sink].
func (u under) Put(b block.Block) error {
	if h, ok := b.(block.Heading); ok {
		h.Level = min(h.Level+u.level, 6)
		b = h
	}
	return u.Sink.Put(b)
}

// day writes a moment as ISO does; what is none stays as it is.
func day(s string) string {
	for _, layout := range []string{
		time.RFC3339, time.RFC1123Z, time.RFC1123,
		"Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format("2006-01-02 15:04:05 -07:00")
		}
	}
	return s
}
