package gauze

import (
	"cmp"
	"database/sql"
	"io"
	"iter"
	"slices"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/people"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
)

// An Input is an opened source of rows whose columns are known.
type Input struct {
	table *source.Table
	room  kernel.Room
}

// Open opens an input as [source.Open] does: a path to CSV, or "-" for CSV on stdin. Programs that
// import source/inputs, for its effect alone, open Parquet, PostgreSQL, SQLite and patterns of
// files too; others do not link them. With a schema that declares the columns it reads no row.
// A schema with Infer lets the first rows choose them, which the privacy promise does not cover.
// With neither the error, a *source.Undeclared, names those that hold numbers. The caller closes
// the input.
func Open(input string, stdin io.Reader, schema *source.Schema) (*Input, error) {
	return inputOf(source.Open(input, stdin, schema))
}

// FromReader returns an input over a caller's own reader, which the input owns: it is closed with
// it, or here if there is an error. The schema is as for [Open].
func FromReader(reader source.Reader, schema *source.Schema) (*Input, error) {
	if reader == nil {
		return nil, absent("reader", "a source.Reader", "write one, as the example of FromReader shows")
	}
	return inputOf(source.Of(reader, schema))
}

// inputOf returns the input of an opened table, or the error.
func inputOf(t *source.Table, err error) (*Input, error) {
	if err != nil {
		return nil, err
	}
	return &Input{table: t}, nil
}

// FromRows returns an input over rows in memory, each with a number for every column and each a
// person of its own: NaN is a missing cell. A row of another length is an error of [Input.Load].
// The rows must not change before they are loaded.
func FromRows(rows [][]float64, columns ...source.Column) (*Input, error) {
	return FromSeq(slices.Values(rows), columns...)
}

// FromSeq returns an input over an iterator, as FromRows does. [Input.Load] asks it for every row
// once. A row may be overwritten once the next one is asked for.
func FromSeq(rows iter.Seq[[]float64], columns ...source.Column) (*Input, error) {
	schema := &source.Schema{Columns: slices.Clone(columns), Unit: source.NoUnit}
	if rows == nil {
		return nil, absent("rows", "an iterator", "give one that yields rows")
	}
	if err := schema.Tidy(); err != nil {
		return nil, err
	}
	return FromReader(source.Seq(rows, schema.Names()), schema)
}

// FromSQL returns an input over the rows of a query, which are closed with it, or here if there is
// an error. The schema is as for [Open]: it names columns of the query.
func FromSQL(rows *sql.Rows, schema *source.Schema) (*Input, error) {
	if rows == nil {
		return nil, absent("rows", "the rows of a query", "take those that Query returns without an error")
	}
	reader, err := source.SQL(rows)
	if err != nil {
		return nil, err
	}
	return FromReader(reader, schema)
}

// absent returns the error for an argument that is nil.
func absent(field, wanted, fix string) error {
	return &privacy.FieldError{Field: field, Wanted: wanted, Got: "nil", Fix: fix}
}

// opened reports whether in is an open input: opening may have failed.
func (in *Input) opened() bool { return in != nil && in.table != nil }

// Request returns a request with the input's columns filled in; relation and budget are left to the
// caller.
func (in *Input) Request() Request { return in.Fill(Request{}) }

// Fill returns r with the input's columns, and what is publicly known of them and of its rows.
func (in *Input) Fill(r Request) Request {
	if !in.opened() {
		return r
	}
	schema := in.table.Schema()
	r.Columns, r.SchemaInferred, r.unit = schema.Columns, in.table.Inferred(), schema.Person()
	r.Title, r.Dataset = cmp.Or(r.Title, schema.Title), cmp.Or(r.Dataset, schema.Dataset)
	return r
}

// Load reads every row, once, into a protected table, for fits under one relation. It can be called
// once. Where the schema has a unit, a row of the table is a person: one of its rows, drawn in
// secret.
//
// read, if set, is called now and then with the number of rows read so far: for the custodian
// alone, like the error and the report.
func (in *Input) Load(r privacy.Relation, read func(rows int)) (*kernel.Table, error) {
	g, err := in.load(r, nil, read)
	if err != nil {
		return nil, err
	}
	return g.tables[0], nil
}

// LoadGroups loads a table for each of the groups that the schema declares, all under
// add-or-remove-one, because the sizes of groups are private.
func (in *Input) LoadGroups(read func(rows int)) (*Groups, error) {
	if in.opened() {
		if err := inGroups(in.table.Schema().Columns); err != nil {
			return nil, err
		}
	}
	names := in.table.Schema().Groups()
	g, err := in.load(privacy.AddRemoveOne, names, read)
	if err != nil {
		return nil, err
	}
	g.names = names
	for _, by := range in.table.Schema().By {
		g.by = append(g.by, by.Name)
	}
	return g, nil
}

// load reads all rows into one table per group, or into one if names is nil.
func (in *Input) load(r privacy.Relation, names [][]string, read func(rows int)) (*Groups, error) {
	if !in.opened() {
		return nil, absent("input", "an opened one", "take the one that Open returns without an error")
	}
	if !r.Valid() {
		_, err := privacy.ParseRelation(r.String())
		return nil, err
	}
	sink, groups := &loader{read: read, grouped: names != nil}, max(1, len(names))
	schema := in.table.Schema()
	d, c, unit := len(schema.Numbers()), len(schema.Categorical()), schema.Person()
	if unit != "" {
		sink.people = people.NewMixedBuilder(d, c)
	}
	for range groups {
		sink.rows = append(sink.rows, kernel.NewMixedBuilder(d, c, in.room))
	}
	if err := in.table.Read(sink); err != nil {
		return nil, err
	}
	sink.name(in.table.Texts())
	g := &Groups{rows: sink.n}
	if unit != "" {
		g.rows, g.tables = sink.people.Persons(), sink.people.Protect(r, groups, in.room)
		sink.rows = nil
	}
	for _, rows := range sink.rows {
		g.tables = append(g.tables, rows.Protect(r))
	}
	if in.room != nil && in.room.Err() != nil {
		return nil, in.room.Err()
	}
	return g, nil
}

// Keep makes Load store its tables in a room, such as package shards has, so that they may exceed
// memory. Of persons (a schema's unit) one row each is in memory until all are read.
func (in *Input) Keep(room kernel.Room) { in.room = room }

// TakeAnyCells makes Load accept an input without rows, or with a column without a number, as it
// accepts any other. It is for servers that let others ask for fits of a table that its custodian
// has looked at before: a failing fit must not reveal what one row did.
func (in *Input) TakeAnyCells() { in.table.TakeAnyCells() }

// Report returns what was read, for the custodian alone.
func (in *Input) Report() source.Report { return in.table.Report() }

// Fraction returns about which part of the input has been read, for the custodian alone; 0 if that
// is not known.
func (in *Input) Fraction() float64 { return in.table.Fraction() }

// Close releases the input.
func (in *Input) Close() error {
	if !in.opened() {
		return nil
	}
	return in.table.Close()
}

// String returns "[protected]".
func (*Input) String() string { return "[protected]" }

// GoString returns "[protected]", for %#v.
func (*Input) GoString() string { return "[protected]" }

// loader passes rows to a builder, of rows or of people, and counts them.
type loader struct {
	rows   []*kernel.Builder // one per group
	people *people.Builder
	n      int
	read   func(rows int)
	// rows of no group are in no table
	grouped bool
}

// readStep is the number of rows between two calls of loader.read.
const readStep = 1 << 14

// Append takes one row.
func (l *loader) Append(row []float64, person string, group int) {
	if !l.grouped {
		group = 0
	}
	switch {
	case l.people != nil:
		l.people.Append(person, group, row)
	case group >= 0:
		l.rows[group].Append(row)
	}
	if l.n++; l.read != nil && l.n%readStep == 0 {
		l.read(l.n)
	}
}

// name says for which texts the codes of categories stand, where values are to be found.
func (l *loader) name(texts [][]string) {
	if texts == nil {
		return
	}
	if l.people != nil {
		l.people.NameCodes(texts)
		return
	}
	for _, rows := range l.rows {
		rows.NameCodes(texts)
	}
}
