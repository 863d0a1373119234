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
	"strings"
	"time"

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

// migrateFile copies the file, then brings the schema up to date in one
// transaction: either all of it happens or the file stays as it was. The
// server's own migrations are not in its module's binary form, so what is
// missing is found by comparison.
func migrateFile(file string, want, have *schema) error {
	db, err := openDB(connectDSN(file, "rw", []pragma{{"busy_timeout", "2000"}, {"foreign_keys", "off"}}))
	if err != nil {
		return fileFault(file, "migrate", err)
	}
	backup := fmt.Sprintf("%s.%s.bak", file, time.Now().UTC().Format("20060102T150405.000"))
	if _, err := db.Exec("VACUUM INTO ?", backup); err != nil {
		return fileFault(file, "copy before its migration", errors.Join(err, db.Close()))
	}
	m := &migration{want: want, have: have}
	if err := errors.Join(m.run(db), db.Close()); err != nil {
		return &fault.Error{
			Kind: fault.Config, Op: "migrate " + file,
			Hint: "The file was not changed; use the version that wrote it or choose another file with --db-filename.", Err: err,
		}
	}
	return nil
}

type migration struct {
	want, have *schema
	tx         *sql.Tx
}

func (m *migration) run(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	m.tx = tx
	for _, step := range []func() error{m.makeTables, m.rebuildTables, m.makeRest, m.dropRetired, m.verify} {
		if err := step(); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// makeTables makes the tables that are missing. A virtual table makes its
// shadow tables itself.
func (m *migration) makeTables() error {
	for _, name := range sortedKeys(m.want.objects) {
		o := m.want.objects[name]
		if _, ok := m.have.objects[name]; ok || o.kind != "table" || m.isShadow(name) {
			continue
		}
		if err := m.exec(o.sql); err != nil {
			return err
		}
		if isVirtual(o) {
			if err := m.exec(fmt.Sprintf(`INSERT INTO %q(%q) VALUES ('rebuild')`, name, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// isShadow says that a table belongs to a virtual one.
func (m *migration) isShadow(name string) bool {
	for parent, o := range m.want.objects {
		if isVirtual(o) && strings.HasPrefix(name, parent+"_") {
			return true
		}
	}
	return false
}

func isVirtual(o object) bool {
	return strings.HasPrefix(strings.ToUpper(o.sql), "CREATE VIRTUAL TABLE")
}

// rebuildTables replaces each table whose columns differ by one of the current
// form with the same rows: SQLite can add only the simplest columns in place.
func (m *migration) rebuildTables() error {
	for _, name := range sortedKeys(m.want.tables) {
		have, ok := m.have.tables[name]
		if !ok || sameColumns(m.want.tables[name], have) || m.isShadow(name) {
			continue
		}
		if isVirtual(m.want.objects[name]) {
			return fmt.Errorf("the index %s is of another form", name)
		}
		if err := m.rebuild(name, have); err != nil {
			return fmt.Errorf("rebuild %s: %w", name, err)
		}
	}
	return nil
}

// filler is what stands in a column for which an older row has no value. The
// server reads an empty state of a current execution as one it must put
// together from the other columns.
func filler(table string, c column) string {
	if table == "current_executions" && c.name == "data" {
		return "x''"
	}
	return c.fallback.String
}

func (m *migration) rebuild(name string, have []column) error {
	into, from := []string{"rowid"}, []string{"rowid"}
	for _, w := range m.want.tables[name] {
		h := find(have, w.name)
		fill := filler(name, w)
		switch {
		case w.generated || h == nil && fill == "":
			continue
		case h == nil:
			from = append(from, fill)
		case w.notNull && !h.notNull && fill != "":
			from = append(from, fmt.Sprintf("coalesce(%q, %s)", w.name, fill))
		default:
			from = append(from, fmt.Sprintf("%q", w.name))
		}
		into = append(into, w.name)
	}
	next := "holodeck_next_" + name
	made := strings.Replace(m.want.objects[name].sql, name, next, 1)
	for _, stmt := range []string{
		made,
		fmt.Sprintf("INSERT INTO %q (%s) SELECT %s FROM %q", next, strings.Join(into, ", "), strings.Join(from, ", "), name),
		fmt.Sprintf("DROP TABLE %q", name),
		fmt.Sprintf("ALTER TABLE %q RENAME TO %q", next, name),
	} {
		if err := m.exec(stmt); err != nil {
			return err
		}
	}
	return nil
}

// makeRest makes the indexes and triggers that are missing, among them those
// that went with a table that was rebuilt.
func (m *migration) makeRest() error {
	now, err := queryStrings(m.tx, "SELECT name FROM sqlite_master")
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(m.want.objects) {
		o := m.want.objects[name]
		if o.kind == "table" || o.sql == "" || slices.Contains(now, name) {
			continue
		}
		if err := m.exec(o.sql); err != nil {
			return err
		}
	}
	return nil
}

func (m *migration) dropRetired() error {
	for _, t := range sortedKeys(m.have.tables) {
		if _, wanted := m.want.tables[t]; !wanted && strings.HasPrefix(t, "nexus_incoming") {
			if err := m.exec(fmt.Sprintf("DROP TABLE %q", t)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *migration) verify() error {
	got, err := readSchema(m.tx)
	if err != nil {
		return err
	}
	if !m.want.holds(got) {
		return errors.New("the schema is not as it must be afterwards")
	}
	return nil
}

func (m *migration) exec(stmt string) error {
	_, err := m.tx.Exec(stmt)
	return err
}
