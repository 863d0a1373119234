package embedded_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-run/holodeck/embedded"
	"github.com/holodeck-run/holodeck/fault"
)

func TestAMistakeInTheOptionsIsAFaultThatSaysWhatToChange(t *testing.T) {
	t.Parallel()
	dynamic := func(e ...string) embedded.Options { return embedded.Options{DynamicConfig: e} }
	pragma := func(k, v string) embedded.Options { return embedded.Options{SQLitePragmas: map[string]string{k: v}} }
	attr := func(k, v string) embedded.Options { return embedded.Options{SearchAttributes: map[string]string{k: v}} }
	cases := []struct {
		name    string
		options embedded.Options
		want    []string
	}{
		{"a mistyped dynamic setting names the nearest", dynamic("frontend.namespaceRPSs=10"), []string{"no setting frontend.namespaceRPSs", "Did you mean frontend.namespaceRPS?"}},
		{"a dynamic setting like no other", dynamic("zebra.stripes=10"), []string{"no setting zebra.stripes", "documentation"}},
		{"a dynamic setting of another type", dynamic(`frontend.namespaceRPS="many"`), []string{"frontend.namespaceRPS cannot be", "type of value"}},
		{"a dynamic bool that is a number", dynamic(`system.enableEagerWorkflowStart=3`), []string{"system.enableEagerWorkflowStart cannot be 3"}},
		{"a dynamic setting that is not JSON", dynamic("frontend.namespaceRPS=ten"), []string{"is not JSON: ten", "2s"}},
		{"a dynamic setting without value", dynamic("frontend.namespaceRPS"), []string{"has no value", "KEY=VALUE"}},
		{"two wrong dynamic settings are both reported", dynamic("zebra=1", "frontend.namespaceRPS=x"), []string{"zebra", "not JSON: x"}},
		{"a search attribute of an unknown type lists the types", attr("Priority", "Number"), []string{`"Number" is not a type for Priority`, "Text, Keyword, Int, Double, Bool, Datetime, KeywordList"}},
		{"a search attribute of the server's own", attr("WorkflowId", "Keyword"), []string{"WorkflowId is the server's own"}},
		{"an unknown pragma names the nearest", pragma("journal_mod", "wal"), []string{"no pragma journal_mod", "Did you mean journal_mode?"}},
		{"a pragma value SQLite would ignore", pragma("journal_mode", "fast"), []string{`"fast" is not a value of journal_mode`, "delete, truncate"}},
		{"a pragma value that is more than a value", pragma("cache_size", "1;drop table x"), []string{"is not a value of cache_size"}},
		{"a port out of range", embedded.Options{UIPort: embedded.ExactPort(70000)}, []string{"70000 is not a port", "--ui-port"}},
		{"an address that is none", embedded.Options{IP: "everywhere"}, []string{`"everywhere" is not an IP address`, "--ip"}},
		{"an address of another machine", embedded.Options{IP: "192.0.2.1"}, []string{"192.0.2.1", "--port"}},
		{"a log level that is none", embedded.Options{LogLevel: "wran"}, []string{`"wran" is not a level`, "Did you mean warn?"}},
		{"a namespace without a name", embedded.Options{Namespaces: []string{" "}}, []string{"is not a name", "--namespace"}},
		{"the server's namespace", embedded.Options{Namespaces: []string{"temporal-system"}}, []string{"the server's own"}},
		{"a negative retention", embedded.Options{Retention: -time.Hour}, []string{"-1h0m0s is negative", "--retention"}},
		{"a public path that is none", embedded.Options{UIPublicPath: "temporal"}, []string{`"temporal" is not a path`}},
		{"a file in a folder that is not there", embedded.Options{DBFile: filepath.Join(t.TempDir(), "no", "x.db")}, []string{"the folder does not exist", "--db-filename"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, err := embedded.Start(t.Context(), c.options)
			if err == nil {
				stop(t, s)
				t.Fatal("the server started")
			}
			f, ok := fault.As(err)
			if !ok || f.Kind != fault.Config {
				t.Fatalf("not a configuration fault: %v", err)
			}
			text := f.Message()
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("%q does not say %q", text, w)
				}
			}
		})
	}
}
