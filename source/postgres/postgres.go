// Package postgres reads a table or a query of a PostgreSQL server, streamed, in a transaction that
// can only read and sees one state of the database.
//
// It uses pgconn, the lower half of pgx: the upper half turns rows into Go types by reflection,
// which is not needed here and adds three megabytes.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gauze-dp/gauze/source"
)

type reader struct {
	conn   *pgconn.PgConn
	config *pgconn.Config
	table  string // quoted; "" for a query
	query  string

	header   []string
	oids     []uint32
	types    []source.Type
	selected []int
	labels   []int

	result *pgconn.ResultReader // nil until the first row is asked for, or if there are ranges
	ranges *blockRanges         // read at the same time, into pieces
	pieces *pieceTable
	places []int // indices of the header's columns among the result's, -1 for none
}

// Open opens postgres://USER@HOST/DATABASE?table=T or ?query=Q, with any other parameters of such a
// URL. It reads no row.
//
// No error shows the URL, which may hold a password. PGPASSWORD or a password file are better
// places for one, and both are used.
func Open(input string) (source.Reader, error) {
	head, parameters, _ := strings.Cut(input, "?")
	table, query, rest, err := source.TableOrQuery(parameters)
	if err != nil {
		return nil, err
	}
	config, err := pgconn.ParseConfig(head + "?" + rest)
	if err != nil {
		return nil, &source.Error{Field: "input", Wanted: "postgres://USER@HOST/DATABASE?table=T", Got: "a URL that is none", Hint: "percent-encode what is special in user and password"}
	}
	for name, value := range map[string]string{"TimeZone": "UTC", "DateStyle": "ISO", "extra_float_digits": "3", "application_name": "gauze"} {
		config.RuntimeParams[name] = value
	}
	r := &reader{query: query, config: config}
	if r.conn, err = pgconn.ConnectConfig(context.Background(), config); err != nil {
		return nil, &source.Error{Field: "input", Wanted: "a connection to PostgreSQL", Got: "none", Quoted: withoutPassword(err, config.Password, head), Hint: "check the URL, and that the server can be reached"}
	}
	if table != "" {
		r.table = quoted(strings.Split(table, ".")...)
		r.query = "SELECT * FROM " + r.table
	}
	if err := r.begin(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// withoutPassword returns an error's text, unless it shows the password in any form.
func withoutPassword(err error, password, head string) string {
	text := err.Error()
	user, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(head, "postgres://"), "postgresql://"), "@")
	_, written, _ := strings.Cut(user, ":")
	for _, secret := range []string{password, written} {
		if secret != "" && strings.Contains(text, secret) {
			return "an error whose text shows the password"
		}
	}
	return strings.Join(strings.Fields(text), " ")
}

// quoted returns a name, or schema and name, quoted such that SQL reads it as nothing else.
func quoted(parts ...string) string {
	for i, part := range parts {
		parts[i] = `"` + strings.ReplaceAll(strings.ReplaceAll(part, "\x00", ""), `"`, `""`) + `"`
	}
	return strings.Join(parts, ".")
}

// begin opens the transaction and learns the columns.
func (r *reader) begin() error {
	ctx := context.Background()
	if _, err := r.conn.Exec(ctx, beginReading).ReadAll(); err != nil {
		return fault(err, true)
	}
	statement, err := r.conn.Prepare(ctx, "", r.query, nil)
	if err != nil {
		return fault(err, true)
	}
	if len(statement.Fields) == 0 {
		return &source.Error{Field: "input", Wanted: "a query that returns rows", Got: "another statement", Hint: "write SELECT .."}
	}
	for i, f := range statement.Fields {
		r.header, r.oids, r.selected = append(r.header, f.Name), append(r.oids, f.DataTypeOID), append(r.selected, i)
	}
	r.types, err = typesOf(ctx, r.conn, r.oids)
	return err
}

// codeReadOnly is the server's code for a statement that would change something.
const codeReadOnly = "25006"

// fault rewrites an error. The server's text while it reads rows may hold a cell, and is not shown:
// its code is.
func fault(err error, before bool) error {
	var said *pgconn.PgError
	switch {
	case !errors.As(err, &said):
		return fmt.Errorf("source: reading from PostgreSQL: %w", err)
	case said.Code == codeReadOnly:
		return &source.Error{Field: "input", Wanted: "a query that only reads", Got: "one that would change the database", Hint: "write SELECT .."}
	case before:
		return &source.Error{Field: "input", Wanted: "a table or query that PostgreSQL can read", Got: "an error of PostgreSQL with the code " + said.Code, Quoted: said.Message, Hint: "check the names, of which case counts, and the rights"}
	}
	return &source.Error{Field: "input", Wanted: "rows", Got: "an error of PostgreSQL with the code " + said.Code, Hint: "try it in psql, and whether the user of the URL may read it"}
}

// Header implements source.Reader.
func (r *reader) Header() []string { return r.header }

// Types implements source.Typed.
func (r *reader) Types() []source.Type { return r.types }

// Select implements source.Reader.
func (r *reader) Select(columns, labels []int) { r.selected, r.labels = columns, labels }

// Close implements source.Reader. The transaction ends with the connection.
func (r *reader) Close() error {
	ctx := context.Background()
	return errors.Join(r.ranges.Close(ctx), r.conn.Close(ctx))
}

// start asks for the rows; of a table, only the selected columns.
func (r *reader) start() (err error) {
	asked, query := []int{}, r.query
	for i := range r.header {
		if r.table == "" || slices.Contains(r.selected, i) || slices.Contains(r.labels, i) {
			asked = append(asked, i)
		}
	}
	ctx := context.Background()
	if r.table != "" {
		if r.ranges, err = blocksOf(ctx, r.conn, r.config, r.table); err != nil {
			return err
		}
		// a table that begins to inherit from it meanwhile is left out
		from := map[bool]string{false: " FROM ", true: " FROM ONLY "}[r.ranges != nil]
		names := make([]string, len(asked))
		for at, i := range asked {
			names[at] = quoted(r.header[i])
		}
		query = "SELECT " + strings.Join(names, ", ") + from + r.table
	}
	r.places = make([]int, len(r.header))
	formats := make([]int16, len(asked))
	for at, i := range asked {
		if r.places[i] = at; slices.Contains(r.selected, i) && inBinary[r.oids[i]] {
			formats[at] = 1
		}
	}
	if r.ranges == nil {
		r.result = r.conn.ExecParams(ctx, query, nil, nil, nil, formats)
		return nil
	}
	var hands []func(int, *piece) error
	for _, conn := range r.ranges.Conns {
		hands = append(hands, func(i int, into *piece) error {
			result := conn.ExecParams(ctx, query+r.ranges.Where(i), nil, nil, nil, formats)
			for result.NextRow() {
				values, kinds, labels := into.Add()
				r.take(result.Values(), values, kinds, labels)
				for j, kind := range kinds {
					if kind == source.NotNumber {
						into.Say(j, r.textOf(result.Values(), j))
					}
				}
			}
			_, err := result.Close()
			return err
		})
	}
	r.pieces = newPieces(r.ranges.Count, len(r.selected), len(r.labels), hands)
	return nil
}

// Next implements source.Reader.
func (r *reader) Next(values []float64, kinds []source.Kind, labels []string) (err error) {
	if r.result == nil && r.pieces == nil {
		err = r.start()
	}
	switch {
	case err != nil:
	case r.pieces != nil:
		err = r.pieces.Next(values, kinds, labels)
	case r.result.NextRow():
		r.take(r.result.Values(), values, kinds, labels)
	default:
		if _, err = r.result.Close(); err == nil {
			return io.EOF
		}
	}
	if err != nil && err != io.EOF {
		err = fault(err, false)
	}
	return err
}

// Text implements source.Texts.
func (r *reader) Text(i int) string {
	if r.pieces != nil {
		return r.pieces.Text(i)
	}
	return r.textOf(r.result.Values(), i)
}

// textOf returns the server's text of the i-th selected cell of a row. Cells of types that come in
// binary are numbers.
func (r *reader) textOf(row [][]byte, i int) string {
	j := r.selected[i]
	return text(r.oids[j], row[r.places[j]])
}

// take converts the server's data of a row.
func (r *reader) take(row [][]byte, values []float64, kinds []source.Kind, labels []string) {
	for i, j := range r.selected {
		values[i], kinds[i] = cell(r.oids[j], row[r.places[j]])
	}
	for i, j := range r.labels {
		labels[i] = text(r.oids[j], row[r.places[j]])
	}
}
