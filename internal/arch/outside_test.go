package arch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const outsideProgram = `package main

import (
	"os"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/flow"
	"github.com/holodeck-run/holodeck/payload"
	"github.com/holodeck-run/holodeck/worker"
)

func read(ctx workflow.Context, ref payload.FileInput) (string, error) {
	doc, err := flow.Parse(flow.Parameters{StartToClose: 60e9}.Apply(ctx), ref)
	return doc.MarkdownContent, err
}

func main() {
	cfg, err := config.Load("worker.yaml", config.Options{Lookup: os.LookupEnv})
	if err != nil {
		panic(err)
	}
	plugin, err := worker.NewPlugin(cfg, worker.Options{})
	if err != nil {
		panic(err)
	}
	c, err := client.Dial(client.Options{Plugins: []client.Plugin{plugin}})
	if err != nil {
		panic(err)
	}
	w := sdkworker.New(c, "q", sdkworker.Options{})
	w.RegisterWorkflow(read)
	_ = w.Run(nil)
}
`

// TestAProgramOutsideBuildsWithoutTheServer is a user who imports the library.
func TestAProgramOutsideBuildsWithoutTheServer(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(here + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(here + "/go.sum")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := strings.Replace(string(mod), "module "+module, "module example.com/outside", 1) +
		"\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + here + "\n"
	for name, content := range map[string]string{"go.mod": text, "go.sum": string(sum), "main.go": outsideProgram} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"build", "-mod=mod", "-o", filepath.Join(dir, "program"), "."}, {"list", "-mod=mod", "-deps", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
		if strings.Contains(string(out), "go.temporal.io/server") {
			t.Errorf("a program that imports worker reaches the server")
		}
	}
}
