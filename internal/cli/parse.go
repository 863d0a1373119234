package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/parse"
	"github.com/holodeck-run/holodeck/payload"
)

func (t *tool) parseCommand() *cli.Command {
	return &cli.Command{
		Name:      "parse",
		Usage:     "turn documents into markdown on this machine, no server needed",
		ArgsUsage: "FILE|DIR|URL|- …",
		Description: `Prints the markdown of one document; of several, each below a line that names it,
or into files of DIR with -o. Folders are read whole, without hidden files, those of
types that cannot be read, and DIR. A bad file does not stop the others: it is told,
and the exit code is 1. "-" reads standard input.

Reads: ` + strings.Join(parse.Supported(), ", ") + `.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "pages", Usage: "1-based `PAGES`, such as 1-3,7"},
			&cli.StringFlag{Name: "sheet", Usage: "`SHEET` of a workbook, by name or 1-based number"},
			&cli.StringFlag{Name: "range", Usage: "`RANGE` of a sheet: A1:C9, A:C, 2:10 or a defined name"},
			&cli.StringFlag{Name: "type", Usage: "read as this `TYPE` instead of what the content says"},
			&cli.StringFlag{Name: "password", Usage: "`PASSWORD` of an encrypted document"},
			&cli.StringFlag{Name: "pdf-engine", Usage: "read PDFs by `ENGINE`: pdfium, or pure, which needs no WebAssembly but gives text only", Value: "pdfium"},
			&cli.BoolFlag{Name: "json", Usage: "print the whole result as JSON, one line a document"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write one file a document into `DIR`, names mirrored"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "read `N` documents at a time", Value: runtime.NumCPU()},
		},
		Action: t.parse,
	}
}

// document is one thing to parse.
type document struct {
	name   string // as the user named it
	mirror string // where its output goes below -o, without the extension
	walked bool   // found in a folder, not named
}

func (t *tool) parse(c *cli.Context) error {
	if c.NArg() == 0 {
		return wrongUsage("Write holodeck parse FILE.", "parse needs a file, a folder, a url or -")
	}
	ref := payload.FileInput{Type: c.String("type"), Sheet: c.String("sheet"), Range: c.String("range")}
	var err error
	if ref.Pages, err = parsePages(c.String("pages")); err != nil {
		return err
	}
	if c.Int("jobs") < 1 {
		return wrongUsage("Give a number from 1.", "--jobs is %d", c.Int("jobs"))
	}
	engine := c.String("pdf-engine")
	if engine != "pdfium" && engine != "pure" {
		return wrongUsage("Write --pdf-engine pdfium or --pdf-engine pure.", "--pdf-engine %s is none", engine)
	}
	documents, err := t.documents(c.Args().Slice(), c.String("output"))
	if err != nil {
		return err
	}
	p := &parseJob{
		t: t, ref: ref, password: c.String("password"), json: c.Bool("json"), dir: c.String("output"),
		parser: parse.New(parse.Options{CacheDir: t.cacheDir(), Instances: c.Int("jobs"), PureGo: engine == "pure"}), many: len(documents) > 1,
	}
	defer func() { _ = p.parser.Close() }()
	return p.all(c.Context, documents, c.Int("jobs"))
}

// parsePages reads "1-3,7": order and repeats are kept.
func parsePages(s string) (payload.Pages, error) {
	var pages payload.Pages
	if s == "" {
		return nil, nil
	}
	for _, part := range strings.Split(s, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(strings.TrimSpace(low))
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(strings.TrimSpace(high))
		}
		if err != nil || from < 1 || to < from || to-from > 100_000 {
			return nil, wrongUsage("Write pages from 1, such as 1-3,7.", "--pages %s is no list of pages", s)
		}
		for n := from; n <= to; n++ {
			pages = append(pages, n)
		}
	}
	return pages, nil
}

// documents expands folders, sorted; hidden files and the folder that the
// output goes to are left out.
func (t *tool) documents(names []string, output string) ([]document, error) {
	var out []document
	for _, name := range names {
		switch {
		case name == "-":
			out = append(out, document{name: name, mirror: "stdin"})
			continue
		case isURL(name):
			out = append(out, document{name: name, mirror: urlName(name)})
			continue
		}
		info, err := os.Stat(t.path(name))
		if err != nil || !info.IsDir() {
			out = append(out, document{name: name, mirror: filepath.Base(name)})
			continue
		}
		below := "" // of one folder the files mirror directly, of several each has its own
		if len(names) > 1 {
			below = filepath.Base(t.absolute(name))
		}
		found, err := t.walk(name, output)
		if err != nil {
			return nil, fault.New(fault.FileNotFound, "read folder "+name, "Name a folder that can be read.", "%w", fault.Cause(err))
		}
		for _, rel := range found {
			out = append(out, document{filepath.Join(name, rel), filepath.Join(below, rel), true})
		}
	}
	return out, nil
}

// walk returns the files of a folder, relative to it.
func (t *tool) walk(name, output string) (found []string, err error) {
	root := t.path(name)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && path != root
		own := output != "" && path != root && t.absolute(path) == t.absolute(output)
		if d.IsDir() && (hidden || own) {
			return filepath.SkipDir
		}
		if rel, err := filepath.Rel(root, path); err == nil && !hidden && d.Type().IsRegular() {
			found = append(found, rel)
		}
		return nil
	})
	return found, err
}

func urlName(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return "document"
	}
	return filepath.Base(u.Path)
}

// parseJob is one run of holodeck parse.
type parseJob struct {
	t        *tool
	ref      payload.FileInput
	password string
	json     bool
	dir      string
	parser   *parse.Parser
	many     bool
	failed   int // this and the next two are print's alone
	written  int
	leftOut  []string
}

// parsed is one finished document.
type parsed struct {
	doc payload.Document
	err error
}

func (p *parseJob) all(ctx context.Context, documents []document, jobs int) error {
	documents, err := p.distinct(documents)
	if err != nil {
		return err
	}
	bar := p.bar(len(documents))
	results := make([]chan parsed, len(documents))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(jobs + 1)
	for i := range results {
		results[i] = make(chan parsed, 1)
	}
	group.Go(func() error { return p.print(ctx, documents, results, bar) })
	for i, d := range documents {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			doc, err := p.one(ctx, d)
			results[i] <- parsed{doc, err}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if p.dir != "" && p.written > 0 {
		p.t.note("Wrote %s to %s.", counted(p.written, "document"), p.dir)
	}
	if n := len(p.leftOut); n > 0 {
		p.t.note("Left out %d of %d files, whose types cannot be read: %s.", n, len(documents), some(p.leftOut))
	}
	if p.failed > 0 && p.many {
		p.t.note("%d of %d documents could not be read.", p.failed, len(documents))
	}
	if p.failed > 0 {
		return silent{exitFailed}
	}
	return nil
}

// distinct gives documents that would be written to one file the whole of
// their names below -o, drops what is named twice, and refuses what is left.
func (p *parseJob) distinct(documents []document) ([]document, error) {
	if p.dir == "" {
		return documents, nil
	}
	times := map[string]int{}
	for _, d := range documents {
		times[d.mirror]++
	}
	seen := map[string]string{}
	var out []document
	for _, d := range documents {
		if times[d.mirror] > 1 && d.name != "-" && !isURL(d.name) {
			d.mirror = inside(d.name)
		}
		other, taken := seen[d.mirror]
		if taken && p.t.absolute(other) == p.t.absolute(d.name) {
			continue
		}
		if taken {
			return nil, wrongUsage("Parse them in two runs, each with a folder of its own.", "%s and %s would both be written to %s", other, d.name, p.target(d))
		}
		seen[d.mirror] = d.name
		out = append(out, d)
	}
	return out, nil
}

// inside makes any path one that stays below a folder.
func inside(name string) string {
	return strings.TrimPrefix(filepath.Clean("/"+filepath.ToSlash(name)), string(filepath.Separator))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// some lists the first few names.
func some(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func (p *parseJob) bar(n int) *progressbar.ProgressBar {
	if n < 2 || !terminal(p.t.Stderr) || p.dir == "" && terminal(p.t.Stdout) {
		return nil
	}
	return progressbar.NewOptions(n, progressbar.OptionSetWriter(p.t.Stderr), progressbar.OptionSetDescription("parsing"),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))
}

// print writes results in the order of the documents, as they come.
func (p *parseJob) print(ctx context.Context, documents []document, results []chan parsed, bar *progressbar.ProgressBar) error {
	for i, d := range documents {
		var r parsed
		select {
		case r = <-results[i]:
		case <-ctx.Done():
			return ctx.Err()
		}
		if bar != nil {
			_ = bar.Add(1) // a bar that cannot be drawn is no reason to stop
		}
		if r.err != nil {
			if errors.Is(r.err, context.Canceled) {
				return r.err
			}
			if d.walked && p.ref.Type == "" && fault.Is(r.err, fault.UnsupportedFileType) {
				p.leftOut = append(p.leftOut, d.name)
				continue
			}
			p.aside(bar, func() { p.tell(d, r.err) })
			continue
		}
		for _, w := range r.doc.Metadata.Warnings {
			p.aside(bar, func() { p.t.note("%s: %s", d.name, sentence(w)) })
		}
		if err := p.write(d, r.doc); err != nil {
			return err
		}
	}
	return nil
}

// aside says something without tearing the bar.
func (p *parseJob) aside(bar *progressbar.ProgressBar, say func()) {
	if bar != nil {
		_ = bar.Clear() // as above
	}
	say()
}

func (p *parseJob) tell(d document, err error) {
	p.failed++
	text, hint, kind := err.Error(), "", ""
	if e, ok := fault.As(err); ok {
		text, hint, kind = e.Error(), e.Hint, string(e.Kind)+": "
	}
	if p.json {
		data, jsonErr := payload.Marshal(map[string]any{"source": d.name, "error": map[string]string{"type": strings.TrimSuffix(kind, ": "), "message": text, "hint": hint}})
		if jsonErr == nil {
			fmt.Fprintln(p.t.Stdout, string(data))
		}
	}
	if p.many {
		kind = d.name + ": " + kind
	}
	p.t.complain(kind+text, hint)
}

func (p *parseJob) write(d document, doc payload.Document) error {
	text := strings.TrimRight(doc.MarkdownContent, "\n") + "\n"
	if p.json {
		data, err := payload.Marshal(doc)
		if err != nil {
			return err
		}
		text = string(data) + "\n"
	}
	if p.dir != "" {
		p.written++
		return writeFile(p.t.path(p.target(d)), text)
	}
	if p.many && !p.json {
		text = "<!-- " + strings.ReplaceAll(d.name, "--", "- -") + " -->\n\n" + text + "\n"
	}
	_, err := io.WriteString(p.t.Stdout, text)
	return err
}

func (p *parseJob) target(d document) string {
	extension := ".md"
	if p.json {
		extension = ".json"
	}
	return filepath.Join(p.dir, d.mirror+extension)
}

// writeFile writes a file so that no reader sees half of it.
func writeFile(name, text string) error {
	fail := func(err error) error {
		return fault.New(fault.Config, "write "+name, "Name a folder that can be written with -o.", "%w", fault.Cause(err))
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fail(err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".holodeck-*")
	if err != nil {
		return fail(err)
	}
	_, err = tmp.WriteString(text)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fail(err)
	}
	return nil
}

// one parses one document. Its user is the one who typed the name, so no root
// confines it and its own host is trusted.
func (p *parseJob) one(ctx context.Context, d document) (payload.Document, error) {
	ref := p.ref
	f, err := p.open(ctx, d.name, &ref)
	if err != nil {
		return payload.Document{}, err
	}
	defer func() { _ = f.Close() }()
	return p.parser.Parse(ctx, parse.Request{Ref: ref, File: f, Password: p.password})
}

func (p *parseJob) open(ctx context.Context, name string, ref *payload.FileInput) (*file.File, error) {
	switch {
	case name == "-":
		data, err := io.ReadAll(io.LimitReader(p.t.Stdin, file.MaxBytes+1))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		if len(data) > file.MaxBytes {
			return nil, fault.New(fault.Document, "read standard input", "Give a smaller document.", "it has more than %d bytes", file.MaxBytes)
		}
		ref.Path = "stdin"
		return file.New("stdin", ref.Type, bytes.NewReader(data), int64(len(data)))
	case isURL(name):
		ref.URL = name
		var hosts []string
		if u, err := url.Parse(name); err == nil {
			hosts = []string{u.Hostname(), u.Host}
		}
		source, err := file.NewSource(file.Options{AllowHosts: hosts})
		if err != nil {
			return nil, err
		}
		return source.Open(ctx, *ref)
	default:
		ref.Path = name
		if faults := ref.Faults(); faults != nil {
			return nil, fault.New(fault.Config, "", "", "%s", strings.Join(faults, "; "))
		}
		return file.OpenLocal(p.t.path(name), ref.Type)
	}
}
