package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	persistencesql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/resolver"
	sqliteschema "go.temporal.io/server/schema/sqlite"

	"github.com/holodeck-run/holodeck/fault"
)

// store is the one database connection that all services share.
type store struct {
	config *config.SQL // names the connection to the server's plugin
	db     *sql.DB
}

// openStore locks, checks and opens the database and puts our connection
// where the server's SQLite plugin keeps its own.
func (s *Server) openStore(_ context.Context, p *plan) error {
	dsn := connectDSN(":memory:", "", p.pragmas)
	fresh := true
	if p.DBFile != "" {
		file, err := resolveFile(p.DBFile)
		if err != nil {
			return err
		}
		s.file = file
		if _, err := checkFile(file); err != nil { // before a lock is put beside it
			return err
		}
		release, err := lockFile(file)
		if err != nil {
			return err
		}
		s.onStop("the lock", release)
		if fresh, err = prepareFile(file); err != nil {
			return err
		}
		dsn = connectDSN(file, "rwc", p.pragmas)
	}
	db, err := openDB(dsn)
	if err != nil {
		return fileFault(s.file, "open", err)
	}
	s.onStop("the database", db.Close)
	if err := verifyJournal(db, p); err != nil {
		return err
	}
	p.store = &store{config: pluginConfig(), db: db}
	if p.db, err = p.store.adopt(); err != nil {
		return err
	}
	if fresh {
		if err := createSchema(db); err != nil {
			return fileFault(s.file, "set up", err)
		}
	}
	return nil
}

// verifyJournal refuses a journal that SQLite did not grant, as on file
// systems without shared memory.
func verifyJournal(db *sql.DB, p *plan) error {
	if p.DBFile == "" {
		return nil
	}
	var got string
	if err := db.QueryRow("PRAGMA journal_mode").Scan(&got); err != nil {
		return fileFault(p.DBFile, "open", err)
	}
	for _, want := range p.pragmas {
		if want.name == "journal_mode" && !strings.EqualFold(want.value, got) {
			return fault.New(fault.Config, "open "+p.DBFile, "Keep the file on a local disk or set --sqlite-pragma journal_mode=delete.", "SQLite uses journal mode %s here, not %s", got, want.value)
		}
	}
	return nil
}

// pluginConfig describes the database to the server. The plugin's pool never
// closes what it opens, so it gets an empty memory database of a name used
// once, and adopt gives it our connection instead.
func pluginConfig() *config.SQL {
	return &config.SQL{
		PluginName:   sqliteplugin.PluginName,
		DatabaseName: ":memory:",
		// An attribute SQLite ignores makes the name unique.
		ConnectAttributes: map[string]string{"setup": uuid.NewString()},
	}
}

// adopt makes the plugin use our connection: the pool hands every service the
// same *sqlx.DB, whose embedded *sql.DB is exchanged before any service runs.
// Only the way from the plugin's handle to the pool is not exported.
func (st *store) adopt() (sqlplugin.DB, error) {
	handle, err := persistencesql.NewSQLDB(sqlplugin.DbKindMain, st.config, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return nil, fmt.Errorf("open the plugin: %w", err)
	}
	pooled, err := pooledDB(handle)
	if err != nil {
		return nil, err
	}
	placeholder := pooled.DB
	pooled.DB = st.db
	return handle, placeholder.Close()
}

// pooledDB finds the pool's database behind the plugin's handle.
func pooledDB(handle sqlplugin.DB) (*sqlx.DB, error) {
	v := reflect.Indirect(reflect.ValueOf(handle))
	if v.Kind() == reflect.Struct {
		if f := v.FieldByName("db"); f.IsValid() && f.Type() == reflect.TypeFor[*sqlx.DB]() {
			return (*sqlx.DB)(f.UnsafePointer()), nil
		}
	}
	return nil, errors.New("the server's SQLite plugin has changed: its connection is not where it was")
}

// connectDSN is the URI of a database with its settings.
func connectDSN(file, mode string, pragmas []pragma) string {
	q := url.Values{"_time_format": {"sqlite"}}
	if mode != "" {
		q.Set("mode", mode)
	}
	for _, p := range pragmas {
		q.Add("_pragma", p.name+"="+p.value)
	}
	return fileURI(file) + "?" + q.Encode()
}

// fileURI escapes what means something in a URI and may stand in a path.
func fileURI(file string) string {
	if file == ":memory:" {
		return "file::memory:"
	}
	path := filepath.ToSlash(file)
	if runtime.GOOS == "windows" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath()
}

// createSchema sets up an empty database in one transaction.
func createSchema(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if err := sqliteschema.SetupSchemaOnDB(schemaTarget{tx: tx}); err != nil {
		return err
	}
	if err := slimIndexes(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// listIndex matches the indexes of the list of workflows over one column.
var listIndex = regexp.MustCompile(`(?i)^create index (\w+)\s+on executions_visibility\s*\(namespace_id,\s*(\w+),`)

// slimIndexes makes the indexes over columns that are mostly empty hold only
// rows that have a value: the list of workflows has seventy of them, and each
// workflow is written to it three times. Every comparison with a value finds
// such an index usable; only a search for what has no value reads on without.
func slimIndexes(tx *sql.Tx) error {
	optional, err := queryStrings(tx, `SELECT name FROM pragma_table_xinfo('executions_visibility') WHERE "notnull" = 0`)
	if err != nil {
		return err
	}
	made, err := queryStrings(tx, "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL")
	if err != nil {
		return err
	}
	for _, statement := range made {
		m := listIndex.FindStringSubmatch(statement)
		if m == nil || !slices.ContainsFunc(optional, func(c string) bool { return strings.EqualFold(c, m[2]) }) {
			continue
		}
		if _, err := tx.Exec(fmt.Sprintf("DROP INDEX %s", m[1])); err != nil {
			return err
		}
		if _, err := tx.Exec(fmt.Sprintf("%s WHERE %s IS NOT NULL", statement, m[2])); err != nil {
			return err
		}
	}
	return nil
}

// schemaTarget is as much of the plugin's administration interface as setting
// up a schema needs.
type schemaTarget struct {
	sqlplugin.AdminDB
	tx *sql.Tx
}

// Exec runs one statement of the schema.
func (t schemaTarget) Exec(stmt string, args ...any) error {
	_, err := t.tx.Exec(stmt, args...)
	return err
}

// resolveFile gives the absolute path without symbolic links, so that two
// names of one file meet at one lock.
func resolveFile(name string) (string, error) {
	file, err := filepath.Abs(name)
	if err != nil {
		return "", fileFault(name, "open", err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return "", &fault.Error{Kind: fault.Config, Op: "open " + name, Hint: "Make the folder or choose another file with --db-filename.", Err: errors.New("the folder does not exist")}
	}
	if !isFolder(dir) {
		return "", &fault.Error{Kind: fault.Config, Op: "open " + name, Hint: "Choose another file with --db-filename.", Err: fmt.Errorf("%s is not a folder", filepath.Dir(name))}
	}
	file = filepath.Join(dir, filepath.Base(file))
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	return file, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func fileFault(name, verb string, err error) error {
	if _, ok := fault.As(err); ok {
		return err
	}
	if name == "" {
		name = "the database in memory"
	}
	return &fault.Error{Kind: fault.Config, Op: verb + " " + name, Hint: "Check the file, or choose another with --db-filename.", Err: err}
}
