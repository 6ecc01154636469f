package gaussian

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestPath: the questions and prices of a fit are functions of its answers, and no path of it loses
// more than mu^2 to a neighbouring table, even to someone who knows which rows were paired; under
// add-or-remove-one a far row loses nearly all of it, so that the bound is tight.
func TestPath(t *testing.T) {
	rng := newRand(t)
	repeats, dims := 1, []int{3}
	if long() {
		repeats, dims = 20, []int{1, 2, 5, 9}
	}
	for range repeats {
		for i, shape := range allShapes {
			for _, d := range dims {
				for _, rel := range bothRelations {
					rows := newWorld(rng, d, 100, 10, d).rows(rng, 4000)
					most := 0.0
					for l, v := range []float64{1e308, 1e6, 0, math.NaN()} {
						if (i+l)%2 != 0 && !long() {
							continue // they take turns
						}
						row := make([]float64, d)
						for j := range row {
							row[j] = v
						}
						other := slices.Clone(rows)
						if rel == privacy.AddRemoveOne {
							other = append(other, row)
						} else {
							// where it was: the two runs draw the same pairs of places
							other[17] = row
						}
						f, loss := estimatetest.Neighbours(t, New(), estimatetest.Case{Rows: rows, Columns: d, Relation: rel, Mu: .5, Components: 1,
							Covariance: shape, Noise: kerneltest.Options{Seed: rng.Uint64()}}, other)
						if f.Model == nil {
							t.Errorf("%v %v d=%d: %+v", shape, rel, d, f.Outcome)
						}
						limit := math.Pow(f.Session.Mu(), 2)
						if most = math.Max(most, loss.Path/limit); loss.Path > limit*(1+1e-9) {
							t.Errorf("%v %v d=%d: a path loses %v of mu^2: %v", shape, rel, d, loss.Path/limit, loss.ByStep)
						}
					}
					if least := map[privacy.Relation]float64{privacy.AddRemoveOne: .9, privacy.ReplaceOne: .1}[rel]; most < least {
						t.Errorf("%v %v d=%d: no path loses more than %v of mu^2: the rows differ in nothing that is seen", shape, rel, d, most)
					}
					t.Logf("%v %v d=%d: the worst path loses %.3f of mu^2", shape, rel, d, most)
				}
			}
		}
	}
}

// TestNarrowDirections: rows that are enough at a condition number of 1 are enough at 1e12 for a
// release. At 20 columns and 5,000 rows 13 of 40 fits released before the preconditioner could
// spend so much of the budget, and 54 of 80 do; fewer than 12 of 32 have a chance of 2e-4.
func TestNarrowDirections(t *testing.T) {
	ok := 0
	for i := 0; i < 32 && ok < 12; i += 4 {
		ok += simulate(t, gaussianSetting(20, 5000, privacy.ReplaceOne, 1e12, 10), 4).ok
	}
	if ok < 12 {
		t.Errorf("%d of 32 fits have a release", ok)
	}
}
