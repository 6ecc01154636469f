package kerneltest

import (
	"context"
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestPasses: what is answered is the local engine's, and what is read is counted by rows: of the
// table, of a view of it, of pairs, and of a table that was made of it.
func TestPasses(t *testing.T) {
	e, ctx := NewCountingEngine(), context.Background()
	if e.Passes() != 0 || NewCountingEngine() == e {
		t.Error("an engine starts at something, or twice")
	}
	table, part := engine.NewTable(1), engine.NewTable(1)
	for i := range 3000 {
		if table.Append([]float64{float64(i)}); i%4 == 0 {
			part.Append([]float64{float64(i)})
		}
	}
	of := query.Summed{Of: query.Counts{Edges: [][]float64{{10, 2000}}}}
	for _, c := range []struct {
		source engine.Source
		passes float64
	}{
		{table, 1}, {engine.Stopping{Source: table, Context: ctx}, 1}, {engine.Seen{Table: table}, 1},
		{engine.Pairs{Table: table, Of: [][2]int32{{1, 2}, {5, 7}, {9, 0}}}, 6. / 3000}, {part, 1.25}, {part, .25}, {table, 1},
	} {
		before := e.Passes()
		got, want := e.Scan(c.source, of).(*query.Total).Sum, engine.Local{}.Scan(c.source, of).(*query.Total).Sum
		if got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
			t.Errorf("%T: got %v, want %v", c.source, got, want)
		}
		if passes := e.Passes() - before; math.Abs(passes-c.passes) > 1e-12 {
			t.Errorf("%T of %d: %v passes, want %v", c.source, c.source.Len(), passes, c.passes)
		}
	}
}
