package kernel

import (
	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Table is a protected table: rows go in and never come out. It has no method that returns a row,
// a sum or an error that depends on one, and prints as [protected].
type Table struct {
	rows.Protected
	// rows is a closure so that neither a debug printer nor reflection can walk to a row.
	rows func() *rows.Table
}

// A Builder takes the rows of a table in. It copies every row it is given.
type Builder struct {
	rows.Protected
	rows *rows.Table
}

// NewBuilder starts a table of d >= 1 columns. The number of columns is public: it comes from the
// schema.
func NewBuilder(d int) *Builder {
	if d < 1 {
		panic("kernel: a table needs at least one column")
	}
	return &Builder{rows: rows.New(d)}
}

// Append adds one row. A row with a value that is not finite becomes the null row: it counts in n
// under replace-one and contributes zero to every measurement.
func (b *Builder) Append(row []float64) { b.rows.Append(row) }

// Protect closes the table. The builder must not be used afterwards.
func (b *Builder) Protect() *Table {
	t := b.rows
	b.rows = nil
	return &Table{rows: func() *rows.Table { return t }}
}

// Columns is d.
func (t *Table) Columns() int { return t.rows().Columns() }

// Rows is n, null rows included, under replace-one, where it is public; under add-or-remove-one it
// is private and Rows reports false. A plan needs it before there is a session; pass the relation
// that the session will have.
func (t *Table) Rows(r privacy.Relation) (int, bool) {
	if r != privacy.ReplaceOne {
		return 0, false
	}
	return t.rows().Len(), true
}
