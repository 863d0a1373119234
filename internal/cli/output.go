package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/term"
)

// printJSON prints a result, indented, digits and order kept.
func (t *tool) printJSON(raw json.RawMessage) error {
	var b bytes.Buffer
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(t.Stdout, b.String())
	return err
}

// terminal says whether w is one.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// styled wraps text in an ANSI style, on a terminal that wants colour.
func (t *tool) styled(style, text string) string {
	if _, no := t.env("NO_COLOR"); no || !terminal(t.Stderr) || t.env.Get("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// quietLog keeps the last of a log in memory, to be shown if a start fails.
func quietLog() (*slog.Logger, func(io.Writer)) {
	tail := &tailWriter{limit: 16 << 10}
	logger := slog.New(slog.NewTextHandler(tail, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return logger, tail.dump
}

// tailWriter holds the last bytes written to it.
type tailWriter struct {
	mu    sync.Mutex
	limit int
	data  []byte
}

func (w *tailWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.data = append(w.data, p...)
	if over := len(w.data) - w.limit; over > 0 {
		w.data = append(w.data[:0], w.data[over:]...)
	}
	return len(p), nil
}

func (w *tailWriter) dump(to io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = to.Write(w.data)
}
