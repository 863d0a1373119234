package embedded

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/holodeck-run/holodeck/fault"
)

const (
	sqliteMagic  = "SQLite format 3\x00"
	sqliteHeader = 100
	chooseHint   = "Choose another file with --db-filename."
)

// prepareFile looks at the database file before anything may change it: fresh
// says that it is to be set up; an older schema is brought up to date, after a
// copy was made; anything else than this server's data is refused untouched.
func prepareFile(file string) (fresh bool, err error) {
	size, err := checkFile(file)
	if err != nil || size == 0 {
		return size == 0, err
	}
	want, err := currentSchema()
	if err != nil {
		return false, err
	}
	have, err := readFileSchema(file)
	if err != nil {
		return false, refuse(file, chooseHint, "it cannot be read: %w", err)
	}
	if len(have.tables) == 0 {
		return true, nil
	}
	if err := want.judge(file, have); err != nil {
		return false, err
	}
	if want.holds(have) {
		return false, nil
	}
	return false, migrateFile(file, want, have)
}

func refuse(file, hint, format string, args ...any) error {
	return fault.New(fault.Config, "open "+file, hint, format, args...)
}

// checkFile looks at the file from outside. A missing or empty file has size 0.
func checkFile(file string) (int64, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	switch {
	case err != nil:
		return 0, fileFault(file, "open", err)
	case info.IsDir():
		return 0, refuse(file, chooseHint, "it is a folder")
	case !info.Mode().IsRegular():
		return 0, refuse(file, chooseHint, "it is not a regular file")
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return 0, refuse(file, "Make the file writable or choose another with --db-filename.", "it cannot be written: %w", errors.Unwrap(err))
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if info.Size() == 0 {
		return 0, nil
	}
	head := make([]byte, sqliteHeader)
	n, err := io.ReadFull(f, head)
	if !bytes.HasPrefix(head[:n], []byte(sqliteMagic)[:min(n, len(sqliteMagic))]) {
		return 0, refuse(file, chooseHint, "it is not a SQLite database")
	}
	if err != nil || truncated(file, head, info.Size()) {
		return 0, refuse(file, "Restore it from a copy or choose another file with --db-filename.", "it is truncated")
	}
	return info.Size(), nil
}

// truncated compares the size the header states with the file. While a
// journal waits to be merged the header proves nothing.
func truncated(file string, head []byte, size int64) bool {
	for _, suffix := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(file + suffix); err == nil && info.Size() > 0 {
			return false
		}
	}
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 65536
	}
	stated := int64(binary.BigEndian.Uint32(head[28:]))
	current := bytes.Equal(head[24:28], head[92:96]) // else an old SQLite left the size unset
	return current && stated*page > size
}

// schema is what a database has: the SQL of each object and the columns of
// each ordinary table.
type schema struct {
	objects map[string]object
	tables  map[string][]column
}

type object struct{ kind, table, sql string }

type column struct {
	name      string
	notNull   bool
	fallback  sql.NullString
	generated bool
}

// currentSchema is the schema of the server inside.
func currentSchema() (*schema, error) {
	db, err := openDB(connectDSN(":memory:", "", nil))
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // nothing is in it
	if err := createSchema(db); err != nil {
		return nil, fmt.Errorf("set up the current schema: %w", err)
	}
	return readSchema(db)
}

// readFileSchema reads without writing; only a journal that must be rolled
// back first, as after a crash, makes a writable connection necessary.
func readFileSchema(file string) (s *schema, err error) {
	for _, mode := range []string{"ro", "rw"} {
		var db *sql.DB
		if db, err = openDB(connectDSN(file, mode, []pragma{{"busy_timeout", "2000"}})); err == nil {
			s, err = readSchema(db)
			err = errors.Join(err, db.Close())
		}
		if err == nil {
			return s, nil
		}
	}
	return nil, err
}

func readSchema(db querier) (*schema, error) {
	s := &schema{objects: map[string]object{}, tables: map[string][]column{}}
	found, err := db.Query(`SELECT name, type, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // Err says it
	for found.Next() {
		var name string
		var o object
		if err := found.Scan(&name, &o.kind, &o.table, &o.sql); err != nil {
			return nil, err
		}
		s.objects[name] = o
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	return s, s.readColumns(db)
}

func (s *schema) readColumns(db querier) error {
	found, err := db.Query(`SELECT m.name, c.name, c."notnull", c.dflt_value, c.hidden FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c WHERE m.type = 'table' ORDER BY c.cid`)
	if err != nil {
		return err
	}
	defer found.Close() //nolint:errcheck // Err says it
	for found.Next() {
		var table string
		var c column
		var hidden int
		if err := found.Scan(&table, &c.name, &c.notNull, &c.fallback, &hidden); err != nil {
			return err
		}
		if _, ours := s.objects[table]; ours {
			c.generated = hidden == 2 || hidden == 3
			s.tables[table] = append(s.tables[table], c)
		}
	}
	return found.Err()
}

// retired names what older servers had and this one does not.
func retired(name string) bool {
	return slices.Contains([]string{
		"nexus_incoming_services", "nexus_incoming_services_partition_status", "schema_version", "schema_update_history",
	}, name)
}

// judge refuses a file that is not this server's or is of a newer one.
func (s *schema) judge(file string, have *schema) error {
	for _, t := range []string{"namespaces", "namespace_metadata", "shards", "executions", "history_node", "cluster_metadata_info"} {
		if _, ok := have.tables[t]; !ok {
			return refuse(file, chooseHint, "it is a SQLite database of another program")
		}
	}
	for _, t := range sortedKeys(have.tables) {
		columns, known := s.tables[t]
		if !known {
			if retired(t) {
				continue
			}
			return refuse(file, "Use the version that wrote it or choose another file with --db-filename.", "it is of a newer server or of another program: this one has no table %s", t)
		}
		for _, c := range have.tables[t] {
			if find(columns, c.name) == nil {
				return refuse(file, "Use the version that wrote it or choose another file with --db-filename.", "it is of a newer server: this one has no column %s in %s", c.name, t)
			}
		}
	}
	return nil
}

func find(columns []column, name string) *column {
	if i := slices.IndexFunc(columns, func(c column) bool { return c.name == name }); i >= 0 {
		return &columns[i]
	}
	return nil
}

// holds says whether nothing is missing in have.
func (s *schema) holds(have *schema) bool {
	for name := range s.objects {
		if _, ok := have.objects[name]; !ok {
			return false
		}
	}
	for t, columns := range s.tables {
		if !sameColumns(columns, have.tables[t]) {
			return false
		}
	}
	return true
}

func sameColumns(want, have []column) bool {
	for _, w := range want {
		h := find(have, w.name)
		if h == nil || h.generated != w.generated {
			return false
		}
		// Without a default the server's own migrations leave it nullable.
		if w.notNull && !h.notNull && w.fallback.Valid {
			return false
		}
	}
	return true
}
