package kernel

import (
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestOrderIsForgotten: rows that follow each other in a table have partners that do as rarely as
// any two rows, however many there are. Were they paired in runs, to be read faster, the law of an
// answer would say which rows lie together; and a neighbour may hold its rows in another order, as
// of a file that is sorted or of a database that moves what changed: one row that lies elsewhere
// shifts all between. False-alarm rate below 1e-20: the number is Poisson's, of mean 3 at most.
func TestOrderIsForgotten(t *testing.T) {
	src := noise.NewEntropy()
	for _, n := range []int{98_304, 300_001, 1_032_192} {
		drawn := drawPairs(src, privacy.ReplaceOne, query.Pairs{Buckets: []int{1}}, n, func() []int32 {
			t.Fatal("it was asked where rows are")
			return nil
		})
		if len(drawn) != 1 || len(drawn[0]) != n/2 {
			t.Fatalf("%d rows: %d leaves, %d pairs", n, len(drawn), len(drawn[0]))
		}
		partner := make([]int32, n)
		for i := range partner {
			partner[i] = -9
		}
		for _, p := range drawn[0] {
			if partner[p[0]] >= 0 || partner[p[1]] >= 0 || p[0] == p[1] {
				t.Fatalf("%d rows: %v is in a pair already", n, p)
			}
			partner[p[0]], partner[p[1]] = p[1], p[0]
		}
		for _, apart := range []int{1, 2} {
			beside := 0
			for i := range n - apart {
				if step := int(partner[i+apart] - partner[i]); step == apart || step == -apart {
					beside++
				}
			}
			if beside > 40 {
				t.Errorf("%d rows: of %d rows %d apart the partners are, too", n, beside, apart)
			}
		}
	}
}
