package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// leavesAt cuts the line into balls of radius 3 around the centres; the rest is in no leaf.
func leavesAt(centers ...float64) (p query.Partition) {
	for _, c := range centers {
		ball := query.Affine{Center: []float64{c}, W: [][]float64{{1}}}
		p.Regions = append(p.Regions, query.Region{Conditions: []query.Condition{{Map: ball, Radius: 3}}})
	}
	return p
}

// TestPairsInLeavesOfNeighbours: with the draws of the common rows equal, the pairs in leaves of
// two neighbours give answers within the stated sensitivity, and it is attained: sqrt2 of one
// leaf's for a row that moves between leaves, one leaf's otherwise. The row that differs stands
// anywhere; rows tie, leave all leaves, are null or beyond all bounds, and tags tie too.
func TestPairsInLeavesOfNeighbours(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	pool := []float64{-11, -10.5, -10, -10, -8.3, 0, 0, 0, 1, 2, -2, 9, 10, 10, 12, 50, math.MaxFloat64, -math.MaxFloat64, math.NaN()}
	draw := func() []float64 { return []float64{pool[rng.IntN(len(pool))]} }
	line := query.Affine{Center: []float64{0}, W: [][]float64{{1}}}
	for _, leaf := range []query.PairSum{
		papers.PairDistances{Map: line, Edges: []float64{.1, .7, 1.2}}, papers.PairMoments{Map: line, Radius: .5}, papers.PairSpread{Map: line, Bound: 1},
		query.PairOctaves{Columns: 1, Low: -3, High: 3},
	} {
		cases := map[string]query.Pairs{
			"whole": {Queries: []query.PairSum{leaf}, Buckets: []int{2}},
			"one":   {Partition: leavesAt(0), Queries: []query.PairSum{leaf}, Buckets: []int{2}},
			"three": {Partition: leavesAt(-10, 0, 10), Queries: []query.PairSum{leaf, leaf, leaf}, Buckets: []int{1, 2, 2}},
		}
		for name, q := range cases {
			for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
				if err := q.Validate(1); err != nil {
					t.Fatal(err)
				}
				most, stated := 0.0, q.Sensitivity(r)
				sizes := 0.0 // the change in L1
				for trial := range uint64(stattest.Trials(500, 1500)) {
					n := 1 + rng.IntN(12)
					at := rng.IntN(n)
					x := make([][]float64, n)
					draws := make([][2]uint64, n)
					for i := range x {
						x[i], draws[i] = draw(), [2]uint64{rng.Uint64(), rng.Uint64N(4)}
					}
					y, rest := slices.Clone(x), draws
					if y[at] = draw(); r == privacy.AddRemoveOne {
						y, rest = slices.Delete(y, at, at+1), slices.Delete(slices.Clone(draws), at, at+1)
					}
					square, size := 0.0, 0.0
					a, b := exactPairs(q, r, x, draws, trial), exactPairs(q, r, y, rest, trial)
					for i := range a {
						d := float64(a[i]-b[i]) / q.Weight(i)
						square, size = square+d*d, size+math.Abs(float64(a[i]-b[i]))
					}
					sizes = math.Max(sizes, size)
					most = math.Max(most, math.Sqrt(square))
				}
				// A row more makes a pair, or replaces one. In one dimension no two pair moments
				// are orthogonal: half of the squared norm is reached.
				if l := privacy.L1(q.Size(), stated); sizes > l || leaf.Kind() != "pair moments" && leaf.Kind() != "pair spread" && sizes < .999*l {
					t.Errorf("%s, %s, %v: found an L1 change of %v, stated %v", leaf.Kind(), name, r, sizes, l)
				}
				if most > stated || most < .7*stated {
					t.Errorf("%s, %s, %v: found %v of the stated %v", leaf.Kind(), name, r, most/stated, stated)
				}
				if name == "three" && r == privacy.ReplaceOne && leaf.Kind() == "pair distances" && most < .999*stated {
					t.Errorf("%s: a row that moves between leaves reached %v of the stated %v only", leaf.Kind(), most/stated, stated)
				}
			}
		}
	}
}

// rowDraws hands out the words of a table's rows one after another.
type rowDraws struct{ words []uint64 }

func (d *rowDraws) Uint64() uint64 {
	w := d.words[0]
	d.words = d.words[1:]
	return w
}

// exactPairs is the answer before noise. A row in a leaf draws a bucket, from one word as their
// number is a power of two, and a tag; the words are those of the row, wherever it stands. The seed
// is for the perfect matching.
func exactPairs(q query.Pairs, r privacy.Relation, x [][]float64, draws [][2]uint64, seed uint64) (sums []int64) {
	t := engine.NewTable(1)
	for _, row := range x {
		t.Append(row)
	}
	e := engine.Local{Workers: 1}
	in := engine.Leaves(e, t, q.Partition)
	src := noise.Source(noise.NewSeeded(seed))
	if !q.Partition.Whole() || r == privacy.AddRemoveOne {
		own := &rowDraws{}
		for i, l := range in {
			if l >= 0 {
				own.words = append(own.words, draws[i][0], draws[i][1])
			}
		}
		src = own
	}
	for leaf, pairs := range drawPairs(src, r, q, t.Len(), func() []int32 { return in }) {
		sums = append(sums, engine.SumPairs(e, t, q.Queries[leaf], pairs)...)
	}
	return sums
}
