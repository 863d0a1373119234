package cli

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/holodeck-run/holodeck/fault"
)

// watcher calls a function after files change.
type watcher struct{ done chan struct{} }

func (w *watcher) wait() {
	if w != nil {
		<-w.done
	}
}

// watchFolders calls changed, one call at a time, when a file that matches
// changes below dirs, and files have then been quiet for a moment.
func watchFolders(ctx context.Context, dirs []string, match func(name string) bool, changed func()) (*watcher, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		if err := n.Add(dir); err != nil {
			_ = n.Close()
			return nil, fault.New(fault.Config, "watch "+dir, "Watch fewer folders.", "%w", err)
		}
	}
	w := &watcher{make(chan struct{})}
	go func() {
		defer close(w.done)
		defer func() { _ = n.Close() }()
		quiet := time.NewTimer(time.Hour)
		quiet.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-n.Events:
				if !ok {
					return
				}
				if info, err := os.Stat(e.Name); err == nil && info.IsDir() && e.Has(fsnotify.Create) {
					_ = n.Add(e.Name) // a folder that is gone again needs no watching
				}
				if e.Op != fsnotify.Chmod && match(e.Name) {
					quiet.Reset(settle)
				}
			case <-n.Errors:
				quiet.Reset(settle) // events were lost: look again
			case <-quiet.C:
				changed()
			}
		}
	}()
	return w, nil
}

// watchConfig replaces the worker when a file of the configuration changes. A
// faulty edit keeps the last good binding and is told.
func (t *tool) watchConfig(ctx context.Context, s *stack) (*watcher, error) {
	if s.cfg == nil {
		return nil, nil
	}
	dirs := []string{s.cfg.Home.Dir}
	for _, name := range s.activities[0].Sources() { // the user's own come first
		if dir := filepath.Dir(filepath.Join(s.cfg.Home.Dir, name)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return watchFolders(ctx, dirs, isConfiguration, func() {
		next := *s
		if err := t.bindStack(&next); err != nil {
			t.note("The change is not taken up; the last good configuration goes on serving.")
			t.exit(ctx, err)
			return
		}
		s.cfg, s.activities = next.cfg, next.activities
		if err := s.serve(); err != nil {
			t.exit(ctx, err)
			return
		}
		t.note("%s: serving %s", time.Now().Format(time.TimeOnly), strings.Join(activityNames(s), ", "))
	})
}

func isConfiguration(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json", ".md", ".txt":
		return !strings.HasPrefix(filepath.Base(name), ".")
	default:
		return false
	}
}

// foldersBelow lists dir and the folders in it, but hidden ones and those of
// package managers.
func foldersBelow(dir string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if base := d.Name(); name != dir && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "__pycache__" || base == "venv") {
			return filepath.SkipDir
		}
		if len(dirs) == maxFolders {
			return fault.New(fault.Config, "watch "+dir, "Run in the folder of the program.", "there are more than %d folders below it", maxFolders)
		}
		dirs = append(dirs, name)
		return nil
	})
	return dirs, err
}

// maxFolders bounds what is watched: systems allow some thousands.
const maxFolders = 4000

// globs compiles patterns: * and ? stay inside a folder, ** crosses folders; a
// pattern without a slash matches the base name.
func globs(patterns []string, dir string) func(name string) bool {
	var tests []*regexp.Regexp
	for _, p := range patterns {
		if !strings.Contains(p, "/") {
			p = "**/" + p
		}
		expr := regexp.QuoteMeta(filepath.ToSlash(p))
		expr = strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`).Replace(expr)
		tests = append(tests, regexp.MustCompile("^"+expr+"$"))
	}
	return func(name string) bool {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return false
		}
		for _, test := range tests {
			if test.MatchString(filepath.ToSlash(rel)) {
				return true
			}
		}
		return false
	}
}
