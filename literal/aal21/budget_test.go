package aal21

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// More budget never hurts: on one table the median error at epsilon 10, 1e3 and 1e6 does not rise
// by more than its spread, and there is always a model. Without GAUZE_LONG, one fit of each in one
// column.
//
// Over 60 tables of one column the error of a fit rose from 10 to 1e3 by .0001 on average, with an
// sd of .0028 and .0059 at most, and less from there to 1e6. Limits are those that a rise with
// Laplace's tails and that sd exceeds with probability 1e-7; a Gaussian's are far shorter. In two
// columns fits of one table differ by .01, so that medians of five do by .0076.
func TestMoreBudget(t *testing.T) {
	rng := newRand(t)
	times := 1
	if estimatetest.Long() {
		times = 5
	}
	for _, c := range []struct {
		e    Estimator
		d, k int
		far  float64
		sd   float64
	}{{NewUnivariate(Practical()), 1, 2, 12, .0028}, {New(Practical()), 2, 1, 0, .0076}, {NewGeneral(Practical()), 2, 1, 0, .0076}} {
		const alpha = 1e-7
		limit := c.sd / math.Sqrt2 * math.Log(1/(2*alpha))
		if c.d > 1 && times == 1 {
			continue
		}
		weights := slices.Repeat([]float64{1 / float64(c.k)}, c.k)
		truth := randomMixture(t, rng, weights, c.d, c.far)
		rows := sample(t, rng, truth, 3000)
		before := 1.0
		for _, eps := range []float64{10, 1e3, 1e6} {
			var errs []float64
			for range times {
				x := trial{rows: rows, d: c.d, k: c.k, eps: eps, relation: privacy.ReplaceOne, noise: kerneltest.Options{Seed: rng.Uint64()}}
				if c.e.class != full {
					x.shape = estimate.Diagonal
				}
				f := x.fit(t, c.e)
				if f.Model == nil {
					t.Fatalf("%s at epsilon %v: %v %v", c.e.Name(), eps, f.Refused, f.NoRelease)
				}
				errs = append(errs, variation(t, truth, f.Model))
			}
			slices.Sort(errs)
			t.Logf("%s, epsilon %g: total variation %.3f", c.e.Name(), eps, errs)
			if errs[times/2] > before+limit {
				t.Errorf("%s: at epsilon %g the error is %v, before it was %v", c.e.Name(), eps, errs[times/2], before)
			}
			before = errs[times/2]
		}
	}
}

// More rows are never refused, nor more budget: what Plan takes it takes of any larger table too,
// and what it refuses for the sake of the enumeration it refuses at any size, with the rows that it
// would take.
func TestMoreRows(t *testing.T) {
	var refused *estimate.Refusal
	for _, e := range []Estimator{NewUnivariate(Practical()), New(Practical()), NewGeneral(Practical()), New(Practical()).Printed().(Estimator)} {
		for d := 1; d <= 3; d++ {
			for k := 1; k <= 3; k++ {
				if !estimatetest.Long() && (e.class == inOneColumn || d+k > 4) {
					continue // they take long
				}
				for _, isKnown := range []bool{false, true} {
					taken := false
					for _, eps := range []float64{1, 1e6} {
						for _, n := range []int{100000, math.MaxInt} {
							p := trial{d: d, k: k, eps: eps, relation: privacy.ReplaceOne}.problem()
							p.Rows, p.Covariance = n, estimate.Diagonal
							if e.class == full {
								p.Covariance = estimate.Full
							}
							for i := 0; isKnown && i < d; i++ {
								row := make([]float64, d)
								row[i] = 1
								p.KnownCovariance = append(p.KnownCovariance, row)
							}
							_, err := e.Plan(p)
							if err == nil {
								taken = true
							} else if taken && n > 10000 && eps >= 1 || !errors.As(err, &refused) {
								t.Fatalf("%s, %d rows, epsilon %v, d %d, k %d: %v", e.Name(), n, eps, d, k, err)
							}
						}
					}
					if !taken && !(e.class == inOneColumn && d > 1) && !strings.Contains(refused.Reason, "however many rows") {
						t.Errorf("%s, d %d, k %d is never taken: %v", e.Name(), d, k, refused)
					}
				}
			}
		}
	}
}

// What the printed constants can do is run, and the rest refused with numbers, whatever the table.
func TestPrinted(t *testing.T) {
	for _, e := range []Estimator{NewUnivariate(Practical()), New(Practical()), NewGeneral(Practical())} {
		p := trial{d: 1, k: 1, eps: 1, relation: privacy.ReplaceOne}.problem()
		p.Rows = 1e9
		var refused *estimate.Refusal
		if _, err := e.Printed().Plan(p); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "sets for 2.") || !strings.Contains(refused.Reason, "rows besides") {
			t.Errorf("%s of any variance, as printed: %v", e.Name(), err)
		}
		p.KnownCovariance = [][]float64{{1}}
		if plan, err := e.Printed().Plan(p); err != nil || len(plan.Steps) != 2 {
			t.Errorf("%s of a known variance, as printed: %v, %v", e.Name(), plan, err)
		}
	}
}
