package core

import (
	"fmt"
	"sync"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Table is a protected table: rows go in and never come out. It has no method that returns a row,
// a sum or an error that depends on one, and prints as [protected].
//
// Whether the number of rows is public is a fact about the table. So protecting a table fixes its
// relation, and sessions under another one are refused.
type Table struct {
	engine.Protected
	// rows is a closure so that neither a debug printer nor reflection can reach a row.
	rows     func() *engine.Table
	relation privacy.Relation
	hook     *TestHook // of every session over it; nil except in tests and test hooks' runs
}

// A Room stores the rows that are not in memory.
type Room = engine.Room

// A Builder collects the rows of a table. It copies every row. Copies of a builder fill, and close,
// the same table.
type Builder struct {
	engine.Protected
	*filling
}

// A filling is the state that copies of a builder share.
type filling struct {
	mu   sync.Mutex
	d    int           // number of values of a row, codes of categories among them
	rows *engine.Table // nil once the table is protected
}

// NewBuilder starts a table of d >= 1 columns. The number of columns is public: it comes from the
// schema.
func NewBuilder(d int) *Builder { return NewBuilderIn(d, nil) }

// NewBuilderIn starts a table of d >= 1 columns whose rows are stored in a room, or in memory for
// nil.
func NewBuilderIn(d int, room Room) *Builder {
	if d < 1 {
		panic("kernel: a table needs at least one column")
	}
	return &Builder{filling: &filling{d: d, rows: engine.NewTableIn(d, room)}}
}

// NewMixedBuilder starts a table of d columns of numbers and c columns of categories, stored as by
// NewBuilderIn. Its rows have d numbers and then c codes: 0, 1, .. for the values of a category.
// Only SubBudget.Categories asks for the codes; everything else sees a table of d columns.
func NewMixedBuilder(d, c int, room Room) *Builder {
	if d < 1 || c < 0 {
		panic("kernel: a table needs at least one column of numbers")
	}
	return &Builder{filling: &filling{d: d + c, rows: engine.NewMixed(d, c, room)}}
}

// Append adds one row. A value that is not finite is a missing cell. A row of missing cells is the
// null row: it counts in n under replace-one and contributes zero to every measurement. A row with
// some missing cells is a partial row, a null row for all queries but query.Partial. Append panics,
// since it is a programmer's error, if the row does not have d values (with codes, d + c) or comes
// after Protect.
func (b *Builder) Append(row []float64) {
	b.fill(func(f *filling) {
		if len(row) != f.d {
			panic(fmt.Sprintf("kernel: Builder.Append: want rows of %d values, got %d", f.d, len(row)))
		}
		f.rows.Append(row)
	})
}

// NameCodes says for which texts the codes of each column of categories stand: code i for the text
// of number i, any other code for no text. A column with nil has codes that stand for themselves.
// Codes that stand for texts may follow the order of the rows, so no query counts them: FindValues
// counts texts, and Recode replaces them. The caller must ensure that a row's text is a function of
// that row alone.
func (b *Builder) NameCodes(texts [][]string) {
	b.fill(func(f *filling) { f.rows.NameCodes(texts) })
}

// Protect closes the table, under the relation that all its sessions will have.
func (b *Builder) Protect(r privacy.Relation) *Table {
	if !r.Valid() {
		panic("kernel: Builder.Protect: want replace-one or add-remove-one")
	}
	var t *engine.Table
	b.fill(func(f *filling) { t, f.rows = f.rows, nil })
	return protect(t, r)
}

// fill calls do with the table while it is open.
func (b *Builder) fill(do func(*filling)) {
	if b == nil || b.filling == nil {
		panic("kernel: a Builder comes from NewBuilder")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rows == nil {
		panic("kernel: the Builder's table is protected: no row can follow")
	}
	do(b.filling)
}

func protect(t *engine.Table, r privacy.Relation) *Table {
	return &Table{rows: func() *engine.Table { return t }, relation: r}
}

// Hooked returns a copy of a table whose sessions have a hook and mark what they release as
// simulated. Who can call it: kernel/kerneltest, in tests, and kernel/kerneltest, over rows that
// its caller has in plain sight.
//
//go:noinline
func Hooked(t *Table, h *TestHook) *Table {
	return &Table{rows: t.rows, relation: t.relation, hook: h}
}

// Columns returns d, the number of columns of numbers.
func (t *Table) Columns() int { return t.rows().Columns() }

// Categories returns c, the number of columns of categories.
func (t *Table) Categories() int { return t.rows().Codes() }

// Texts returns the numbers of the columns of categories that have texts in place of codes.
func (t *Table) Texts() []int { return t.rows().Texts() }

// Relation returns the relation of all sessions over the table.
func (t *Table) Relation() privacy.Relation { return t.relation }

// Rows returns n, null rows included, and true under replace-one, where n is public; under
// add-or-remove-one n is private and Rows returns false.
func (t *Table) Rows() (int, bool) {
	if t.relation != privacy.ReplaceOne {
		return 0, false
	}
	return t.rows().Len(), true
}
