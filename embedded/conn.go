package embedded

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"

	"modernc.org/sqlite"
)

// maxStatements bounds the prepared statements of a connection. The server
// has some two hundred fixed ones; list queries of users come on top.
const maxStatements = 512

// openDB opens a database with exactly one connection: more are slower, since
// SQLite has one writer, and a memory database has no second.
func openDB(dsn string) (*sql.DB, error) {
	db := sql.OpenDB(connector{dsn})
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	if err := db.Ping(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

type connector struct{ dsn string }

// Connect opens the connection.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	inner, ok := opened.(innerConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("open SQLite: %T lacks a method", opened), opened.Close())
	}
	return &conn{innerConn: inner, statements: map[string]*statement{}}, nil
}

// Driver is the SQLite driver.
func (c connector) Driver() driver.Driver { return &sqlite.Driver{} }

// innerConn is what the SQLite driver's connection can do and we pass on.
type innerConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is a connection that keeps its prepared statements. The server sends
// the same statements over and over, and without this each is parsed anew,
// which is about half of all the time spent in SQLite.
type conn struct {
	innerConn
	statements map[string]*statement
}

// statement is a prepared statement; busy while rows of it are being read.
type statement struct {
	inner innerStmt
	busy  bool
}

type innerStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// ExecContext runs a statement that gives no rows. It is not interrupted: it
// takes less time than watching for the end of ctx would.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, kept, err := c.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	if !kept {
		defer s.inner.Close() //nolint:errcheck // the statement has run
	}
	return s.inner.ExecContext(context.WithoutCancel(ctx), args)
}

// QueryContext runs a statement that gives rows.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, kept, err := c.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	s.busy = true
	inner, err := s.inner.QueryContext(ctx, args)
	if err != nil {
		s.busy = false
		if !kept {
			err = errors.Join(err, s.inner.Close())
		}
		return nil, err
	}
	return &rows{Rows: inner, of: s, kept: kept}, nil
}

// BeginTx begins a transaction. What the server asks for is always the default
// kind, so the statement can be one of those kept.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if opts != (driver.TxOptions{}) {
		return c.innerConn.BeginTx(ctx, opts)
	}
	if _, err := c.ExecContext(ctx, "BEGIN", nil); err != nil {
		return nil, err
	}
	return tx{c}, nil
}

// tx is a transaction of the connection.
type tx struct{ conn *conn }

// Commit commits. If that fails the transaction is rolled back, as the
// connection must not stay in it.
func (t tx) Commit() error {
	_, err := t.conn.ExecContext(context.Background(), "COMMIT", nil)
	if err != nil {
		_ = t.Rollback() // fails if SQLite has already done so
	}
	return err
}

// Rollback undoes the transaction.
func (t tx) Rollback() error {
	_, err := t.conn.ExecContext(context.Background(), "ROLLBACK", nil)
	return err
}

// prepared finds or makes the statement; kept says that it stays prepared.
func (c *conn) prepared(ctx context.Context, query string) (s *statement, kept bool, err error) {
	s = c.statements[query]
	if s != nil && !s.busy {
		return s, true, nil
	}
	made, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, false, err
	}
	inner, ok := made.(innerStmt)
	if !ok {
		return nil, false, errors.Join(fmt.Errorf("prepare a statement: %T lacks a method", made), made.Close())
	}
	fresh := &statement{inner: inner}
	if s != nil || len(c.statements) >= maxStatements {
		return fresh, false, nil
	}
	c.statements[query] = fresh
	return fresh, true, nil
}

// Close closes the statements, then the connection.
func (c *conn) Close() error {
	var errs []error
	for _, s := range c.statements {
		errs = append(errs, s.inner.Close())
	}
	clear(c.statements)
	return errors.Join(append(errs, c.innerConn.Close())...)
}

// rows frees the statement when they are read.
type rows struct {
	driver.Rows
	of   *statement
	kept bool
}

// Close ends the reading; it may be called more than once.
func (r *rows) Close() error {
	if r.of == nil {
		return nil
	}
	s := r.of
	r.of = nil
	err := r.Rows.Close()
	s.busy = false
	if !r.kept {
		err = errors.Join(err, s.inner.Close())
	}
	return err
}

// knownPragmas asks SQLite which settings it has.
var knownPragmas = sync.OnceValues(func() ([]string, error) {
	db, err := openDB(connectDSN(":memory:", "", nil))
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // nothing is in it
	names, err := queryStrings(db, "SELECT name FROM pragma_pragma_list")
	slices.Sort(names)
	return names, err
})

// querier is a database or a transaction.
type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

func queryStrings(db querier, query string, args ...any) ([]string, error) {
	found, err := db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // Err says it
	var list []string
	for found.Next() {
		var s string
		if err := found.Scan(&s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, found.Err()
}
