//go:build unix

package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/parallel"
)

// A pool is connections to a test's PostgreSQL server.
type pool struct {
	*testing.T
	*sql.DB
}

// pooled returns at most most connections, and a table (k text, n bigint, b bytea) with a name.
func pooled(t *testing.T, s *server, most int, table string) pool {
	t.Helper()
	db, _, err := connect(s.url(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(most)
	p := pool{t, db}
	p.does(db, "CREATE TABLE "+table+" (k TEXT, n BIGINT, b BYTEA)")
	return p
}

// An executor is a database, a connection or a transaction.
type executor interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func (p pool) does(on executor, statement string, args ...any) {
	p.Helper()
	if _, err := on.ExecContext(p.Context(), statement, args...); err != nil {
		p.Fatalf("%s: %v", statement, err)
	}
}

// fails runs a statement that has to fail.
func (p pool) fails(on executor, statement string, args ...any) {
	p.Helper()
	if _, err := on.ExecContext(p.Context(), statement, args...); err == nil {
		p.Errorf("%s: no error", statement)
	}
}

// number returns the whole number that a query answers.
func (p pool) number(on executor, query string, args ...any) (n int64) {
	p.Helper()
	if err := on.QueryRowContext(p.Context(), query, args...).Scan(&n); err != nil {
		p.Errorf("%s: %v", query, err)
	}
	return n
}

func (p pool) begin(ctx context.Context) *sql.Tx {
	p.Helper()
	tx, err := p.BeginTx(ctx, nil)
	if err != nil {
		p.Fatal(err)
	}
	return tx
}

// TestDriver holds the driver for PostgreSQL to what database/sql and the ledger rest on.
func TestDriver(t *testing.T) {
	s := started(t)
	for name, test := range map[string]func(pool, *server, string){
		"values": driverValues, "statements": driverStatements, "failed": driverFailed, "cancelled": driverCancelled, "killed": driverKilled, "locks": driverLocks,
	} {
		t.Run(name, func(t *testing.T) { test(pooled(t, s, 3, "t_"+name), s, "t_"+name) })
	}
}

// driverValues: values come back as they went, NULL among them.
func driverValues(p pool, _ *server, table string) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, row := range []struct {
		k any
		n any
		b any
	}{
		{nil, nil, nil}, {"", int64(0), []byte{}}, {"a'b\"c\\d\n$1 ? \u00e9\U0001F600", int64(-1), all}, {`\x41`, int64(math.MinInt64), []byte(`\x41`)}, {"NULL", int64(math.MaxInt64), []byte{0}},
		{strings.Repeat("long ", 1<<16), int64(-1 << 40), bytes.Repeat([]byte{0, 255}, 1<<18)},
	} {
		p.does(p, "DELETE FROM "+table)
		p.does(p, "INSERT INTO "+table+" VALUES ($1, $2, $3)", row.k, row.n, row.b)
		var k, n, b any
		if err := p.QueryRowContext(p.Context(), "SELECT k, n, b FROM "+table).Scan(&k, &n, &b); err != nil {
			p.Fatal(err)
		}
		got, gotBytes := b.([]byte)
		want, wantBytes := row.b.([]byte)
		if k != row.k || n != row.n || gotBytes != wantBytes || !bytes.Equal(got, want) {
			p.Errorf("%.60q came back as %.60q", fmt.Sprint(row), fmt.Sprint(k, n, b))
		}
	}
	var two, four, whole int64
	var real, double float64
	var yes, no bool
	if err := p.QueryRowContext(p.Context(), "SELECT (-32768)::int2, (-2147483648)::int4, $1::bigint, (-0.5)::float4, $2::float8, $3::bool, $4::bool", int64(-7), -1e-300, true, false).Scan(&two, &four, &whole, &real, &double, &yes, &no); err != nil ||
		two != math.MinInt16 || four != math.MinInt32 || whole != -7 || real != -.5 || double != -1e-300 || !yes || no {
		p.Error(two, four, whole, real, double, yes, no, err)
	}
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, .1} {
		var got float64
		if err := p.QueryRowContext(p.Context(), "SELECT $1::float8", x).Scan(&got); err != nil || got != x {
			p.Errorf("%v came back as %v (%v)", x, got, err)
		}
	}
	var text string
	if err := p.QueryRowContext(p.Context(), "SELECT NULL::text").Scan(&text); err == nil {
		p.Error("NULL was scanned into a string")
	}
	if err := p.QueryRowContext(p.Context(), "SELECT k FROM "+table+" WHERE false").Scan(&text); !errors.Is(err, sql.ErrNoRows) {
		p.Errorf("no rows: %v", err)
	}
	p.fails(p, "INSERT INTO "+table+" (k) VALUES ($1)", time.Now()) // no parameter of the ledger's
	p.fails(p, "INSERT INTO "+table+" (k) VALUES ($1)", "a\x00b")
	if n := p.number(p, "SELECT COUNT(*) FROM "+table); n != 1 {
		p.Errorf("%d rows", n)
	}
}

// driverStatements: several statements, prepared ones, and answers that are not read to their end.
func driverStatements(p pool, _ *server, table string) {
	p.does(p, "INSERT INTO "+table+" (n) VALUES (1); INSERT INTO "+table+" (n) VALUES (2);; -- nothing\n")
	p.fails(p, "INSERT INTO "+table+" (n) VALUES (3); SELECT 1/0; INSERT INTO "+table+" (n) VALUES (4)")
	p.fails(p, "INSERT INTO "+table+" (n) VALUES ($1); INSERT INTO "+table+" (n) VALUES (5)", int64(3))
	p.fails(p, "INSERT INTO "+table+" (n) VALUES ($1)")
	p.fails(p, "INSERT INTO "+table+" (n) VALUES ($1)", int64(3), int64(4))
	if n := p.number(p, "SELECT SUM(n) FROM "+table); n != 3 {
		p.Errorf("the rows sum to %d", n)
	}
	done, err := p.ExecContext(p.Context(), "UPDATE "+table+" SET n = n + $1", int64(1))
	if err != nil {
		p.Fatal(err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 2 {
		p.Errorf("%d rows were changed (%v)", n, err)
	}
	prepared, err := p.PrepareContext(p.Context(), "SELECT n FROM "+table+" WHERE n > $1 ORDER BY n")
	if err != nil {
		p.Fatal(err)
	}
	defer prepared.Close()
	var n int64
	if err := prepared.QueryRowContext(p.Context(), int64(2)).Scan(&n); err != nil || n != 3 {
		p.Errorf("prepared: %d (%v)", n, err)
	}
	if _, err := prepared.ExecContext(p.Context(), int64(2)); err != nil {
		p.Error(err)
	}
	for range 6 { // more than there are connections
		rows, err := p.QueryContext(p.Context(), "SELECT n, repeat('x', 1000) FROM generate_series(1, 100000) AS n")
		if err != nil || !rows.Next() {
			p.Fatal(err)
		}
		if err := rows.Close(); err != nil {
			p.Error(err)
		}
	}
	rows, err := p.QueryContext(p.Context(), "SELECT 100 / (3000 - n) FROM generate_series(1, 5000) AS n")
	if err != nil {
		p.Fatal(err)
	}
	defer rows.Close()
	seen := 0
	for rows.Next() {
		seen++
	}
	if rows.Err() == nil || seen >= 3000 {
		p.Errorf("an answer that fails after %d rows: %v", seen, rows.Err())
	}
	if _, err := p.BeginTx(p.Context(), &sql.TxOptions{ReadOnly: true}); err == nil {
		p.Error("an option of a transaction was taken, and is not heeded")
	}
}

// driverFailed: a transaction that failed cannot be committed, and a connection within one is not
// used again.
func driverFailed(p pool, _ *server, table string) {
	tx := p.begin(p.Context())
	p.does(tx, "INSERT INTO "+table+" (n) VALUES (1)")
	p.fails(tx, "SELECT 1/0")
	p.fails(tx, "INSERT INTO "+table+" (n) VALUES (2)")
	if err := tx.Commit(); err == nil {
		p.Error("a failed transaction was committed")
	}
	p.does(p, "CREATE TABLE later (n BIGINT UNIQUE DEFERRABLE INITIALLY DEFERRED)")
	tx = p.begin(p.Context())
	p.does(tx, "INSERT INTO later VALUES (1), (1)")
	if err := tx.Commit(); err == nil {
		p.Error("a commit that failed is no error")
	}
	tx = p.begin(p.Context())
	p.does(tx, "INSERT INTO "+table+" (n) VALUES (3)")
	if err := tx.Rollback(); err != nil {
		p.Error(err)
	}
	if n := p.number(p, "SELECT (SELECT COUNT(*) FROM later) + (SELECT COUNT(*) FROM "+table+")"); n != 0 {
		p.Errorf("%d rows of transactions that failed", n)
	}
	p.SetMaxOpenConns(1)
	p.does(p, "BEGIN; INSERT INTO "+table+" (n) VALUES (4)")
	if n := p.number(p, "SELECT COUNT(*) FROM "+table); n != 0 {
		p.Error("a connection within a transaction was used again")
	}
	tx = p.begin(p.Context())
	p.does(tx, "INSERT INTO "+table+" (n) VALUES (5)")
	if err := tx.Commit(); err != nil || p.number(p, "SELECT SUM(n) FROM "+table) != 5 {
		p.Error("a good transaction: ", err)
	}
}

// driverCancelled: a cancelled context ends a statement, undoes its transaction, and leaves the
// pool usable.
func driverCancelled(p pool, _ *server, table string) {
	p.SetMaxOpenConns(1)
	for range 3 {
		ctx, cancel := context.WithTimeout(p.Context(), 30*time.Millisecond)
		begun := time.Now()
		if _, err := p.ExecContext(ctx, "SELECT pg_sleep(30)"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 20*time.Second {
			p.Errorf("after %v: %v", time.Since(begun), err)
		}
		var n int64
		if err := p.QueryRowContext(ctx, "SELECT 1").Scan(&n); err == nil {
			p.Error("a query with a context that is over")
		}
		cancel()
		ctx, cancel = context.WithCancel(p.Context())
		tx := p.begin(ctx)
		p.does(tx, "INSERT INTO "+table+" (n) VALUES ($1)", int64(1))
		cancel()
		if err := tx.Commit(); err == nil {
			p.Error("a cancelled transaction was committed")
		}
		ctx, cancel = context.WithCancel(p.Context())
		rows, err := p.QueryContext(ctx, "SELECT n, repeat('x', 1000) FROM generate_series(1, 1000000) AS n")
		if err != nil || !rows.Next() {
			p.Fatal(err)
		}
		cancel()
		seen := 1
		for rows.Next() {
			seen++
		}
		if rows.Err() == nil || seen == 1000000 {
			p.Errorf("a cancelled answer ended after %d rows: %v", seen, rows.Err())
		}
		rows.Close()
		if n := p.number(p, "SELECT COUNT(*) FROM "+table); n != 0 {
			p.Errorf("%d rows of transactions that were cancelled", n)
		}
	}
}

// driverKilled: when the server ends a connection, whatever it did is an error, or was done.
func driverKilled(p pool, s *server, table string) {
	other, _, err := connect(s.url(), false)
	if err != nil {
		p.Fatal(err)
	}
	defer other.Close()
	kill := func(pid int64) {
		p.Helper()
		if p.number(other, "SELECT CASE WHEN pg_terminate_backend($1::int, 10000) THEN 1 ELSE 0 END", pid) != 1 {
			p.Error("the connection was not ended")
		}
	}
	p.SetMaxOpenConns(1)
	for i := range int64(3) {
		tx := p.begin(p.Context())
		p.does(tx, "INSERT INTO "+table+" (n) VALUES ($1)", i)
		kill(p.number(tx, "SELECT pg_backend_pid()"))
		if i == 1 {
			p.fails(tx, "INSERT INTO "+table+" (n) VALUES ($1)", i)
		}
		if err := tx.Commit(); err == nil {
			p.Error("a transaction of a connection that is gone was committed")
		}
		if n := p.number(other, "SELECT COUNT(*) FROM "+table); n != 0 {
			p.Errorf("%d rows of connections that were ended", n)
		}
		if n := p.number(p, "SELECT COUNT(*) FROM "+table); n != 0 { // the pool has another
			p.Error(n)
		}
	}
	for i := range int64(5) { // while it is idle
		kill(p.number(p, "SELECT pg_backend_pid()"))
		_, err := p.ExecContext(p.Context(), "INSERT INTO "+table+" (n) VALUES ($1)", i)
		if n := p.number(other, "SELECT COUNT(*) FROM "+table+" WHERE n = $1", i); n > 1 || (err == nil) != (n == 1) {
			p.Errorf("%d rows, and the error %v", n, err)
		}
	}
	rows, err := p.QueryContext(p.Context(), "SELECT pg_backend_pid(), repeat('x', 1000) FROM generate_series(1, 1000000) AS n")
	if err != nil || !rows.Next() {
		p.Fatal(err)
	}
	defer rows.Close()
	var pid int64
	var x string
	if err := rows.Scan(&pid, &x); err != nil {
		p.Fatal(err)
	}
	kill(pid)
	seen := 1
	for rows.Next() {
		seen++
	}
	if rows.Err() == nil || seen == 1000000 {
		p.Errorf("an answer ended with its connection after %d rows: %v", seen, rows.Err())
	}
}

// driverLocks: transactions that lock a row read what the one before has written.
func driverLocks(p pool, _ *server, table string) {
	p.SetMaxOpenConns(6)
	p.does(p, "INSERT INTO "+table+" (k, n) VALUES ('sum', 0)")
	var undone atomic.Int64
	const each = 15
	parallel.Run(6, func(i int) {
		for round := range each {
			tx := p.begin(p.Context())
			n := p.number(tx, "SELECT n FROM "+table+" WHERE k = $1 FOR UPDATE", "sum")
			p.does(tx, "UPDATE "+table+" SET n = $1 WHERE k = 'sum'", n+1)
			if (i+round)%5 == 0 {
				undone.Add(1)
				if err := tx.Rollback(); err != nil {
					p.Error(err)
				}
			} else if err := tx.Commit(); err != nil {
				p.Error(err)
			}
		}
	})
	if n := p.number(p, "SELECT n FROM "+table); n != 6*each-undone.Load() {
		p.Errorf("%d increments of %d are there", n, 6*each-undone.Load())
	}
	if _, err := (pgDriver{}).Open("postgres://nobody@127.0.0.1:1/none?connect_timeout=1"); err == nil || errors.Is(err, driver.ErrSkip) {
		p.Errorf("a server that is not there: %v", err)
	}
}
