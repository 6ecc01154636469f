package categories

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

// TestDependenceIsFound: of columns of which the second is mostly the first, and the others depend
// on nothing but the component, one edge is left, with the rows' own probabilities in both
// components; all margins stay, and what is spent is what was planned. With independent columns
// none is left.
func TestDependenceIsFound(t *testing.T) {
	const n = 40000
	for _, dependent := range []bool{false, true} {
		for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			rng := rand.New(rand.NewPCG(5, 6))
			b := kernel.NewMixedBuilder(1, 4, nil)
			for range n {
				first := rng.IntN(4) == 0
				at := 0.
				row := []float64{0, float64(rng.IntN(3)), float64(rng.IntN(3)), float64(rng.IntN(2)), float64(rng.IntN(2))}
				if first {
					at, row[3] = 9, 1
				}
				if row[0] = at + rng.NormFloat64(); dependent && rng.IntN(10) > 0 {
					row[2] = row[1]
				}
				b.Append(row)
			}
			p := estimate.Problem{Columns: 1, Relation: r, Categories: []int{4, 4, 3, 3}}
			if r == privacy.ReplaceOne {
				p.Rows = n
			}
			shares := Shares{All: .1}
			shares.depend(p, .5)
			plan := Extend(kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: "count", Query: "count", Share: 1, Most: 1}}}, p, shares)
			var heard kerneltest.Transcript
			s := kerneltest.Open(t, b.Protect(r), plan, kernel.Terms{Relation: r, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}}, kerneltest.Options{Record: &heard})
			out := nearOutcome(t)
			out.Model.Weights, out.Model.Components[1].Mean = []float64{.75, .25}, []float64{9}
			if r == privacy.AddRemoveOne {
				out.Diagnostics.Components[0].EffectiveRows = n
			}
			if err := Measure(s.Part(shares.All).SubBudget(), p, shares, &out); err != nil {
				t.Fatal(err)
			}
			spent := 0.
			for _, mu := range heard.Mus {
				spent += mu * mu
			}
			if most := shares.All * s.Mu() * s.Mu(); shares.Pairs == 0 || shares.Star || math.Abs(spent-most) > 1e-8*most {
				t.Errorf("%v: cost %v of %v", r, spent, most)
			}
			want := []int{-1, -1, -1, -1}
			if dependent {
				want[1] = 0
			}
			if !slices.Equal(out.CategoryOf, want) {
				t.Fatalf("%v, dependent %v: the columns depend on %v", r, dependent, out.CategoryOf)
			}
			for i, given := range out.CategoryGiven[1] {
				for x := range 3 {
					for y := range 3 {
						if want := []float64{1. / 30, .9 + 1./30}[map[bool]int{x == y: 1}[true]]; math.Abs(given[x][y]-want) > .05 {
							t.Errorf("%v: component %d, %d given %d has %v, want %v", r, i, y, x, given[x][y], want)
						}
					}
				}
				for y, share := range out.Categories[1][i] {
					sum := 0.
					for x, p := range out.Categories[0][i] {
						sum += p * given[x][y]
					}
					if math.Abs(sum-share) > .01 {
						t.Errorf("%v: component %d, value %d has %v, and given the other column %v", r, i, y, share, sum)
					}
				}
			}
		}
	}
}

// TestStar: of rows too few for all pairs, those with the last column are counted once, for a part
// of what the counts of columns would have had: the column that depends on it does so in the model,
// of two that depend on each other none does, and what is spent is what was planned. The edge has
// 400 rows of its 1,000 above those of independent columns, with a noise of 11 in each of six
// cells, and is found but with probability below 1e-9; each of three others may be taken for a weak
// one.
func TestStar(t *testing.T) {
	const n = 1000
	rng := rand.New(rand.NewPCG(7, 8))
	b := kernel.NewMixedBuilder(1, 5, nil)
	for range n {
		row := []float64{rng.NormFloat64(), float64(rng.IntN(2)), float64(rng.IntN(2)), 0, float64(rng.IntN(4)), 0}
		row[3], row[5] = row[2], row[1]
		if rng.IntN(10) == 0 {
			row[5] = 1 - row[1]
		}
		b.Append(row)
	}
	p := estimate.Problem{Columns: 1, Rows: n, Relation: privacy.ReplaceOne, Categories: []int{3, 3, 3, 5, 3}}
	plan := kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: "count", Query: "count", Share: 1, Most: 1}}}
	budget := privacy.Budget{Epsilon: 3, Delta: 1e-6}
	total, err := privacy.Calibrate(budget, privacy.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	shares, alone := SharesOf(p, total.Mu, true), SharesOf(p, total.Mu, false)
	if !shares.Star || math.Abs(shares.Pairs-starPart*shares.All) > 1e-12 || alone.Pairs != 0 || shares.Lists(p.Categories)[StepPairs] != 4 {
		t.Fatalf("the shares are %+v, without a model %+v", shares, alone)
	}
	var heard kerneltest.Transcript
	s := kerneltest.Open(t, b.Protect(p.Relation), Extend(plan, p, shares), kernel.Terms{Relation: p.Relation, Budget: budget}, kerneltest.Options{Record: &heard})
	out := nearOutcome(t)
	out.Model.Weights, out.Model.Components, out.Diagnostics.Components = []float64{1}, out.Model.Components[:1], out.Diagnostics.Components[:1]
	if err := Measure(s.Part(shares.All).SubBudget(), p, shares, &out); err != nil {
		t.Fatal(err)
	}
	if most := shares.All * s.Mu() * s.Mu(); !slices.Equal(heard.Steps, []string{Step, StepPairs}) || math.Abs(parts.Sum(heard.Mus, func(mu float64) float64 { return mu * mu })-most) > 1e-8*most {
		t.Errorf("%q cost %v, want %v in all", heard.Steps, heard.Mus, most)
	}
	if of := out.CategoryOf; of[0] != -1 || of[4] != 0 || of[2] == 1 || of[1] == 2 {
		t.Errorf("the columns depend on %v, want the last on the first", of)
	}
}

// TestApart: what noise adds to the sums over a column's values is none of what a pair is apart
// from its components, values that nobody has say nothing, and the part of the noise that is left
// is that of the cells that sums leave free.
func TestApart(t *testing.T) {
	pa, pb := [][]float64{{.5, .3, .2, 0}}, [][]float64{{.6, .4, 0}}
	e := &edge{sigma: 5}
	for v := range 12 {
		e.counts = append(e.counts, 1000*pa[0][v/3]*pb[0][v%3]+[]float64{30, -20, 5, 90}[v/3]+[]float64{-40, 10, 70}[v%3])
	}
	e.counts[0] += 60
	e.expect(pa, pb, []float64{1}, 1000)
	want := []float64{20, -20, 0, -10, 10, 0, -10, 10, 0, 0, 0, 0} // of 60 in a cell of 3 x 2
	for v, x := range e.apart {
		if math.Abs(x-want[v]) > 1e-9 {
			t.Errorf("cell %d is %v apart, want %v", v, x, want[v])
		}
	}
	if want := 25./3 + 300*.5*.4; math.Abs(e.variances[0]-want) > 1e-9 || e.variances[11] != 0 || math.Abs(e.free-1./3) > 1e-12 {
		t.Errorf("variances %v, free %v, want %v first", e.variances, e.free, want)
	}
}

// TestPairsCountColumns: what a pair's counts say of its columns is joined to their own counts, by
// precision.
func TestPairsCountColumns(t *testing.T) {
	c := counts{columns: []int{2, 3}, values: []float64{10, 20, 4, 5, 6}, precision: []float64{1, 1}}
	c.all = slices.Clone(c.values)
	c.join(1, []float64{8, 9, 6}, c.sums(1), 3)
	if want := []float64{10, 20, 7, 8, 6}; !slices.Equal(c.all, want) || !slices.Equal(c.values, want) || c.precision[0] != 1 || c.precision[1] != 4 {
		t.Errorf("%+v, want %v", c, want)
	}
}

// TestPairShare: nothing is spent where noise would hide all, where there is one column, or where
// the cells would be too many.
func TestPairShare(t *testing.T) {
	for _, c := range []struct {
		rows   int
		values []int
		want   float64
		star   bool
	}{{400, []int{3, 5, 4, 6, 7}, 0, false}, {800, []int{3, 5, 4, 6, 7}, starPart * .2, true}, {800, []int{3}, 0, false}, {100000, []int{100, 200}, 0, false}, {1 << 30, []int{3, 4}, leastPairs, false}, {0, []int{3, 4}, mostPairs, false}} {
		s := Shares{All: .2}
		if s.depend(estimate.Problem{Relation: privacy.ReplaceOne, Rows: c.rows, Categories: c.values}, .3); math.Abs(s.Pairs-c.want) > 1e-12 || s.Star != c.star {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}

// TestManyPairs: whatever the columns are, the pairs that are counted make a query that can be
// asked: it is asked when the budget of the model has been spent.
func TestManyPairs(t *testing.T) {
	for _, values := range [][]int{{3, 4}, slices.Repeat([]int{64}, 50)} {
		if err := (query.CategoryCounts{Values: values, Pairs: pairsOf(values)}).Validate(1); err != nil {
			t.Errorf("%d columns of %d values: %v", len(values), values[0], err)
		}
	}
}

// Components that hold no rows, as far as noise shows any, make no edge: no cell has anything to
// differ from.
func TestEdgeOfNoRows(t *testing.T) {
	e := &edge{counts: []float64{3, -1, 2, 0}, sigma: 1}
	e.expect([][]float64{{.5, .5}}, [][]float64{{.5, .5}}, []float64{math.NaN()}, 0)
	if gain, sd := e.gain(); gain > sd {
		t.Errorf("gain %g, sd %g", gain, sd)
	}
}
