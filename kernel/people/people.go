// Package people reads tables in which a person has several rows, or in which rows fall into groups
// that get a model each.
//
// It keeps one row of every person, drawn uniformly and in secret. The protected table holds those
// rows, in random order. So a person is one row of it, whatever is measured of it afterwards and
// however many rows the person has, and its rows have the law of a random row of a random person. A
// change of a person's rows, or a person who comes or goes, is then a change of one row:
// people_proof.md.
//
// Where rows fall into groups, [CostOfGroups] finds in a plan the cost of every step when a row is
// replaced within its group, and leaves the composition to package privacy.
package people

import (
	"fmt"
	"sync"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Builder collects the rows of persons. It copies every row that it is given, and keeps one of
// each person. Copies of a builder fill, and close, the same tables.
type Builder struct {
	engine.Protected
	*crowd
}

// A crowd is the state that copies of a builder share.
type crowd struct {
	mu     sync.Mutex
	d      int            // number of values of a row
	codes  int            // .. of which the last are codes of categories, this many
	texts  [][]string     // for which the codes stand; nil for none
	at     map[string]int // the number of a person
	seen   []uint64       // number of rows of each person
	group  []int          // group of the row that is kept
	kept   []float64      // the rows that are kept, row-major
	random func() noise.Source
	done   bool
}

// NewBuilder starts a table of d >= 1 columns.
func NewBuilder(d int) *Builder { return NewMixedBuilder(d, 0) }

// NewMixedBuilder starts a table of d >= 1 columns of numbers and c of categories: see
// kernel.NewMixedBuilder.
func NewMixedBuilder(d, c int) *Builder { return newBuilder(d, c, noise.NewEntropy()) }

func newBuilder(d, c int, source noise.Source) *Builder {
	if d < 1 || c < 0 {
		panic("people: a table needs at least one column")
	}
	return &Builder{crowd: &crowd{d: d + c, codes: c, at: map[string]int{}, random: func() noise.Source { return source }}}
}

// Append adds one row of d values of a person, which belongs to a group (0 if there is only one).
// Rows of the same person have the same name; a row without one, "", is of a person of its own.
// Values, and panics at a programmer's errors, are those of kernel.Builder.Append.
func (b *Builder) Append(person string, group int, row []float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.done:
		panic("people: the tables are protected: no row can follow")
	case len(row) != b.d:
		panic(fmt.Sprintf("people: Builder.Append: want rows of %d values, got %d", b.d, len(row)))
	}
	i, known := b.at[person]
	if !known || person == "" {
		i = len(b.seen)
		if person != "" {
			b.at[person] = i
		}
		b.seen, b.group, b.kept = append(b.seen, 0), append(b.group, 0), append(b.kept, row...)
	}
	// The r-th row of a person takes the place of the one that is kept with probability 1/r.
	if b.seen[i]++; noise.Uniform(b.random(), b.seen[i]) == 0 {
		b.group[i] = group
		copy(b.kept[i*b.d:], row)
	}
}

// NameCodes says for which texts the codes of categories stand: see kernel.Builder.NameCodes.
func (b *Builder) NameCodes(texts [][]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.texts = texts
}

// Persons returns the number of persons: public under replace-one, and private where the sizes of
// groups or the relation make n so.
func (b *Builder) Persons() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen)
}

// Protect closes the builder and returns a protected table of the kept rows of each of the given
// number of groups, in an order that is uniformly random; a nil room is memory. Rows of other
// groups are dropped.
func (b *Builder) Protect(r privacy.Relation, groups int, room kernel.Room) []*kernel.Table {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		panic("people: the tables are protected already")
	}
	b.done = true
	builders := make([]*kernel.Builder, groups)
	for g := range builders {
		builders[g] = kernel.NewMixedBuilder(b.d-b.codes, b.codes, room)
	}
	order := make([]int, len(b.seen))
	for i := range order { // Fisher and Yates
		j := int(noise.Uniform(b.random(), uint64(i+1)))
		order[i], order[j] = order[j], i
	}
	for _, i := range order {
		if g := b.group[i]; 0 <= g && g < groups {
			builders[g].Append(b.kept[i*b.d : (i+1)*b.d])
		}
	}
	tables := make([]*kernel.Table, groups)
	for g := range tables {
		if b.texts != nil {
			builders[g].NameCodes(b.texts)
		}
		tables[g] = builders[g].Protect(r)
	}
	b.at, b.seen, b.group, b.kept = nil, nil, nil, nil
	return tables
}
