package kernel

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

var sampleRelations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

// A tossed row has a coin of its own, by which it is in samples of one row in two or not, and of
// its own too what pairs draw for it: a bucket and a tag.
type tossed struct {
	values []float64
	coin   uint64
	pair   [2]uint64
}

// in says that the row is in the sample: the coin's highest bit says it.
func (r tossed) in() bool { return r.coin < 1<<63 }

// hostile are values as unlike ordinary ones as can be, and ordinary ones near which they lie.
var hostile = []float64{-1e308, -math.MaxFloat64, -11, -10.5, -10, -10, -1, math.Copysign(0, -1), 0, 0, 5e-324, 1e-300, .5, 1, 1, 2, 9, 10, 12, 64, 4096, 1e300, math.MaxFloat64,
	math.NaN(), math.Copysign(math.NaN(), -1), math.Inf(1), math.Inf(-1)}

func drawRow(rng *rand.Rand) tossed {
	return tossed{[]float64{hostile[rng.IntN(len(hostile))], hostile[rng.IntN(len(hostile))]}, rng.Uint64(), [2]uint64{rng.Uint64(), rng.Uint64N(4)}}
}

// neighbours draws two tables in which the common rows have all their draws in common. A row that
// is replaced has one coin; one that comes or goes stands anywhere, with a coin of its own.
func neighbours(rng *rand.Rand, r privacy.Relation) (x, y []tossed) {
	for range 2 + rng.IntN(14) {
		x = append(x, drawRow(rng))
	}
	at := rng.IntN(len(x))
	if y = slices.Clone(x); r == privacy.AddRemoveOne {
		return x, slices.Delete(y, at, at+1)
	}
	y[at].values = drawRow(rng).values
	return x, y
}

// A later source is what the hook's is at the moment.
type later struct{ noise.Source }

// ofSample draws a sample of the rows by their coins and does something with its rows, given which
// they are. Afterwards draws come from seed unless do says otherwise.
func ofSample(t *testing.T, r privacy.Relation, table []tossed, seed uint64, do func(d *core.Draw, in []tossed, draws *later)) {
	t.Helper()
	b, draws := core.NewBuilder(2), &later{}
	var coins []uint64
	var in []tossed
	for _, row := range table {
		b.Append(row.values)
		if coins = append(coins, row.coin); row.in() {
			in = append(in, row)
		}
	}
	h := core.NewTestHook()
	h.Source, draws.Source = draws, stattest.Replay(coins)
	plan := core.Plan{Method: "test", Steps: []core.Step{step}}
	s, err := core.Open(context.Background(), core.Hooked(b.Protect(r), h), plan, core.Terms{Relation: r, Budget: privacy.Budget{Rho: 2}})
	if err != nil {
		t.Fatal(err)
	}
	all := func(d *core.Draw) error { sortedColumn(d); return nil } // which the table remembers
	if err := core.Secretly(s.SubBudget(), all); err != nil {
		t.Fatal(err)
	}
	a, err := Subsample(s.SubBudget(), 2)
	if err != nil {
		t.Fatal(err)
	}
	draws.Source = noise.NewSeeded(seed)
	if err := core.Secretly(a, func(d *core.Draw) error { do(d, in, draws); return nil }); err != nil {
		t.Fatal(err)
	}
}

// sortedColumn is the first column of the good rows, in order.
func sortedColumn(d *core.Draw) (values []float64) {
	engine.EachSorted(d.Engine(), d.Rows(), query.Partition{}, 0, func(_ int, sorted []float64) { values = sorted })
	return values
}

// ball is a leaf of the rows whose first column is within 3 of a centre.
func ball(center float64) query.Region {
	f := query.Affine{Columns: []int{0}, Center: []float64{center}, W: [][]float64{{1}}}
	return query.Region{Conditions: []query.Condition{{Map: f, Radius: 3}}}
}

var (
	threeLeaves = query.Partition{Regions: []query.Region{ball(-10), ball(0), ball(10)}}
	plane       = query.Affine{Columns: []int{0, 1}, Center: []float64{0, 0}, W: [][]float64{{1, 0}, {0, 1}}}
)

// pairSums are the sums over a sample's pairs, whose draws are those of the rows, but for a
// matching, which is drawn without a look at them.
func pairSums(t *testing.T, q query.Pairs, r privacy.Relation, table []tossed, seed uint64) (sums []int64) {
	ofSample(t, r, table, seed, func(d *core.Draw, in []tossed, draws *later) {
		if r == privacy.AddRemoveOne || !q.Partition.Whole() {
			var words []uint64
			for i, leaf := range engine.Leaves(d.Engine(), d.Rows(), q.Partition) {
				if leaf >= 0 { // others draw nothing
					words = append(words, in[i].pair[:]...)
				}
			}
			draws.Source = stattest.Replay(words)
		}
		sums = ExactPairs(d, q)
	})
	return sums
}

// TestPairsOfNeighboursSamples: sums over secret pairs of the rows of a sample change by what is
// stated for the table at most, the coins and the pairs' draws of common rows being equal, and by
// as much in some cases: of all rows and in leaves, between which rows move.
func TestPairsOfNeighboursSamples(t *testing.T) {
	t.Parallel()
	trials := stattest.Trials(1200, 4000)
	rng := rand.New(rand.NewPCG(5, 5))
	leaf := query.PairSum(query.PairOctaves{Columns: 2, Low: -3, High: 3})
	near := query.PairSum(papers.PairDistances{Map: plane, Edges: []float64{.1, .7, 1.2}})
	for name, q := range map[string]query.Pairs{
		"whole":     {Queries: []query.PairSum{leaf}, Buckets: []int{2}},
		"leaves":    {Partition: threeLeaves, Queries: []query.PairSum{leaf, leaf, leaf}, Buckets: []int{1, 2, 1}},
		"distances": {Partition: threeLeaves, Queries: []query.PairSum{near, near, near}, Buckets: []int{2, 1, 1}},
	} {
		for _, r := range sampleRelations {
			most, same, stated := 0.0, 0, q.Sensitivity(r)
			for trial := range uint64(trials) {
				x, y := neighbours(rng, r)
				a, b, square := pairSums(t, q, r, x, trial), pairSums(t, q, r, y, trial), 0.0
				for i := range a {
					d := float64(a[i]-b[i]) / q.Weight(i)
					square += d * d
				}
				if most = math.Max(most, math.Sqrt(square)); square == 0 {
					same++
				}
			}
			if most > stated || most < .7*stated || 5*same < trials {
				t.Errorf("%s, %v: found %v of the stated %v, no difference in %d", name, r, most, stated, same)
			}
		}
	}
}

// TestGapsOfNeighboursSamples: the masses of gaps in a sample change by what is stated for the
// table at most, and so do how many buckets are empty on one side alone and the mass of one.
func TestGapsOfNeighboursSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for name, q := range map[string]query.SpacingMasses{"whole": {LogWindow: 15}, "leaves": {LogWindow: 15, Partition: threeLeaves}} {
		masses := func(r privacy.Relation, table []tossed) (m map[query.SpacingMass]int64) {
			m = map[query.SpacingMass]int64{}
			ofSample(t, r, table, 0, func(d *core.Draw, _ []tossed, _ *later) {
				for _, b := range SpacingMasses(d, q) {
					m[query.SpacingMass{Leaf: b.Leaf, Scale: b.Scale, Place: b.Place}] = b.Mass
				}
			})
			return m
		}
		for _, r := range sampleRelations {
			found := [3]float64{}
			for range 2000 {
				x, y := neighbours(rng, r)
				a, b, square := masses(r, x), masses(r, y), 0.0
				for _, side := range [][2]map[query.SpacingMass]int64{{a, b}, {b, a}} {
					own := 0.
					for bucket, mass := range side[0] {
						d := float64(mass - side[1][bucket])
						if side[1][bucket] == 0 {
							own++
							found[1], square = math.Max(found[1], d), square+d*d
						} else {
							square += d * d / 2 // from either side
						}
					}
					found[2] = math.Max(found[2], own)
				}
				found[0] = math.Max(found[0], math.Sqrt(square))
			}
			buckets, mass := q.OneSided(r)
			for i, stated := range []float64{q.Sensitivity(r), mass, buckets} {
				if found[i] > stated || found[i] < []float64{.75, .7, .15}[i]*stated {
					t.Errorf("%s, %v: change, mass and buckets %v, %v is stated of number %d", name, r, found, stated, i)
				}
			}
		}
	}
}

// TestCellsOfNeighboursSamples: the counts of unbounded cells in a sample change by what is stated
// for the table at most, and what is empty on one side alone is, per histogram, one cell of the one
// row that differs.
func TestCellsOfNeighboursSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	grid := query.Grid{Map: plane, Side: []float64{1, 3}, Offset: []float64{0, .25}}
	for name, q := range map[string]query.BoxKeys{
		"joint":  {Grids: []query.Grid{grid}, Joint: true},
		"leaves": {Partition: threeLeaves, Grids: []query.Grid{grid, grid, grid}},
	} {
		counts := func(r privacy.Relation, table []tossed) (c []map[query.Box]int64) {
			ofSample(t, r, table, 0, func(d *core.Draw, _ []tossed, _ *later) { c = HistogramCounts(d, q) })
			return c
		}
		for _, r := range sampleRelations {
			most := 0.0
			for range 2000 {
				x, y := neighbours(rng, r)
				a, b, square := counts(r, x), counts(r, y), 0.0
				for side, both := range [][2][]map[query.Box]int64{{a, b}, {b, a}} {
					own := make([]int, q.Histograms())
					for i := range both[0] {
						for box, n := range both[0][i] {
							d := float64(n - both[1][i][box])
							switch {
							case both[1][i][box] > 0:
								square += d * d * float64(1-side)
							case n > 1:
								t.Fatalf("%s, %v: %d rows of a cell that is empty in the neighbour's sample", name, r, n)
							default:
								own[i%q.Histograms()]++
								square++
							}
						}
					}
					if slices.Max(own) > 1 {
						t.Fatalf("%s, %v: %v cells of a histogram are empty on one side", name, r, own)
					}
				}
				most = math.Max(most, math.Sqrt(square))
			}
			if stated := q.Sensitivity(r); most > stated || most < .999*stated {
				t.Errorf("%s, %v: found %v of the stated %v", name, r, most, stated)
			}
		}
	}
}

// TestSamplesAreTheirRows: what a sample is made of are the rows whose coins say so, in the order
// of the table, null rows included, partial rows as null rows; and what the table remembers of its
// own rows is not taken for theirs.
func TestSamplesAreTheirRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		x, _ := neighbours(rng, privacy.AddRemoveOne)
		ofSample(t, privacy.AddRemoveOne, x, 0, func(d *core.Draw, in []tossed, _ *later) {
			if d.Rows().Len() != len(in) {
				t.Fatalf("%d rows, want %d", d.Rows().Len(), len(in))
			}
			var column []float64
			for i, want := range in {
				row := want.values
				if row[0]-row[0] != 0 || row[1]-row[1] != 0 {
					row = []float64{math.NaN(), math.NaN()}
				}
				if row[0] == row[0] {
					column = append(column, row[0])
				}
				for j, v := range d.Rows().Row(i) {
					if v != row[j] && v == v || v == v != (row[j] == row[j]) {
						t.Fatalf("row %d of the sample is %v, want %v", i, d.Rows().Row(i), row)
					}
				}
			}
			if slices.Sort(column); !slices.Equal(sortedColumn(d), column) {
				t.Fatalf("in order %v, want %v", sortedColumn(d), column)
			}
		})
	}
}
