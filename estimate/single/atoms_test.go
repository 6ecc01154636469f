package single

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
)

// TestAtoms: rows that no Gaussian fits end in a refusal, or in moments near the rows' own; never in a spread of zero.
func TestAtoms(t *testing.T) {
	if !long() {
		t.Skip("takes half a minute; set GAUZE_LONG=1")
	}
	type col func(rng *rand.Rand, x []float64)
	zeros := func(share float64, log bool) col {
		return func(rng *rand.Rand, x []float64) {
			for j := range x {
				v := 5 + rng.NormFloat64()
				if log {
					v = math.Exp(rng.NormFloat64())
				}
				if rng.Float64() < share {
					v = 0
				}
				x[j] = v
			}
		}
	}
	atom := func(share float64) col {
		return func(rng *rand.Rand, x []float64) {
			a := rng.Float64() < share
			for j := range x {
				x[j] = rng.NormFloat64()
				if a {
					x[j] = 1
				}
			}
		}
	}
	onecol := func(rng *rand.Rand, x []float64) {
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		if rng.Float64() < .9 {
			x[0] = 0
		}
	}
	far := func(rng *rand.Rand, x []float64) {
		s := 1.0
		if rng.Float64() < .05 {
			s = 1000
		}
		for j := range x {
			x[j] = s * rng.NormFloat64()
		}
	}
	two := func(rng *rand.Rand, x []float64) {
		s := 5.0
		if rng.Float64() < .5 {
			s = -5
		}
		for j := range x {
			x[j] = s + rng.NormFloat64()
		}
	}
	bin := func(rng *rand.Rand, x []float64) {
		for j := range x {
			x[j] = float64(rng.IntN(2))
		}
	}
	expo := func(rng *rand.Rand, x []float64) {
		for j := range x {
			x[j] = rng.ExpFloat64()
		}
	}
	for _, cov := range []estimate.CovarianceType{0, 1, 2} {
		for _, d := range []int{2, 5, 8} {
			if cov == 0 && d == 8 {
				continue
			}
			n := map[int]int{2: 8000, 5: 20000, 8: 20000}[d]
			for _, c := range []struct {
				name string
				f    col
			}{{"zeros50", zeros(.5, false)}, {"zeros80", zeros(.8, false)}, {"zeros90", zeros(.9, false)}, {"logn80", zeros(.8, true)},
				{"atom25", atom(.25)}, {"atom40", atom(.4)}, {"atom60", atom(.6)}, {"onecol90", onecol}, {"far5", far}, {"two", two}, {"binary", bin}, {"expo", expo}} {
				s := setting{d: d, n: n, rel: 1, cov: cov}
				s.sample = func(rng *rand.Rand) ([][]float64, func(estimate.Outcome) float64) {
					rows := make([][]float64, n)
					mean := make([]float64, d)
					v := make([]float64, d)
					for i := range rows {
						rows[i] = make([]float64, d)
						c.f(rng, rows[i])
						for j, y := range rows[i] {
							mean[j] += y / float64(n)
							v[j] += y * y / float64(n)
						}
					}
					return rows, func(o estimate.Outcome) float64 {
						worst := 0.0
						for j := range d {
							v := v[j] - mean[j]*mean[j]
							worst = math.Max(worst, math.Abs(math.Log(o.Model.Components[0].Cov.At(j, j)/v)))
							worst = math.Max(worst, math.Abs(o.Model.Components[0].Mean[j]-mean[j])/math.Sqrt(v))
						}
						return worst
					}
				}
				r := simulate(t, s, 6)
				t.Log(cov, c.name, d, r)
				if math.IsInf(r.sum, 0) || math.IsNaN(r.sum) {
					t.Errorf("%v %s d=%d: a spread of zero or no number", cov, c.name, d)
				}
			}
		}
	}
}
