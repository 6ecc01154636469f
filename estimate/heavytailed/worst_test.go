package heavytailed

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var (
	bothRelations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
	allShapes     = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}
)

func newRand(t *testing.T) *rand.Rand { return rand.New(rand.NewPCG(stattest.Seed(t), 1)) }

// TestHeavyEveryTable: whatever the rows are, a fit ends in a sound model or in a reason, within
// its plan and its budget. Of the grid a random part is run, another one for another
// GAUZE_TEST_SEED.
func TestHeavyEveryTable(t *testing.T) {
	settings := []struct{ d, n int }{{1, 2000}, {2, 4000}, {3, 3000}, {9, 6000}, {12, 20}}
	runs, epsilons := 1, []float64{.3, 1, 3}
	if long() {
		runs, epsilons = 60, []float64{1e-3, .1, 1, 10, 1e6}
		settings = append(settings, struct{ d, n int }{2, 20000}, struct{ d, n int }{20, 20000})
	}
	rng := newRand(t)
	for _, table := range estimatetest.Hard() {
		for _, e := range methods {
			for range runs {
				s, eps := settings[rng.IntN(len(settings))], epsilons[rng.IntN(len(epsilons))]
				c := estimatetest.Case{Rows: table.Rows(rng, s.n, s.d), Columns: s.d, Mu: privacy.MuOf(eps, 1e-6), Components: 1,
					Relation: bothRelations[rng.IntN(2)], Covariance: allShapes[rng.IntN(3)], Noise: kerneltest.Options{Seed: rng.Uint64()}}
				if estimatetest.RunChecked(t, e, c); t.Failed() {
					t.Fatalf("%s on %s: d %d n %d epsilon %v %v %v", e.Name(), table.Name, s.d, s.n, eps, c.Relation, c.Covariance)
				}
			}
		}
	}
}

// TestHeavyReplay: the questions and prices of a fit are functions of its answers: on a
// neighbouring table the same answers lead to the same questions; and where all queries are sums,
// no path loses more than mu^2.
func TestHeavyReplay(t *testing.T) {
	rng := newRand(t)
	for _, e := range methods {
		for i, shape := range allShapes {
			for _, d := range []int{2, 9} {
				if d == 9 && i != rng.IntN(3) && !long() {
					continue
				}
				rows := rowsOf(sampled(t, problems.Population{Columns: d, Kappa: 100, Offset: 10, Law: "t3"}, 5000))
				row := make([]float64, d)
				for j := range row {
					row[j] = [...]float64{1e308, math.NaN(), 0, 40}[rng.IntN(4)]
				}
				c := estimatetest.Case{Rows: rows, Columns: d, Relation: privacy.AddRemoveOne, Mu: 1, Components: 1, Covariance: shape,
					Noise: kerneltest.Options{Seed: rng.Uint64()}}
				f, loss := estimatetest.Neighbours(t, e, c, append(slices.Clone(rows), row))
				if f.Model == nil {
					t.Errorf("%s %v d=%d: %+v", e.Name(), shape, d, f.Outcome)
					continue
				}
				if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
					t.Errorf("%s %v: a path loses mu^2 = %v of %v", e.Name(), shape, loss.Path, limit)
				}
				var own, again kerneltest.Transcript
				c.Relation, c.Noise.Record = privacy.ReplaceOne, &own
				estimatetest.Run(t, e, c)
				c.Rows, c.Noise = append(slices.Clone(rows[1:]), row), kerneltest.Options{Replay: &own, Record: &again}
				if estimatetest.Run(t, e, c); !estimatetest.SameQuestions(own, again) {
					t.Errorf("%s %v d=%d: the same released values led to other questions", e.Name(), shape, d)
				}
			}
		}
	}
}

// TestHeavyNoiseOnly: if the kernel's noise is up to a thousand times what it says, a fit still
// ends in a sound model or in a reason.
func TestHeavyNoiseOnly(t *testing.T) {
	rng := newRand(t)
	runs := 30
	if long() {
		runs = 1000
	}
	hard := estimatetest.Hard()
	for range runs {
		d := []int{1, 2, 5, 9}[rng.IntN(4)]
		c := estimatetest.Case{Rows: hard[rng.IntN(len(hard))].Rows(rng, 1500, d), Columns: d, Mu: 2, Components: 1, Relation: bothRelations[rng.IntN(2)],
			Covariance: allShapes[rng.IntN(3)], Noise: kerneltest.Options{Seed: rng.Uint64(), NoiseFactor: math.Pow(1000, rng.Float64())}}
		estimatetest.RunChecked(t, New(), c)
	}
}

// TestHeavyTooFewRows: at a third of the rows there is no release, or a sane one.
func TestHeavyTooFewRows(t *testing.T) {
	for _, e := range methods {
		for _, d := range []int{1, 2, 5} {
			for _, rel := range bothRelations {
				n := int(e.Expect(estimate.Problem{Columns: d, Relation: rel, Mu: privacy.MuOf(1, 1e-6)}).RowsNeeded / 3)
				for range 4 {
					for _, v := range heavyErrors(t, e, "t5", d, n, 1, rel) {
						if rel == privacy.ReplaceOne || !(v < 5) {
							t.Errorf("%s d=%d n=%d %v: released with error %v", e.Name(), d, n, rel, v)
						}
					}
				}
			}
		}
	}
}
