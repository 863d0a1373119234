package embedded_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/common/config"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	_ "modernc.org/sqlite"

	"github.com/holodeck-run/holodeck/embedded"
	"github.com/holodeck-run/holodeck/fault"
)

// refused asserts that a start on file is a configuration fault that says
// what, and that the file's bytes stay.
func refused(t *testing.T, file string, what ...string) {
	t.Helper()
	before, _ := os.ReadFile(file)
	s, err := embedded.Start(t.Context(), embedded.Options{DBFile: file})
	if err == nil {
		stop(t, s)
		t.Fatal("the server started")
	}
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.Config {
		t.Fatalf("not a configuration fault: %v", err)
	}
	for _, w := range append(what, "--db-filename") {
		if !strings.Contains(f.Message(), w) {
			t.Errorf("%q does not say %q", f.Message(), w)
		}
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("the file was altered")
	}
}

func TestAFileThatIsNotTheServersIsRefusedUntouched(t *testing.T) {
	t.Parallel()
	write := func(name string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	refused(t, t.TempDir(), "it is a folder")
	refused(t, write("notes.txt", []byte("Dear diary, this is no database at all, whatever the flag says.")), "not a SQLite database")
	refused(t, write("short.db", []byte("SQLite format 3\x00\x10\x00")), "truncated")
	other := filepath.Join(t.TempDir(), "other.db")
	edit(t, other, "CREATE TABLE customers (id INT, name TEXT)", "INSERT INTO customers VALUES (1, 'Ada')")
	refused(t, other, "another program")
	refused(t, filepath.Join(other, "x.db"), "not a folder")
}

// made gives a file a server has used; edit changes it by hand.
func made(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.db")
	s, err := embedded.Start(t.Context(), embedded.Options{DBFile: file})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	return file
}

func edit(t *testing.T, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // each statement is checked
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func count(t *testing.T, file, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestATruncatedFileIsRefused(t *testing.T) {
	t.Parallel()
	file := made(t)
	if err := os.Truncate(file, 8192); err != nil {
		t.Fatal(err)
	}
	refused(t, file, "truncated")
}

func TestAFileOfANewerServerIsRefusedUntouched(t *testing.T) {
	t.Parallel()
	table, column := made(t), made(t)
	edit(t, table, "CREATE TABLE executions_v9 (id INT)")
	refused(t, table, "newer server", "no table executions_v9")
	edit(t, column, "ALTER TABLE shards ADD COLUMN colour TEXT")
	refused(t, column, "newer server", "no column colour in shards")
}

func TestAFileThatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write everything")
	}
	file := made(t)
	if err := os.Chmod(file, 0o400); err != nil {
		t.Fatal(err)
	}
	refused(t, file, "cannot be written")
}

func TestAnOlderFileIsCopiedAndMigrated(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.db")
	s, err := embedded.Start(t.Context(), embedded.Options{DBFile: file})
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, s.Address(), "default")
	halt := work(t, c, &activities{})
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "waits", TaskQueue: queue}, Letter)
	if err != nil {
		t.Fatal(err)
	}
	listed(t, c, "WorkflowId = 'waits'", 1)
	halt()
	stop(t, s)
	// As a server of schema 0.6 left it, with a table of 0.4 that is no more.
	edit(
		t, file,
		"DROP TABLE current_chasm_executions", "DROP TABLE tasks_v2", "DROP TABLE task_queues_v2", "DROP TABLE chasm_node_maps",
		"ALTER TABLE current_executions DROP COLUMN data", "ALTER TABLE current_executions DROP COLUMN data_encoding",
		"DROP INDEX by_temporal_bool_01", "ALTER TABLE executions_visibility DROP COLUMN TemporalBool01",
		"CREATE TABLE nexus_incoming_services (service_id BINARY(16) NOT NULL)",
	)
	s = start(t, embedded.Options{DBFile: file})
	copies, err := filepath.Glob(file + ".*.bak")
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies %v: %v", copies, err)
	}
	if n := count(t, copies[0], "SELECT count(*) FROM sqlite_master WHERE name = 'tasks_v2'"); n != 0 {
		t.Error("the copy was migrated")
	}
	c = dial(t, s.Address(), "default")
	work(t, c, &activities{})
	listed(t, c, "WorkflowId = 'waits' AND ExecutionStatus = 'Running'", 1)
	if err := c.SignalWorkflow(t.Context(), run.GetID(), "", "name", "you"); err != nil {
		t.Fatal(err)
	}
	result(t, c.GetWorkflow(t.Context(), run.GetID(), ""), "hello you")
}

// listed waits until the query finds n workflows.
func listed(t *testing.T, c client.Client, query string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		if err == nil && len(r.GetExecutions()) == n {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s found %d, want %d: %v", query, len(r.GetExecutions()), n, err)
		}
	}
}

func TestAMigrationThatFailsLeavesTheFileAsItWas(t *testing.T) {
	t.Parallel()
	file := made(t)
	edit(t, file,
		"DROP TABLE tasks_v2", "DROP TABLE shards", "CREATE TABLE shards (shard_id INT NOT NULL, PRIMARY KEY (shard_id))",
		"INSERT INTO shards VALUES (7)", "DELETE FROM executions_visibility")
	refused(t, file, "rebuild shards", "was not changed")
	if n := count(t, file, "SELECT shard_id FROM shards"); n != 7 {
		t.Errorf("the row is %d, want 7", n)
	}
}

func TestAFileOfTheOfficialDevelopmentServerIsTakenOver(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "official.db")
	made := &config.SQL{PluginName: "sqlite", DatabaseName: file, ConnectAttributes: map[string]string{"mode": "rwc"}}
	if err := sqliteschema.SetupSchema(made); err != nil {
		t.Fatal(err)
	}
	ns, err := sqliteschema.NewNamespaceConfig("active", "theirs", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqliteschema.CreateNamespaces(made, ns); err != nil {
		t.Fatal(err)
	}
	s := start(t, embedded.Options{DBFile: file, SearchAttributes: map[string]string{"Owner": "Keyword"}})
	c := dial(t, s.Address(), "theirs")
	work(t, c, &activities{})
	greet(t, c)
	attrs, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "theirs"})
	if err != nil || len(attrs.GetCustomAttributes()) != 1 {
		t.Errorf("it has %v: %v", attrs.GetCustomAttributes(), err)
	}
	if copies, _ := filepath.Glob(file + ".*.bak"); len(copies) != 0 {
		t.Errorf("a file of the same schema was copied to %v", copies)
	}
}

func TestASecondServerOnTheSameFileIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.db")
	s := start(t, embedded.Options{DBFile: file})
	if s.DBFile() == "" || !filepath.IsAbs(s.DBFile()) {
		t.Errorf("the file is %q", s.DBFile())
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, link} {
		_, err := embedded.Start(t.Context(), embedded.Options{DBFile: name})
		if f, ok := fault.As(err); !ok || !strings.Contains(f.Message(), "another server uses the file (this process)") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := dial(t, s.Address(), "default")
	work(t, c, &activities{})
	greet(t, c)
}

func TestNamespacesAndSearchAttributesAreAddedToAFileThatExists(t *testing.T) {
	t.Parallel()
	file := made(t)
	s, err := embedded.Start(t.Context(), embedded.Options{
		DBFile: file, Namespaces: []string{"billing"}, Retention: 48 * time.Hour,
		SearchAttributes: map[string]string{"Owner": "Keyword", "Priority": "Int"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range []string{"default", "billing"} {
		c := dial(t, s.Address(), ns)
		attrs, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: ns})
		if err != nil || fmt.Sprint(attrs.GetCustomAttributes()) != "map[Owner:Keyword Priority:Int]" {
			t.Errorf("%s has %v: %v", ns, attrs.GetCustomAttributes(), err)
		}
		d, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: ns})
		if err != nil || d.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() != 48*time.Hour {
			t.Errorf("%s keeps %v: %v", ns, d.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(), err)
		}
		if _, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "w", TaskQueue: queue, SearchAttributes: map[string]any{"Owner": "Ada", "Priority": 3}}, Letter); err != nil { //nolint:staticcheck // the untyped form is enough
			t.Fatal(err)
		}
		listed(t, c, "Owner = 'Ada' AND Priority > 2", 1)
	}
	stop(t, s)
	s, err = embedded.Start(t.Context(), embedded.Options{DBFile: file, SearchAttributes: map[string]string{"Owner": "Int"}})
	if err == nil {
		stop(t, s)
	}
	if f, ok := fault.As(err); !ok || !strings.Contains(f.Message(), "has it as Keyword, not Int") {
		t.Errorf("another type: %v", err)
	}
	s, err = embedded.Start(t.Context(), embedded.Options{DBFile: file, SearchAttributes: map[string]string{"A": "Text", "B": "Text", "C": "Text", "D": "Text"}})
	if err == nil {
		stop(t, s)
	}
	if f, ok := fault.As(err); !ok || !strings.Contains(f.Message(), "no room for another Text") {
		t.Errorf("too many of a type: %v", err)
	}
}

func TestTheClusterIdIsAUUIDKeptInTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.db")
	var ids []string
	for range 2 {
		s, err := embedded.Start(t.Context(), embedded.Options{DBFile: file})
		if err != nil {
			t.Fatal(err)
		}
		info, err := dial(t, s.Address(), "default").WorkflowService().GetClusterInfo(t.Context(), &workflowservice.GetClusterInfoRequest{})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, info.GetClusterId())
		stop(t, s)
	}
	if ids[0] != ids[1] || len(ids[0]) != 36 {
		t.Errorf("cluster ids %q", ids)
	}
}

func TestPragmasAndDurabilityReachTheDatabase(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "odd name?#%.db")
	s, err := embedded.Start(t.Context(), embedded.Options{DBFile: file, Durable: true, SQLitePragmas: map[string]string{"journal_mode": "DELETE", "page_size": "8192"}})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	head, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := int(head[16])<<8 | int(head[17]); got != 8192 {
		t.Errorf("the page size is %d, want 8192", got)
	}
	if head[18] != 1 {
		t.Errorf("the file's journal version is %d, want 1 (no write-ahead log)", head[18])
	}
}
