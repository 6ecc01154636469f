package gaussian

import (
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// fresh has another seed every time.
func fresh() *rand.Rand { return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) }

// TestHeavyBars: the errors of the covariance at condition number 1e6, unknown mean, epsilon 1, are
// those that were measured (200 runs of each of the first three cells, 80 of the next two, 60 of
// the last, unseeded), well below what [TYLERPRESS] Section 3 did.
//
// Shows: [TYLERPRESS] Section 3.
func TestHeavyBars(t *testing.T) {
	estimatetest.Bars(t, fresh(), NewHeavyTailed(), []estimatetest.Bar{
		{Nu: 5, Columns: 2, Rows: 5000, Few: .19, Tenth: .123},
		{Nu: 5, Columns: 5, Rows: 10000, Few: .19, Tenth: .138},
		{Nu: 10, Columns: 5, Rows: 10000, Few: .13, Tenth: .102},
		{Nu: 5, Columns: 10, Rows: 20000, Few: .198, Tenth: .166},
		{Nu: 10, Columns: 10, Rows: 20000, Few: .168, Tenth: .126},
		{Nu: 5, Columns: 5, Rows: 100000, Few: .042, Tenth: .040},
		{Nu: 10, Columns: 10, Rows: 100000, Few: .054, Tenth: .051},
	})
}

// TestHeavyShapes: other relations, laws and shapes end in errors of the size that were measured:
// the limits of the laws are those that 2 of 200 runs exceeded, so that five of nine do with
// probability 126 .03^5 at most; those of the shapes none of 480 runs did, so that three of five do
// with 10 .01^3 at most.
func TestHeavyShapes(t *testing.T) {
	for law, limit := range map[string]float64{"gaussian": .09, "laplace": .23, "t5": .18} {
		for _, rel := range bothRelations {
			if m := estimatetest.Median(estimatetest.HeavyErrors(t, fresh(), NewHeavyTailed(), law, 3, 8000, 9, rel)); !(m < limit) {
				t.Errorf("%v %s: median error %v", rel, law, m)
			}
		}
	}
	estimatetest.Shapes(t, fresh(), NewHeavyTailed(), .1, .03)
}

// More budget never hurts. The root mean squares of four tables are those of heavy tails: they
// differ from one epsilon to the next by the radius too, which grows with the budget.
func TestMoreBudget(t *testing.T) {
	for _, rel := range bothRelations {
		for _, d := range []int{2, 5} {
			estimatetest.MoreBudget(t, NewHeavyTailed(), 4, 1.2, func(table uint64) (estimatetest.Case, func(estimatetest.Fit) float64) {
				s, rows := estimatetest.Sampled(t, madeup.Population{Columns: d, Kappa: 1e6, Offset: 10, Law: "t5"}, table, 6000)
				return estimatetest.Case{Rows: rows, Columns: d, Relation: rel, Components: 1}, func(f estimatetest.Fit) float64 {
					g := f.Model.Components[0]
					return s.Truth.Errors(g.Mean, g.Cov.Factor()).Covariance
				}
			})
		}
	}
}

// What every fit must hold, see there.
func TestHeavyEveryTable(t *testing.T) {
	estimatetest.EveryTable(t, newRand(t), NewHeavyTailed())
}
func TestHeavyReplay(t *testing.T) { estimatetest.Replayed(t, newRand(t), NewHeavyTailed()) }
func TestHeavyNoiseOnly(t *testing.T) {
	estimatetest.NoiseOnly(t, newRand(t), NewHeavyTailed())
}
func TestHeavyTooFewRows(t *testing.T) { estimatetest.TooFewRows(t, fresh(), NewHeavyTailed()) }

// TestHeavyFewRowsNote: who asks for means and standard deviations alone is not told from when on
// there are more.
func TestHeavyFewRowsNote(t *testing.T) {
	p := estimate.Problem{Columns: 8, Components: 1, Rows: 1300, Relation: privacy.ReplaceOne, Mu: neededMu}
	for shape, notes := range map[estimate.CovarianceType]int{estimate.Full: 1, estimate.Diagonal: 0} {
		p.Covariance = shape
		if got := NewHeavyTailed().Expect(p).Notes; len(got) != notes {
			t.Errorf("%v: %q", shape, got)
		}
	}
}
