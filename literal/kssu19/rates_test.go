package kssu19

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// How often both methods recover all components, at about the rows that Expect names and more, with
// fresh rows and noise. The check fails if the rate is below .7 beyond chance, at a false-alarm
// rate of 1e-6 each.
func TestRecoveryRates(t *testing.T) {
	if !estimatetest.Long() {
		t.Skip("GAUZE_LONG is not set: minutes")
	}
	const runs = 10
	even := Practical()
	even.LeastWeight = .3
	one := privacy.ReplaceOne
	for _, c := range []config{
		{NewPaper(Practical()), 3000, 3, 2, 10, 60, one, .3, 1.5},
		{NewPaper(Practical()), 12000, 3, 2, 10, 20, one, .3, 1.5},
		{NewPaper(Practical()), 15000, 10, 2, 10, 80, one, .3, 3},
		{NewPaper(even), 40000, 3, 3, 10, 200, one, .3, 1.5},
		{NewPaper(Practical()), 40000, 3, 2, 3, 60, one, .3, 1.5},
		{NewPaper(Practical()), 25000, 3, 2, 1, 60, one, .3, 1.5},
		{NewPaper(Practical()), 70000, 3, 3, 1, 200, one, .3, 1.5},
		{NewWarmUp(Practical()), 3000, 6, 2, 10, 60, one, .3, 2},
		{NewWarmUp(Practical()), 6000, 6, 3, 10, 60, one, .3, 2},
		{NewWarmUp(Practical()), 15000, 6, 3, 3, 60, one, .3, 2},
		{NewWarmUp(Practical()), 20000, 6, 2, 1, 10, one, .3, 2},
		{NewWarmUp(Practical()), 60000, 20, 3, 1, 60, one, .3, 2},
	} {
		good, refused, took := 0, 0, time.Duration(0)
		var means, covs []float64
		for seed := range uint64(runs) {
			begin := time.Now()
			mean, cov, f := c.run(t, 100+seed, kerneltest.Options{Fresh: true})
			took += time.Since(begin)
			means, covs = append(means, mean), append(covs, cov)
			if mean < c.mean && cov < c.cov {
				good++
			}
			if f.Refused != nil {
				refused++
			}
		}
		slices.Sort(means)
		slices.Sort(covs)
		p := trial{d: c.d, k: c.k, eps: c.eps}.problem()
		t.Logf("%s n=%d d=%d k=%d eps=%v sep=%v: %d/%d (refused %d), median errors %.3f and %.3f, expects %.0f rows, %v", c.method.Name(), c.n,
			c.d, c.k, c.eps, c.sep*math.Sqrt2, good, runs, refused, means[runs/2], covs[runs/2], c.method.Expect(p).RowsNeeded, took/runs)
		stattest.GoodAtLeast(t, good, runs, .7, 1e-6)
	}
}
