package embedded

import (
	"context"
	"database/sql"
	"testing"
)

func memory(t *testing.T) *sql.DB {
	t.Helper()
	db, err := openDB(connectDSN(":memory:", "", nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.Exec("CREATE TABLE t (n INT PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)"); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestAStatementMayRunAgainWhileItsRowsAreRead(t *testing.T) {
	t.Parallel()
	tx, err := memory(t).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // the database goes with the test
	const query = "SELECT n FROM t WHERE n >= ? ORDER BY n"
	outer, err := tx.Query(query, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close() //nolint:errcheck // read to the end
	var pairs [][2]int
	for outer.Next() {
		var a int
		if err := outer.Scan(&a); err != nil {
			t.Fatal(err)
		}
		inner, err := tx.Query(query, a)
		if err != nil {
			t.Fatal(err)
		}
		for inner.Next() {
			var b int
			if err := inner.Scan(&b); err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, [2]int{a, b})
		}
		if err := inner.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(pairs) != 6 {
		t.Errorf("read %v, want six pairs", pairs)
	}
}

func TestAKeptStatementReadsAnew(t *testing.T) {
	t.Parallel()
	db := memory(t)
	for want := 3; want < 6; want++ {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil || n != want {
			t.Fatalf("counted %d, want %d: %v", n, want, err)
		}
		if _, err := db.Exec("INSERT INTO t VALUES (?)", 10+want); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFailedStatementLeavesTheTransactionAndIsUsableAgain(t *testing.T) {
	t.Parallel()
	db := memory(t)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO t VALUES (?)"
	for n, ok := range map[int]bool{4: true, 1: false} {
		if _, err := tx.Exec(insert, n); (err == nil) != ok {
			t.Errorf("insert %d: %v", n, err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(insert, 4); err != nil {
		t.Errorf("after the rollback: %v", err)
	}
}

func TestMoreStatementsThanAreKeptStillRun(t *testing.T) {
	t.Parallel()
	db := memory(t)
	query := "SELECT n FROM t WHERE n = 2"
	for range maxStatements + 10 {
		query += " "
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil || n != 2 {
			t.Fatal(n, err)
		}
	}
}

func TestAnEndedContextRunsNothing(t *testing.T) {
	t.Parallel()
	db := memory(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.ExecContext(ctx, "DELETE FROM t"); err == nil {
		t.Error("the statement ran")
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows are left, want 3: %v", n, err)
	}
}
