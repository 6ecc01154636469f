package estimatetest

import (
	"errors"
	"math"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
)

// MoreDelta is the delta of MoreBudget.
const MoreDelta = 1e-6

// MoreBudget fails the test if more budget ever hurts: each of the tables that draw makes is fitted
// at epsilon 10 and 1e6, and at 1e3 between them where GAUZE_LONG is set; all fits must be
// released, and at each epsilon the root mean square of the scores is at most slack times that at
// the one before. The rows are the same, so that what sampling does to the errors cancels but for
// its product with the noise; the last mean square is returned. Rows and noise have seeds: no false
// alarms.
func MoreBudget(tb testing.TB, e estimate.Estimator, tables int, slack float64, draw func(table uint64) (Case, func(Fit) float64)) float64 {
	tb.Helper()
	last := math.Inf(1)
	for _, eps := range []float64{10, 1e3, 1e6} {
		if eps == 1e3 && !Long() {
			continue
		}
		sum := 0.0
		for i := range uint64(tables) {
			c, score := draw(i)
			c.Mu, c.Epsilon, c.Delta, c.Noise = 0, eps, MoreDelta, kerneltest.Options{Seed: i}
			f := RunChecked(tb, e, c)
			if f.Model == nil {
				tb.Errorf("%s, table %d: nothing was released at epsilon %g: %+v %+v", e.Name(), i, eps, f.Refused, f.NoRelease)
				return math.Inf(1)
			}
			x := score(f)
			sum += x * x / float64(tables)
		}
		x := math.Sqrt(sum)
		tb.Logf("%s: error %.4g at epsilon %g", e.Name(), x, eps)
		if !(x <= slack*last) {
			tb.Errorf("%s: error %.4g at epsilon %g, %.4g at less", e.Name(), x, eps, last)
		}
		last = x
	}
	return last
}

// MoreRows fails the test if the plan of a problem that is not refused is refused for more rows, up
// to 1e12 of them.
func MoreRows(tb testing.TB, e estimate.Estimator, p estimate.Problem) {
	tb.Helper()
	for first := p.Rows; float64(p.Rows) < min(1e12, math.MaxInt/2); p.Rows *= 2 {
		_, err := e.Plan(p)
		var refused *estimate.Refusal
		if err != nil && !errors.As(err, &refused) {
			tb.Fatal(err)
		}
		if refused != nil {
			tb.Errorf("%s: %d rows are refused where %d are not: %v", e.Name(), p.Rows, first, refused)
			return
		}
	}
}
