package gauze

import (
	"io"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/people"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
)

// An Input is an opened source of rows whose columns are known.
type Input struct{ table *source.Table }

// Open opens an input as source.Open does. With a schema no row is read; without one (nil) the
// columns are inferred from the first rows, which the privacy promise does not cover. The caller
// closes the input.
func Open(input string, stdin io.Reader, schema *source.Schema) (*Input, error) {
	t, err := source.Open(input, stdin, schema)
	if err != nil {
		return nil, err
	}
	return &Input{table: t}, nil
}

// Request returns a request with the input's columns filled in; relation and budget are left to the
// caller.
func (in *Input) Request() Request {
	schema := in.table.Schema()
	r := Request{Columns: schema.Names(), RoundedTo: make([]float64, len(schema.Columns)), SchemaDeclared: !in.table.Inferred(), Unit: schema.Unit}
	for i, c := range schema.Columns {
		r.RoundedTo[i] = c.RoundedTo
		r.Limits = append(r.Limits, [2]*float64{c.AtLeast, c.AtMost})
	}
	return r
}

// Load reads every row, once, into a protected table, for fits under one relation. It can be called
// once. Where the schema has a unit, a row of the table is a person: one of its rows, drawn in
// secret.
//
// read, if set, is told now and then how many rows have been read: for the custodian alone, like
// the error and the report.
func (in *Input) Load(r privacy.Relation, read func(rows int)) (*kernel.Table, error) {
	if !r.Valid() {
		_, err := privacy.ParseRelation(r.String())
		return nil, err
	}
	sink := &loader{read: read}
	d, unit := len(in.table.Columns()), in.table.Schema().Unit
	if unit == "" {
		sink.rows = kernel.NewBuilder(d)
	} else {
		sink.people = people.NewBuilder(d)
	}
	if err := in.table.Read(sink); err != nil {
		return nil, err
	}
	if unit == "" {
		return sink.rows.Protect(r), nil
	}
	return sink.people.Protect(r, 1)[0], nil
}

// Report returns what was read, for the custodian alone.
func (in *Input) Report() source.Report { return in.table.Report() }

// Close releases the input.
func (in *Input) Close() error { return in.table.Close() }

// String hides what an input holds.
func (*Input) String() string { return "[protected]" }

// GoString hides what an input holds from %#v.
func (*Input) GoString() string { return "[protected]" }

// loader hands rows to a builder, of rows or of people, and counts them.
type loader struct {
	rows   *kernel.Builder
	people *people.Builder
	n      int
	read   func(rows int)
}

// readStep is how many rows lie between two calls of loader.read.
const readStep = 1 << 14

// Append takes one row.
func (l *loader) Append(row []float64, person string, _ int) {
	if l.people != nil {
		l.people.Append(person, 0, row)
	} else {
		l.rows.Append(row)
	}
	if l.n++; l.read != nil && l.n%readStep == 0 {
		l.read(l.n)
	}
}
