package univariate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// mixed is a with probability p, and b else.
func mixed(p float64, a, b func(rng *rand.Rand) float64) func(rng *rand.Rand) float64 {
	return func(rng *rand.Rand) float64 {
		if rng.Float64() < p {
			return a(rng)
		}
		return b(rng)
	}
}

func value(x float64) func(*rand.Rand) float64 { return func(*rand.Rand) float64 { return x } }

func gaussian(mean, sd float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return mean + sd*rng.NormFloat64() }
}

func logNormal(sigma float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return math.Exp(sigma * rng.NormFloat64()) }
}

// rounded are rows on a lattice.
func rounded(unit, offset float64, row func(*rand.Rand) float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return offset + unit*math.Round((row(rng)-offset)/unit) }
}

// unkind are columns that are no mixture of as many Gaussians as are asked for.
var unkind = []struct {
	name string
	ks   []int
	row  func(*rand.Rand) float64
}{
	{"a code in fifty", []int{1, 2}, mixed(.02, value(999), mixed(.5, gaussian(20, 3), gaussian(40, 5)))},
	{"a code in ten", []int{1, 0}, mixed(.1, value(-9999), gaussian(20, 3))},
	{"mostly zero", []int{1, 0}, mixed(.95, value(0), gaussian(9, 3))},
	{"two values", []int{1, 2}, mixed(.3, value(1), value(0))},
	{"rare value", []int{1, 0}, mixed(.06, value(1), value(0))},
	{"units of 9", []int{1, 3, 0}, rounded(9, 0, gaussian(200, 25))},
	{"units of 11, offset", []int{1, 0}, rounded(11, 3.7, gaussian(100, 40))},
	{"halves", []int{1}, rounded(.5, 0, gaussian(30, 6))},
	{"answers", []int{1, 0}, rounded(1, 0, gaussian(3.4, .9))},
	{"exponential", []int{1, 3}, func(rng *rand.Rand) float64 { return 7 * rng.ExpFloat64() }},
	{"log-normal", []int{3, 0}, logNormal(.9)},
	{"uniform", []int{1, 0}, func(rng *rand.Rand) float64 { return 100 * rng.Float64() }},
	{"wide log-normal", []int{3}, logNormal(2)},
}

// TestUnkind: whatever a column holds, the model says what its overall mean and sd are, within .05
// sds and 20 %, or says why not. Rows and noise have seeds, as the statistical failures
// of a fit are not known to 1e-6: of 900 such fits with fresh noise, none failed.
func TestUnkind(t *testing.T) {
	for _, c := range unkind {
		for i, k := range c.ks {
			rng := rand.New(rand.NewPCG(uint64(i), 11))
			rows := make([][]float64, 20000)
			all := fit1d.Component{}
			for i := range rows {
				rows[i] = []float64{c.row(rng)}
				all.Offset += rows[i][0] / float64(len(rows))
			}
			for _, r := range rows {
				all.SD += (r[0] - all.Offset) * (r[0] - all.Offset) / float64(len(rows))
			}
			all.SD = math.Sqrt(all.SD)
			f := trial{rows: rows, eps: 1, relation: relations[i%2], components: k, noise: kerneltest.Options{Seed: uint64(i)}}.fit(t)
			if f.Model == nil {
				t.Errorf("%s, k = %d: %v", c.name, k, f.NoRelease)
				continue
			}
			mean, sd := overall(f)
			if off := math.Abs(mean-all.Offset) / all.SD; (off > .05 || sd < .8*all.SD || sd > 1.2*all.SD) && (c.name != "wide log-normal" || len(f.Diagnostics.Flags) == 0) {
				t.Errorf("%s, k = %d: the mean is off by %.2g sds, the sd %.2g times as large: %q", c.name, k, off, sd/all.SD, f.Diagnostics.Flags)
			}
			people := 0
			for _, n := range f.Diagnostics.Components {
				if !n.Background {
					people++
				}
			}
			if people == 0 || k > 0 && people > k {
				t.Errorf("%s: %d components, want %d", c.name, people, k)
			}
		}
	}
}

// overall are the mean and the sd of a release.
func overall(f estimatetest.Fit) (mean, sd float64) {
	var cs []fit1d.Component
	for i, g := range f.Model.Components {
		cs = append(cs, fit1d.Component{Rows: f.Model.Weights[i], Origin: g.Mean[0], SD: math.Sqrt(g.Cov.At(0, 0))})
	}
	return fit1d.MeanSD(cs)
}
