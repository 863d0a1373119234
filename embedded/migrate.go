package embedded

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holodeck-run/holodeck/fault"
)

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
