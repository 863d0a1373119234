package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/holodeck-run/holodeck/embedded"
	"github.com/holodeck-run/holodeck/fault"
)

// Default ports of a local stack.
const (
	defaultPort = 7233
	uiOffset    = 1000
)

func (t *tool) devCommand() *cli.Command {
	return &cli.Command{
		Name:      "dev",
		Usage:     "run a local stack: Temporal server, Web UI and worker",
		ArgsUsage: "[-- COMMAND…]",
		Description: `Starts a Temporal server on a file under .holodeck/, its Web UI, and a worker that
serves parse_document, the nodes of worker.yaml and the samples. Work survives a
restart. Agent, gate and configuration files are watched: a change replaces the
worker, a faulty one is told and the last good one goes on serving.

With -- COMMAND it also runs your own worker or client program, with
TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and HOLODECK_TASK_QUEUE set, and ends when
it ends; with --watch GLOB it is restarted when a matching file changes.`,
		Flags:  devFlags(),
		Action: t.dev,
	}
}

func devFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Usage: "worker.yaml `FILE`; default: the one of this folder, if there is one"},
		&cli.StringFlag{Name: "task-queue", Aliases: []string{"t"}, Usage: "task `QUEUE` of the worker"},
		&cli.StringSliceFlag{Name: "root", Usage: "one more `DIR` that file paths may point into; may be repeated"},
		&cli.StringSliceFlag{Name: "watch", Usage: "restart COMMAND when a file that matches `GLOB` changes; may be repeated"},
		&cli.StringFlag{Name: "record", Usage: "keep the answers of real models in this `DIR`, for the replay provider"},
		&cli.BoolFlag{Name: "json", Usage: "print one line of JSON on standard output when ready"},
		&cli.BoolFlag{Name: "ephemeral", Usage: "keep everything in memory"},
		&cli.StringFlag{Name: "db-filename", Aliases: []string{"f"}, Usage: "the SQLite `FILE`; default .holodeck/temporal.db"},
		&cli.BoolFlag{Name: "durable", Usage: "sync every commit to disk, so that not even a power cut loses the last ones"},
		&cli.IntFlag{Name: "port", Aliases: []string{"p"}, Usage: "`PORT` of the server", DefaultText: "7233 or the next free one"},
		&cli.IntFlag{Name: "ui-port", Usage: "`PORT` of the Web UI", DefaultText: "1000 above the server's, or the next free one"},
		&cli.IntFlag{Name: "http-port", Usage: "`PORT` of the server's HTTP API", DefaultText: "any free one"},
		&cli.IntFlag{Name: "metrics-port", Usage: "serve Prometheus metrics on this `PORT`", DefaultText: "no metrics"},
		&cli.StringFlag{Name: "ip", Usage: "`ADDRESS` the server listens on", Value: "127.0.0.1"},
		&cli.StringFlag{Name: "ui-ip", Usage: "`ADDRESS` the Web UI listens on; default that of --ip"},
		&cli.BoolFlag{Name: "headless", Usage: "no Web UI"},
		&cli.StringSliceFlag{Name: "namespace", Aliases: []string{"n"}, Usage: "a `NAMESPACE` to have besides default; may be repeated"},
		&cli.StringSliceFlag{Name: "search-attribute", Usage: "a search attribute to have, as `KEY=TYPE`; may be repeated"},
		&cli.DurationFlag{Name: "retention", Usage: "how long closed workflows are kept, as a `DURATION`", DefaultText: "720h"},
		&cli.StringSliceFlag{Name: "dynamic-config-value", Usage: "a server setting, as `KEY=JSON`; may be repeated"},
		&cli.StringSliceFlag{Name: "sqlite-pragma", Usage: "a SQLite setting, as `KEY=VALUE`; may be repeated"},
		&cli.StringFlag{Name: "log-level", Usage: "server log `LEVEL`: debug, info, warn, error or never", Value: "warn"},
		&cli.StringFlag{Name: "log-format", Usage: "server log `FORMAT`: text or json", Value: "text"},
		&cli.BoolFlag{Name: "log-config", Usage: "print the server's configuration on standard error"},
		&cli.StringFlag{Name: "ui-asset-path", Usage: "serve the Web UI from this `DIR`"},
		&cli.StringFlag{Name: "ui-codec-endpoint", Usage: "`URL` of a remote codec for the Web UI"},
		&cli.StringFlag{Name: "ui-public-path", Usage: "`PATH` under which a proxy shows the Web UI"},
		&cli.BoolFlag{Name: "ui-news-fetch", Usage: "let the Web UI fetch news from the internet"},
		&cli.BoolFlag{Name: "ui-disable-news-fetch", Usage: "no news in the Web UI: already the default", Hidden: true},
	}
}

func (t *tool) dev(c *cli.Context) error {
	command := c.Args().Slice()
	if len(command) == 0 && len(c.StringSlice("watch")) > 0 {
		return wrongUsage("Write holodeck dev --watch GLOB -- COMMAND.", "--watch needs a command to restart")
	}
	outliveReader()
	o, err := t.serverOptions(c)
	if err != nil {
		return err
	}
	s := &stack{queue: t.queueOf(c), configFlag: t.configPath(c.String("config")), record: c.String("record"), roots: t.devRoots(c)}
	if err := t.bindStack(s); err != nil {
		return err
	}
	logger, logFile, err := t.devLog(c, &o)
	if err != nil {
		return err
	}
	defer func() { _ = logFile.Close() }()
	if err := s.start(c.Context, o, logger); err != nil {
		logFile.show(t.Stderr)
		return err
	}
	err = t.serveDev(c, s, command)
	t.forget(c)
	return errors.Join(err, s.stop())
}

func (t *tool) devRoots(c *cli.Context) []string {
	var roots []string
	for _, r := range c.StringSlice("root") {
		roots = append(roots, t.absolute(r))
	}
	if t.configPath(c.String("config")) == "" {
		roots = append(roots, t.absolute("."))
	}
	return roots
}

// configPath returns the configuration that dev uses, "" for none. Once found
// it is needed: a file that goes away while dev runs is a fault, not a choice.
func (t *tool) configPath(named string) string {
	if named != "" {
		return named
	}
	if _, err := os.Stat(t.path("worker.yaml")); err == nil {
		return "worker.yaml"
	}
	return ""
}

func (t *tool) serverOptions(c *cli.Context) (embedded.Options, error) {
	o := embedded.Options{
		Durable: c.Bool("durable"), Namespaces: c.StringSlice("namespace"), Retention: c.Duration("retention"),
		IP: c.String("ip"), UI: !c.Bool("headless"), UIIP: c.String("ui-ip"),
		Port:         port(c, "port", embedded.PreferPort(defaultPort)),
		UIPort:       port(c, "ui-port", embedded.PreferPort(uiPort(c))),
		HTTPPort:     port(c, "http-port", embedded.Port{}),
		MetricsPort:  port(c, "metrics-port", embedded.Port{}),
		Metrics:      c.IsSet("metrics-port"),
		UIPublicPath: c.String("ui-public-path"), UIAssetPath: c.String("ui-asset-path"),
		UICodecEndpoint: c.String("ui-codec-endpoint"), UINewsFetch: c.Bool("ui-news-fetch"),
		DynamicConfig: c.StringSlice("dynamic-config-value"), LogLevel: c.String("log-level"),
	}
	if c.Bool("log-config") {
		o.LogConfig = t.Stderr
	}
	var err error
	if o.SearchAttributes, err = pairs(c, "search-attribute", "KEY=TYPE"); err != nil {
		return o, err
	}
	if o.SQLitePragmas, err = pairs(c, "sqlite-pragma", "KEY=VALUE"); err != nil {
		return o, err
	}
	if c.Bool("ephemeral") {
		if c.IsSet("db-filename") {
			return o, wrongUsage("Use one of them.", "--ephemeral keeps no file, and --db-filename names one")
		}
		return o, nil
	}
	o.DBFile = t.path(c.String("db-filename"))
	if !c.IsSet("db-filename") {
		dir, err := t.makeStateDir()
		if err != nil {
			return o, err
		}
		o.DBFile = filepath.Join(dir, "temporal.db")
	}
	return o, nil
}

func port(c *cli.Context, flag string, otherwise embedded.Port) embedded.Port {
	if c.IsSet(flag) && c.Int(flag) != 0 {
		return embedded.ExactPort(c.Int(flag))
	}
	if c.IsSet(flag) {
		return embedded.Port{}
	}
	return otherwise
}

func uiPort(c *cli.Context) int {
	if p := c.Int("port"); p != 0 {
		return p + uiOffset
	}
	return defaultPort + uiOffset
}

func pairs(c *cli.Context, flag, form string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range c.StringSlice(flag) {
		key, value, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return nil, wrongUsage("Write --"+flag+" "+form+".", "--%s %s has no value", flag, p)
		}
		out[key] = value
	}
	return out, nil
}

// serveDev runs until interrupted, until the command ends, or until something
// breaks.
func (t *tool) serveDev(c *cli.Context, s *stack, command []string) error {
	now := state{
		PID: os.Getpid(), Address: s.server.Address(), Namespace: s.namespace, TaskQueue: s.queue, Roots: s.allRoots(),
		UI: s.server.UIURL(), Metrics: s.server.MetricsAddress(), HTTP: s.server.HTTPAddress(),
	}
	if err := t.announce(c, s, now); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	go func() { _ = s.parser.Warm(ctx) }() // the first document does not wait; if it fails, that document will say so
	watcher, err := t.watchConfig(ctx, s)
	if err != nil {
		return err
	}
	defer watcher.wait()
	defer cancel()
	var child <-chan error
	if len(command) > 0 {
		child = t.startChild(ctx, childOptions{command, now, c.StringSlice("watch")})
	}
	select {
	case <-c.Context.Done():
		t.note("Stopping.")
		if child != nil {
			<-child
		}
		return nil
	case err := <-child:
		return err
	case err := <-s.fatal:
		cancel()
		return fmt.Errorf("the worker stopped: %w", err)
	case err := <-s.server.Fatal():
		cancel()
		return fmt.Errorf("the server stopped: %w", err)
	}
}

// announce tells where everything is, and leaves it for the other commands.
func (t *tool) announce(c *cli.Context, s *stack, now state) error {
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if !c.Bool("ephemeral") {
		dir, err := t.makeStateDir()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, stateFile), append(data, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	if c.Bool("json") {
		fmt.Fprintln(t.Stdout, string(data))
	}
	t.note("%s %s, Temporal server %s", t.styled("1", "holodeck"), t.version().Version, s.server.ServerVersion())
	row := func(label, value string) {
		if value != "" {
			t.note("  %s %s", t.styled("2", fmt.Sprintf("%-14s", label)), value)
		}
	}
	row("Server", now.Address+elsewhere(c, "port", now.Address, defaultPort))
	row("Web UI", now.UI)
	row("Metrics", now.Metrics)
	row("Namespace", now.Namespace)
	row("Task queue", now.TaskQueue)
	row("Data", dataPlace(s.server.DBFile()))
	row("Configuration", configName(s))
	row("Activities", strings.Join(activityNames(s), ", "))
	row("Workflows", strings.Join(sampleNames(), ", "))
	row("Model", s.samplesModel)
	for _, a := range s.warnings() {
		t.note("Warning: %s.", a)
	}
	t.note("Ready. Try: holodeck run hardship --file STATEMENT.pdf. Ctrl-C stops.")
	return nil
}

func elsewhere(c *cli.Context, flag, address string, usual int) string {
	if c.IsSet(flag) || strings.HasSuffix(address, fmt.Sprintf(":%d", usual)) {
		return ""
	}
	return fmt.Sprintf("  (port %d is in use)", usual)
}

func dataPlace(file string) string {
	if file == "" {
		return "memory (--ephemeral)"
	}
	return file
}

func configName(s *stack) string {
	if s.cfg == nil {
		return "none (the samples only)"
	}
	return s.cfg.Home.File
}

func activityNames(s *stack) []string {
	var names []string
	seen := map[string]bool{}
	for _, a := range s.activities {
		for _, n := range a.Names() {
			if !seen[n] {
				names = append(names, n)
			}
			seen[n] = true
		}
	}
	return names
}

func (s *stack) warnings() []string {
	if s.cfg == nil {
		return nil
	}
	return s.cfg.Warnings
}

// forget removes what announce left.
func (t *tool) forget(c *cli.Context) {
	if now, ok := t.readState(); ok && now.PID == os.Getpid() && !c.Bool("ephemeral") {
		_ = os.Remove(filepath.Join(t.absolute(stateDir), stateFile)) // a stale one is recognised: nothing answers there
	}
}

// devLog opens the log of server and worker: a file, or memory when nothing is
// kept.
func (t *tool) devLog(c *cli.Context, o *embedded.Options) (*slog.Logger, *logTarget, error) {
	target := &logTarget{tail: &tailWriter{limit: 16 << 10}}
	var w io.Writer = target.tail
	if !c.Bool("ephemeral") {
		name := filepath.Join(t.absolute(stateDir), "server.log")
		if _, err := t.makeStateDir(); err != nil {
			return nil, nil, err
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
		if err != nil {
			return nil, nil, fault.New(fault.Config, "open "+name, "Make it writable, or use --ephemeral.", "%w", fault.Cause(err))
		}
		target.file = f
		w = io.MultiWriter(f, target.tail)
	}
	level, err := logLevel(c.String("log-level"))
	if err != nil {
		return nil, nil, err
	}
	h, err := logHandler(w, c.String("log-format"), level)
	if err != nil {
		return nil, nil, err
	}
	o.Logger = slog.New(h)
	return o.Logger, target, nil
}

func logHandler(w io.Writer, format string, level slog.Level) (slog.Handler, error) {
	o := &slog.HandlerOptions{Level: level}
	switch format {
	case "text":
		return slog.NewTextHandler(w, o), nil
	case "json":
		return slog.NewJSONHandler(w, o), nil
	default:
		return nil, wrongUsage("Use text or json.", "--log-format is %q", format)
	}
}

func logLevel(name string) (slog.Level, error) {
	if name == "never" {
		return slog.Level(100), nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return 0, wrongUsage("Use debug, info, warn, error or never.", "--log-level is %q", name)
	}
	return level, nil
}

// logTarget is where a log goes, and its end for when a start fails.
type logTarget struct {
	file *os.File
	tail *tailWriter
}

func (l *logTarget) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

func (l *logTarget) show(w io.Writer) { l.tail.dump(w) }

// settle is how long files must be quiet before a change is taken up.
const settle = 150 * time.Millisecond
