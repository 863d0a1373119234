package worker_test

import (
	"testing"

	"github.com/holodeck-run/holodeck/worker"
)

func TestABuildIDChangesWithWhatTheBuildIsMadeOf(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"worker.yaml": `
temporal: {task_queue: q}
deployment: {name: d}
nodes:
  - {id: count, edge: {agent: agents/count.yaml}, gate: {schema: gates/count.json}}
`,
		"agents/count.yaml": "name: a\nmodel: {provider: openai, name: m, api_key: '${KEY}'}\ninstructions: {file: system.md}\nresponse_format: ../gates/answer.json\n",
		"agents/system.md":  "Count.",
		"gates/answer.json": schema,
	}
	id := func(change map[string]string) string {
		files := map[string]string{}
		for name, text := range base {
			files[name] = text
		}
		for name, text := range change {
			files[name] = text
		}
		fs := folder(files)
		a, err := bind(t, fs, worker.Options{Lookup: func(string) (string, bool) { return "sk-test", true }})
		if err != nil {
			t.Fatal(err)
		}
		o, err := a.Deployment(fs["worker.yaml"].Data)
		if err != nil {
			t.Fatal(err)
		}
		if !o.UseVersioning || o.Version.DeploymentName != "d" {
			t.Errorf("options are %+v", o)
		}
		return o.Version.BuildID
	}
	same := id(nil)
	if len(same) != 16 || id(nil) != same {
		t.Errorf("the build id %q does not stay", same)
	}
	for name, text := range map[string]string{
		"agents/count.yaml": base["agents/count.yaml"] + "# a note\n",
		"agents/system.md":  "Count well.",
		"gates/answer.json": `{"type":"object"}`,
		"gates/count.json":  `{"type":"object"}`,
		"worker.yaml":       base["worker.yaml"] + "\n",
	} {
		if id(map[string]string{name: text}) == same {
			t.Errorf("another %s has the same build id", name)
		}
	}
}

func TestWithoutADeploymentThereIsNoVersion(t *testing.T) {
	t.Parallel()
	fs := folder(nil)
	a, err := bind(t, fs, worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := a.Deployment(fs["worker.yaml"].Data); err != nil || o.UseVersioning {
		t.Errorf("Deployment() = %+v, %v", o, err)
	}
}
