package columns

import (
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestCountAgain: among ten columns that vary, one in which 3 % of the rows are 1 and the others 0
// is not called constant: a second count of it alone has the noise of one column. Without it the
// first count, of 4.8 noise sds, was too little in one of five fits: that none of 25 fails then has
// a chance of .004, and now 16 sds fall below four in none of 10^30. A column of zeros stays
// constant, and what may be unseen of it is a third of what it was.
func TestCountAgain(t *testing.T) {
	const n, d = 26733, 12
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range d - 2 {
			rows[i][j] = rand.NormFloat64()
		}
		if i%100 < 3 {
			rows[i][d-2] = 1
		}
	}
	for range 25 {
		plan := kernel.Plan{Method: "stagezero", Steps: append(UnitsSteps("", .5, .5), WeakStep.In("", .02), SparseStep.In("", .02))}
		terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
		s := kerneltest.Open(t, kerneltest.Table(rows, d, terms.Relation), plan, terms, kerneltest.Options{Fresh: true})
		mu2 := s.Mu() * s.Mu()
		u, err := MeasureUnits(s.SubBudget(), UnitsConfig{CenterMu2: .03 * mu2, ScaleMu2: .03 * mu2, WeakMu2: .02 * mu2 * (1 - 1e-9), SparseMu2: .02 * mu2 * (1 - 1e-9), Rows: n})
		if err != nil {
			t.Fatal(err)
		}
		if u.Constant[d-2] || !u.Constant[d-1] {
			t.Errorf("constant: %v, want the last of %d columns alone", u.Constant, d)
		}
		if most := (1 + ConstantSDs + 4.5) * u.VariedSD / 2.5; u.Unseen > most {
			t.Errorf("up to %.0f rows unseen, want at most %.0f", u.Unseen, most)
		}
	}
}
