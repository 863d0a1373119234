package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// documented is every command that a README shows. "run": to its end, with
// exit code 0; "fails": to its end, with exit code 1; "serve": until it says
// it is ready; anything else is the reason why it is not run here.
var documented = map[string]string{
	"go run . run hardship --file samples/hardship/statement-affordable.pdf": "run",
	"go build -o holodeck .": "CI builds the binary",
	"go test ./...":          "it is this test",
	"holodeck dev":           "serve",
	"holodeck run hardship --file samples/hardship/statement-marginal.pdf": "run",
	"holodeck run feedback": "run",
	`holodeck run approval --id break-1 --input '{"subject": "A payment break", "sla": "2m"}'`: "begin",
	`holodeck run approval --input '{"subject": "A payment break", "sla": "2m"}' --id break-1`: "begin",
	`holodeck signal break-1 decide --input '{"approved": true, "by": "Ada"}'`:                 "run",
	"holodeck parse samples/hardship/statement-affordable.pdf":                                 "run",
	"holodeck parse --pages 1 --json samples/hardship/statement-affordable.pdf":                "run",
	"holodeck parse samples -o markdown":                                                       "run",
	"holodeck samples":                                                                         "run",
	"holodeck samples copy python mine":                                                        "run",
	"holodeck check --config mine/worker.yaml":                                                 "run",
	"cd mine":                         "cd",
	"pip install -r requirements.txt": "CI installs it",
	"holodeck dev --config worker.yaml -- python statement.py statement.txt":                                           "python",
	"holodeck worker --config worker.yaml":                                                                             "serve",
	"holodeck run hardship --file statement-affordable.pdf":                                                            "run",
	"HOLODECK_MODEL=openai:gpt-5-mini holodeck run hardship --file statement-affordable.pdf":                           "it needs a key",
	`holodeck run feedback --input '{"wish": "I can pay $80 a month for 12 months.", "arrears": 600, "surplus": 450}'`: "run",
}

var fence = regexp.MustCompile("(?s)```sh\n(.*?)```")

// commands returns what a document tells the reader to type.
func commands(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range fence.FindAllSubmatch(text, -1) {
		out = append(out, strings.Split(strings.TrimSpace(string(m[1])), "\n")...)
	}
	for line := range strings.Lines(string(text)) {
		if c, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    "); ok && (strings.Contains(c, "holodeck ") || strings.HasPrefix(c, "pip ")) {
			out = append(out, c)
		}
	}
	return out
}

func TestEveryDocumentedCommandWorks(t *testing.T) {
	slow(t)
	python := os.Getenv("HOLODECK_PYTHON")
	for _, doc := range []string{"README.md", "samples/hardship/README.md", "samples/feedback/README.md", "samples/approval/README.md", "samples/python/README.md"} {
		t.Run(doc, func(t *testing.T) {
			r := &reader{t: t, dir: t.TempDir(), python: python}
			from := "../../samples"
			if doc == "README.md" {
				r.copy(from, filepath.Join(r.dir, "samples"))
			} else {
				r.copy("../../"+filepath.Dir(doc), r.dir)
			}
			list := commands(t, "../../"+doc)
			if len(list) == 0 {
				t.Fatal("no command found")
			}
			for _, c := range list {
				r.do(c)
			}
			for _, p := range r.serving {
				if code, took := p.stop(syscall.SIGINT); code != 0 || took > stopLimit {
					t.Errorf("%v ends with %d after %s", p.cmd.Args, code, took)
				}
			}
		})
	}
}

// reader is somebody who types what a document says.
type reader struct {
	t       *testing.T
	dir     string
	python  string
	address string // of the stack that was started
	serving []*process
	begun   *process
}

func (r *reader) copy(from, to string) {
	r.t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reader) do(command string) {
	r.t.Helper()
	action, ok := documented[command]
	if !ok {
		r.t.Errorf("the documented command %q is not tried by this test", command)
		return
	}
	args := words(strings.Replace(command, "go run .", "holodeck", 1))
	switch action {
	case "run", "fails":
		r.toTheEnd(command, args[1:], map[string]int{"run": 0, "fails": 1}[action])
	case "serve":
		r.serve(args[1:])
	case "begin":
		r.begun = start(r.t, r.dir, r.connected(args[1:])...)
		if !untilRunning(r.t, r.dir, "break-1", r.connected(nil)...) {
			r.t.Error("the workflow does not begin")
		}
	case "cd":
		r.dir = filepath.Join(r.dir, args[1])
	case "python":
		if r.python == "" {
			r.t.Log("set HOLODECK_PYTHON to a python with temporalio to try: " + command)
			return
		}
		for i := range args {
			if args[i] == "python" {
				args[i] = r.python
			}
		}
		r.toTheEnd(command, args[1:], 0)
	default:
		r.t.Logf("not run: %s (%s)", command, action)
	}
}

func (r *reader) toTheEnd(command string, args []string, want int) {
	r.t.Helper()
	stdout, stderr, code := output(r.t, r.dir, r.connected(args)...)
	if code != want || strings.TrimSpace(stdout+stderr) == "" {
		r.t.Errorf("%s = %d, want %d\n%s%s", command, code, want, stdout, stderr)
	}
	if r.begun != nil && args[0] == "signal" {
		if code := r.begun.wait(); code != 0 || !strings.Contains(r.begun.stdout.text(), `"outcome": "approved"`) {
			r.t.Errorf("the approval ends with %d: %s", code, r.begun.stdout.text())
		}
	}
}

// connected names the stack that was started, which has a free port here
// instead of the usual one.
func (r *reader) connected(args []string) []string {
	if r.address == "" && len(args) > 0 && args[0] == "run" {
		if args[1] == "approval" { // its document takes a running stack for granted
			_, s := dev(r.t, r.t.TempDir(), "--ephemeral", "--headless")
			r.address = s.Address
			return append(args, "--address", r.address)
		}
		return append(args, "--ephemeral")
	}
	if r.address != "" && (len(args) == 0 || args[0] == "run" || args[0] == "signal" || args[0] == "worker") {
		return append(args, "--address", r.address)
	}
	return args
}

func (r *reader) serve(args []string) {
	r.t.Helper()
	if args[0] == "dev" {
		p, s := dev(r.t, r.dir, args[1:]...)
		r.address = s.Address
		r.serving = append(r.serving, p)
		return
	}
	if r.address == "" {
		_, s := dev(r.t, r.t.TempDir(), "--ephemeral", "--headless")
		r.address = s.Address
	}
	p := start(r.t, r.dir, r.connected(args)...)
	p.stderr.wait(r.t, 0, "Worker running.")
	r.serving = append(r.serving, p)
}

// words splits a command as a shell does, single quotes respected.
func words(command string) []string {
	var out []string
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}
