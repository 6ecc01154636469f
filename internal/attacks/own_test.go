package attacks_test

import (
	"testing"

	"github.com/gauze-dp/gauze/kernel/query"
)

// A hoarder of another package passes every check of its methods, and would read rows.
type hoarder struct {
	query.Counts
	kept *[]float64 // not exported: copying it by reflection would panic
}

func (th hoarder) Compile(int) query.RowMap { return reader{th.kept} }

type reader struct{ kept *[]float64 }

func (r reader) Add(_ []int64, rows []float64) { *r.kept = append(*r.kept, rows...) }

// TestOwnForeign: a type of another package is refused by itself, in Parts and in Parts in Parts,
// before a method of it is called.
func TestOwnForeign(t *testing.T) {
	frame := query.Affine{Center: []float64{0}, W: [][]float64{{1}}}
	honest := query.Counts{Map: frame, Edges: [][]float64{{1}}}
	var q query.Sum = hoarder{honest, new([]float64)}
	two := query.Partition{Regions: []query.Region{{Conditions: []query.Condition{{Map: frame, Radius: 1}}}, {}}}
	type parts struct{ query.Parts }
	for name, q := range map[string]query.Sum{
		"alone":      q,
		"in Parts":   query.Parts{Partition: two, Queries: []query.Sum{honest, q}},
		"first":      query.Parts{Partition: two, Queries: []query.Sum{q, honest}},
		"all":        query.Parts{Partition: two, Queries: []query.Sum{q, q}},
		"deeper":     query.Parts{Partition: two, Queries: []query.Sum{honest, query.Parts{Partition: two, Queries: []query.Sum{q, q}}}},
		"own Parts":  parts{query.Parts{Partition: two, Queries: []query.Sum{honest, honest}}},
		"in Partial": query.Partial{Sum: q},
		"filled":     query.Partial{Sum: q, As: query.Filled, Fill: []float64{0}},
		"a view":     struct{ query.Partial }{query.Partial{Sum: honest, As: query.Presence}},
		"in a guise": query.Parts{Partition: two, Queries: []query.Sum{honest, struct{ query.Sum }{q}}},
	} {
		if _, err := query.Own(q); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := query.Own[query.Sum](query.Parts{Partition: two, Queries: []query.Sum{honest, honest}}); err != nil {
		t.Error(err)
	}
}
