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
			pairs := PairShare(p, .5)
			plan := Extend(kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: "count", Query: "count", Share: 1, Most: 1}}}, p, Shares{All: .1 + pairs, Pairs: pairs})
			var heard kerneltest.Transcript
			s := kerneltest.Open(t, b.Protect(r), plan, kernel.Terms{Relation: r, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}}, kerneltest.Options{Record: &heard})
			out := nearOutcome(t)
			out.Model.Weights, out.Model.Components[1].Mean = []float64{.75, .25}, []float64{9}
			if r == privacy.AddRemoveOne {
				out.Diagnostics.Components[0].EffectiveRows = n
			}
			if err := Measure(s.Part(.1+pairs).SubBudget(), p, Shares{All: .1 + pairs, Pairs: pairs}, &out); err != nil {
				t.Fatal(err)
			}
			spent := 0.
			for _, mu := range heard.Mus {
				spent += mu * mu
			}
			if most := (.1 + pairs) * s.Mu() * s.Mu(); pairs == 0 || math.Abs(spent-most) > 1e-8*most {
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

// TestPairShare: nothing is spent where noise would hide all, where there is one column, or where
// the cells would be too many.
func TestPairShare(t *testing.T) {
	for _, c := range []struct {
		rows   int
		values []int
		want   float64
	}{{800, []int{3, 5, 4, 6, 7}, 0}, {100000, []int{3}, 0}, {100000, []int{100, 200}, 0}, {1 << 30, []int{3, 4}, leastPairs}, {0, []int{3, 4}, mostPairs}} {
		if got := PairShare(estimate.Problem{Relation: privacy.ReplaceOne, Rows: c.rows, Categories: c.values}, .3); got != c.want {
			t.Errorf("%+v: %v", c, got)
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
