package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// rangeBlocks is the number of blocks, of 8 kB each, that one query reads, and most the largest
	// number of connections. Guesses.
	rangeBlocks = 256
	most        = 4
	// leastBlocks is the number of blocks of a table from which on further connections are made:
	// with 4,000 they took longer than they saved, with 8,000 not (docs/SOURCES.md).
	leastBlocks = 8000
)

// beginReading begins a transaction that can only read, and sees one state of the database.
const beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

// blockRanges are ranges of a table's blocks, and the connections that can read them side by side.
// All connections see what one transaction does: each row of it is in one range.
type blockRanges struct {
	Conns []*pgconn.PgConn
	Count int
}

// asked asks whether a table can be read so, with which snapshot and size: a plain one, by
// PostgreSQL 14 or newer, which finds ranges of blocks without reading the others. The lock that
// our transaction holds keeps the rows where they are.
const asked = `SELECT pg_catalog.pg_export_snapshot(), pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::int8
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_am a ON a.oid = c.relam
WHERE c.oid = $1::regclass AND c.relkind = 'r' AND NOT c.relhassubclass AND a.amname = 'heap' AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
AND NOT pg_catalog.pg_is_in_recovery() AND pg_catalog.current_setting('server_version_num')::int >= 140000`

// blocksOf divides the blocks of a table that the transaction of a connection has touched into
// ranges; it returns nil where that is impossible, or where the table is too small for more than
// one connection. A server that implements only a part of PostgreSQL may not support this: then the
// transaction is begun again.
func blocksOf(ctx context.Context, conn *pgconn.PgConn, config *pgconn.Config, table string) (*blockRanges, error) {
	hands := min(most, runtime.GOMAXPROCS(0))
	if hands < 2 {
		return nil, nil
	}
	answer := conn.ExecParams(ctx, asked, [][]byte{[]byte(table)}, nil, nil, nil).Read()
	if answer.Err != nil {
		_, err := conn.Exec(ctx, "ROLLBACK; "+beginReading).ReadAll()
		return nil, err
	}
	if len(answer.Rows) == 0 {
		return nil, nil
	}
	blocks, err := strconv.Atoi(string(answer.Rows[0][1]))
	if err != nil || blocks < leastBlocks {
		return nil, err
	}
	r := &blockRanges{Count: (blocks + rangeBlocks - 1) / rangeBlocks}
	snapshot := strings.ReplaceAll(string(answer.Rows[0][0]), "'", "''")
	for range hands - 1 {
		other, err := pgconn.ConnectConfig(ctx, config)
		if err != nil {
			break // no connection is left: the ones made so far suffice
		}
		if _, err := other.Exec(ctx, beginReading+"; SET TRANSACTION SNAPSHOT '"+snapshot+"'").ReadAll(); err != nil {
			_ = other.Close(ctx) // of another server, such as a copy of it
			break
		}
		r.Conns = append(r.Conns, other)
	}
	if len(r.Conns) == 0 {
		return nil, nil
	}
	r.Conns = append(r.Conns, conn)
	return r, nil
}

// Where returns the condition that a row is in a range. Everything after the last range is in it.
func (r *blockRanges) Where(i int) string {
	where := fmt.Sprintf(" WHERE ctid >= '(%d,0)'::tid", i*rangeBlocks)
	if i < r.Count-1 {
		where += fmt.Sprintf(" AND ctid < '(%d,0)'::tid", (i+1)*rangeBlocks)
	}
	return where
}

// Close ends the connections, if there are any.
func (r *blockRanges) Close(ctx context.Context) error {
	if r == nil {
		return nil
	}
	var errs []error
	for _, c := range r.Conns {
		errs = append(errs, c.Close(ctx))
	}
	return errors.Join(errs...)
}
