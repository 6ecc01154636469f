package general

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// twoGroups is n rows of d columns in two groups, as far from each other as the rows' numbers say.
func twoGroups(rng *rand.Rand, n, d int) [][]float64 {
	return estimatetest.Hard()[0].Rows(rng, n, d)
}

// TestReplay: the questions and prices of a fit are functions of its answers: on a neighbouring
// table the same answers lead to the same questions, and no path loses more than mu^2. The rows
// that differ, relations, shapes and sizes take turns, unless GAUZE_LONG is set.
func TestReplay(t *testing.T) {
	rng := newRand(t)
	nan := math.NaN()
	for r, rel := range relations {
		for i, shape := range shapes {
			for j, c := range []struct{ d, n, k int }{{1, 400, 2}, {2, 1500, 0}, {2, 350, 0}, {3, 1000, 3}, {5, 1200, 0}} {
				rows := twoGroups(rng, c.n, c.d)
				for at, v := range []float64{1e308, nan, 0, 40} {
					if ((r+i+j)%2 != 0 || (r+2*i+j+at)%4 != 0) && !estimatetest.Long() {
						continue
					}
					row := make([]float64, c.d)
					for j := range row {
						row[j] = v
					}
					other := append([][]float64{row}, rows[1:]...)
					if rel == privacy.AddRemoveOne {
						other = append(slices.Clone(rows), row)
					}
					f, loss := estimatetest.Neighbours(t, tested, estimatetest.Case{Rows: rows, Columns: c.d, Relation: rel, Mu: .5, Components: c.k,
						Covariance: shape, Noise: kerneltest.Options{Seed: rng.Uint64()}}, other)
					if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
						t.Errorf("%v %v d %d: a path loses mu^2 = %v of %v", rel, shape, c.d, loss.Path, limit)
					}
				}
			}
		}
	}
}

// What the audit claims of the whole fit.
const claimedEpsilon, claimedDelta = 3, .01

// TestAudit attacks the fit of two components with the likelihood ratio of the whole transcript,
// which no attack beats: it certifies, by Clopper-Pearson bounds, no more than the claim, and on
// every path the loss is at most mu^2; half the noise is caught.
//
// False-alarm rate: 4e-9 for each of the right mechanisms. The wrong one, which needs the long run,
// is caught with probability above 1 - 1e-3.
func TestAudit(t *testing.T) {
	most := 5
	if estimatetest.Long() {
		most = 2000
	}
	rng := newRand(t)
	base := twoGroups(rng, 90, 1)
	with := func(v float64) [][]float64 { return append(slices.Clone(base), []float64{v}) }
	wide, line := twoGroups(rng, 160, 2), twoGroups(rng, 160, 1)
	for _, c := range []struct {
		name        string
		d           int
		relation    privacy.Relation
		x, y        [][]float64
		noiseFactor float64
		path        float64 // at least this part of mu^2 is lost on some path
		caught      bool
	}{
		{"add-remove, far row", 1, privacy.AddRemoveOne, with(1e30), base, 1, .8, false},
		{"add-remove, inner row", 1, privacy.AddRemoveOne, with(6.5), base, 1, .3, false},
		{"replace, two far rows", 1, privacy.ReplaceOne, append(slices.Clone(line), []float64{1e30}), append(slices.Clone(line), []float64{-1e30}), 1, .2, false},
		{"add-remove, two columns", 2, privacy.AddRemoveOne, append(slices.Clone(wide), []float64{1e30, -1e30}), wide, 1, .8, false},
		{"add-remove, half the noise", 1, privacy.AddRemoveOne, with(1e30), base, .5, .8, true},
	} {
		if c.caught && !estimatetest.Long() {
			continue // no bound is proved by so few runs
		}
		t.Run(c.name, func(t *testing.T) {
			runs := most
			if c.caught && estimatetest.Long() {
				runs *= 5
			}
			mu := privacy.MuOf(claimedEpsilon, claimedDelta)
			var beyond [2]int
			far := 0.0
			var worst estimatetest.Loss
			released := 0
			for side, own := range [2][][]float64{c.x, c.y} {
				other := [2][][]float64{c.y, c.x}[side]
				for range runs {
					f, loss := estimatetest.Neighbours(t, tested, estimatetest.Case{Rows: own, Columns: c.d, Relation: c.relation, Mu: mu, Components: 2,
						Noise: kerneltest.Options{Seed: rng.Uint64(), NoiseFactor: c.noiseFactor}}, other)
					if f.Model != nil {
						released++
					}
					if part := loss.Path / math.Pow(f.Session.Mu(), 2); part > far {
						far, worst = part, loss
					}
					if side == 0 && loss.Ratio > claimedEpsilon || side == 1 && -loss.Ratio > claimedEpsilon {
						beyond[side]++
					}
				}
			}
			low, _ := stattest.ProportionBounds(t, beyond[0], runs, 2*stattest.FalseAlarm)
			_, high := stattest.ProportionBounds(t, beyond[1], runs, 2*stattest.FalseAlarm)
			epsilon := math.Log(math.Max(0, low-claimedDelta) / high)
			t.Logf("released %d of %d; ratio beyond epsilon: %d and %d of %d: epsilon >= %.3f; pathwise loss <= %.6f mu^2: %v",
				released, 2*runs, beyond[0], beyond[1], runs, epsilon, far, worst.ByStep)
			if released < runs/2 {
				t.Errorf("only %d of %d runs released a model: the audit sees too little of the fit", released, 2*runs)
			}
			if far > 1+1e-9 || far < c.path {
				t.Errorf("the pathwise loss is up to %v of mu^2", far)
			}
			if caught := epsilon > claimedEpsilon; caught != c.caught && (caught || estimatetest.Long()) {
				t.Errorf("certified epsilon %.3f, claimed %v", epsilon, claimedEpsilon)
			}
		})
	}
}
