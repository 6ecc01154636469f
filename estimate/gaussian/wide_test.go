package gaussian

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestWide: the rows of a Gaussian in many columns are made round first, so that directions in
// which they hardly vary are seen. Before, the covariance of 40 columns x 15,000 rows was off by
// some 50 times the sampling error, now by about 2.2; exponential columns keep their moments.
func TestWide(t *testing.T) {
	rng := newRand(t)
	const d, n = 40, 15000
	var errors []float64
	for i := range 3 {
		if i == 2 && errors[0] < 3 && errors[1] < 3 {
			break // whatever the third is
		}
		w := newWorld(rng, d, 1e4, 10, d)
		o := gaussianSetting(d, n, privacy.ReplaceOne, 1, 0).fit(t, w.rows(rng, n))
		if o.Model == nil {
			t.Fatalf("%+v", o.NoRelease)
		}
		cov, _, _ := w.errors(o)
		errors = append(errors, cov*math.Sqrt(n/(d*(d+1.))))
	}
	t.Logf("errors of %.2f times the sampling error", errors)
	if m := middle(errors); !(m < 3) {
		t.Errorf("a median of %v", m)
	}
	o := gaussianSetting(d, n, privacy.ReplaceOne, 1, 0).fit(t, filled(n, d, func(int, int) float64 { return rng.ExpFloat64() }))
	if o.Model == nil {
		t.Fatalf("%+v", o.NoRelease)
	}
	for j, m := range o.Model.Components[0].Mean {
		if sd := math.Sqrt(o.Model.Components[0].Cov.At(j, j)); math.Abs(m-1) > .3 || math.Abs(sd-1) > .4 {
			t.Errorf("exponential column %d: mean %.2f, sd %.2f", j+1, m, sd)
		}
	}
}
