package ledger

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A connector connects database/sql to PostgreSQL over pgconn, the lower half of pgx: what a ledger
// keeps are texts and whole numbers, and the upper half, which knows all types, adds three
// megabytes. Numbers go and come as text.
type connector struct{ config *pgconn.Config }

// newConnector returns what connects to the database of a URL.
func newConnector(place string) (driver.Connector, error) {
	config, err := pgconn.ParseConfig(place)
	if err != nil {
		return nil, err
	}
	return connector{config}, nil
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	pg, err := pgconn.ConnectConfig(ctx, c.config)
	if err != nil {
		return nil, err
	}
	return &connection{pg}, nil
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return pgDriver{} }

type pgDriver struct{}

// Open implements driver.Driver.
func (pgDriver) Open(place string) (driver.Conn, error) {
	c, err := newConnector(place)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

// A connection is one connection to PostgreSQL.
type connection struct{ pg *pgconn.PgConn }

// Close implements driver.Conn.
func (c *connection) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return c.pg.Close(ctx)
}

// closing is how long a connection may take to say goodbye. A guess.
const closing = 5 * time.Second

// IsValid implements driver.Validator.
func (c *connection) IsValid() bool { return !c.pg.IsClosed() }

// ResetSession implements driver.SessionResetter: a connection within a transaction is not used
// again.
func (c *connection) ResetSession(context.Context) error {
	if c.pg.IsClosed() || c.pg.TxStatus() != 'I' {
		return driver.ErrBadConn
	}
	return nil
}

// Ping implements driver.Pinger.
func (c *connection) Ping(ctx context.Context) error { return c.run(ctx, "") }

// run executes statements without parameters.
func (c *connection) run(ctx context.Context, statements string) error {
	if c.pg.IsClosed() {
		return driver.ErrBadConn
	}
	return retry(c.pg.Exec(ctx, statements).Close())
}

// retry returns driver.ErrBadConn for an error before anything was sent: another connection may do.
func retry(err error) error {
	if err != nil && pgconn.SafeToRetry(err) {
		return driver.ErrBadConn
	}
	return err
}

// ExecContext implements driver.ExecerContext. Statements without parameters may be several.
func (c *connection) ExecContext(ctx context.Context, statement string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) == 0 {
		return driver.ResultNoRows, c.run(ctx, statement)
	}
	sent, err := c.send(ctx, statement, args)
	if err != nil {
		return nil, err
	}
	tag, err := sent.Close()
	return driver.RowsAffected(tag.RowsAffected()), retry(err)
}

// QueryContext implements driver.QueryerContext.
func (c *connection) QueryContext(ctx context.Context, statement string, args []driver.NamedValue) (driver.Rows, error) {
	sent, err := c.send(ctx, statement, args)
	if err != nil {
		return nil, err
	}
	r := &answer{sent: sent}
	// The first row tells errors of the statement, which callers expect here.
	if r.ready = sent.NextRow(); !r.ready {
		if _, err := sent.Close(); err != nil {
			return nil, retry(err)
		}
	}
	for _, f := range sent.FieldDescriptions() {
		r.names, r.types = append(r.names, f.Name), append(r.types, f.DataTypeOID)
	}
	return r, nil
}

// send sends one statement with its parameters, whose types the server infers.
func (c *connection) send(ctx context.Context, statement string, args []driver.NamedValue) (*pgconn.ResultReader, error) {
	if c.pg.IsClosed() {
		return nil, driver.ErrBadConn
	}
	values := make([][]byte, len(args))
	for i, arg := range args {
		switch v := arg.Value.(type) {
		case nil:
		case int64:
			values[i] = strconv.AppendInt(nil, v, 10)
		case string:
			values[i] = []byte(v)
		case bool:
			values[i] = strconv.AppendBool(nil, v)
		case float64:
			values[i] = strconv.AppendFloat(nil, v, 'g', -1, 64)
		case []byte:
			values[i] = []byte(`\x` + hex.EncodeToString(v))
		default:
			return nil, fmt.Errorf("ledger: parameter %d is a %T", i+1, v)
		}
	}
	return c.pg.ExecParams(ctx, statement, values, nil, nil, nil), nil
}

// Prepare implements driver.Conn.
func (c *connection) Prepare(text string) (driver.Stmt, error) { return &statement{c, text}, nil }

// Begin implements driver.Conn.
func (c *connection) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx implements driver.ConnBeginTx, for the server's own level of isolation.
func (c *connection) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if options != (driver.TxOptions{}) {
		return nil, errors.New("ledger: transactions have no options")
	}
	return transaction{c}, c.run(ctx, "BEGIN")
}

type transaction struct{ c *connection }

// Commit implements driver.Tx. The server answers the commit of a failed transaction by undoing it,
// which is an error here.
func (t transaction) Commit() error {
	results, err := t.c.pg.Exec(context.Background(), "COMMIT").ReadAll()
	if err != nil {
		return err
	}
	if len(results) != 1 || results[0].CommandTag.String() != "COMMIT" {
		return errors.New("ledger: the transaction had failed, and was undone")
	}
	return nil
}

// Rollback implements driver.Tx.
func (t transaction) Rollback() error {
	if t.c.pg.IsClosed() {
		return nil // it ended with its connection
	}
	return t.c.run(context.Background(), "ROLLBACK")
}

// A statement is a text that is sent whole each time.
type statement struct {
	c    *connection
	text string
}

// Close implements driver.Stmt.
func (*statement) Close() error { return nil }

// NumInput implements driver.Stmt: the server counts.
func (*statement) NumInput() int { return -1 }

// Exec implements driver.Stmt; database/sql calls ExecContext.
func (*statement) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

// Query implements driver.Stmt; database/sql calls QueryContext.
func (*statement) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }

// ExecContext implements driver.StmtExecContext.
func (s *statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.ExecContext(ctx, s.text, args)
}

// QueryContext implements driver.StmtQueryContext.
func (s *statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.text, args)
}

// An answer is the rows of a query, read as they come.
type answer struct {
	sent  *pgconn.ResultReader
	ready bool // a row has been read, and not handed on
	names []string
	types []uint32
}

// Columns implements driver.Rows.
func (a *answer) Columns() []string { return a.names }

// Close implements driver.Rows.
func (a *answer) Close() error {
	_, err := a.sent.Close()
	return err
}

// The numbers of PostgreSQL's types that are no text.
const oidBool, oidBytes, oidInt8, oidInt2, oidInt4, oidFloat4, oidFloat8 = 16, 17, 20, 21, 23, 700, 701

// Next implements driver.Rows.
func (a *answer) Next(row []driver.Value) (err error) {
	if !a.ready && !a.sent.NextRow() {
		if err := a.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	a.ready = false
	for i, cell := range a.sent.Values() {
		text := string(cell)
		switch {
		case cell == nil:
			row[i] = nil
		case a.types[i] == oidInt8 || a.types[i] == oidInt4 || a.types[i] == oidInt2:
			row[i], err = strconv.ParseInt(text, 10, 64)
		case a.types[i] == oidFloat4 || a.types[i] == oidFloat8:
			row[i], err = strconv.ParseFloat(text, 64)
		case a.types[i] == oidBool:
			row[i] = text == "t"
		case a.types[i] == oidBytes && len(text) >= 2:
			row[i], err = hex.DecodeString(text[2:])
		default:
			row[i] = text
		}
		if err != nil {
			return err
		}
	}
	return nil
}
