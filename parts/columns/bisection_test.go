package columns

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/component"
)

// TestDoubt: a search in which any one comparison was wrong finds the answer all the same, if at
// least doubtRun come after it, with scaleAgain comparisons more at most; and one without an error
// still finds it.
func TestDoubt(t *testing.T) {
	for answer := int64(1); answer <= lastKey; answer += 13 {
		for wrong := -1; wrong < scaleQueries-doubtRun-1; wrong++ {
			asked := 0
			ask := func(_ int, edges []float64) ([]float64, error) {
				sign := 1.
				if edges[0] < float64(answer) {
					sign = -1
				}
				if asked == wrong {
					sign = -sign
				}
				asked++
				return []float64{sign}, nil
			}
			b := newBisection([]bool{true}, 1, lastKey, 0)
			number := func(v int64) float64 { return float64(v) }
			if err := b.runAgain(scaleQueries, func() int { return scaleAgain }, doubtRun, number, ask); err != nil || b.lo[0] != answer || asked > scaleQueries+scaleAgain {
				t.Fatalf("comparison %d wrong: %d, want %d; %d comparisons; %v", wrong, b.lo[0], answer, asked, err)
			}
		}
	}
}

// TestCovNoise: where the mean is far from the centre of the frame, the noise of the variance is
// that of the mean's square, as CovNoise2 says. Of 100 releases the mean square in units of it is
// between .5 and 1.7 but with a probability below 1e-5 (chi-square).
func TestCovNoise(t *testing.T) {
	const n, runs = 2000, 100
	rng := rand.New(rand.NewPCG(3, 4))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{1 + .1*rng.NormFloat64()}
	}
	frame := component.Flat(1).Affine([]float64{0}, mat.NewDense(1, 1, []float64{1}))
	sum := 0.0
	for range runs {
		s := kerneltest.Open(t, kerneltest.Table(rows, 1, privacy.ReplaceOne), kernel.Plan{Method: "moments", Steps: MomentsSteps("", 1, 1)},
			kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}, kerneltest.Options{Fresh: true})
		m, err := ReleaseMoments(s.SubBudget(), "", frame, n, .9*s.SubBudget().Left(), 4, AnyExcess)
		if err != nil {
			t.Fatal(err)
		}
		sum += math.Pow(m.Cov.At(0, 0)-.01, 2) / (2 * m.CovNoise2(0, 0)) / runs
	}
	if !(sum > .5 && sum < 1.7) {
		t.Errorf("a mean square of %.2f in units of the stated noise, want 1", sum)
	}
}
