package separated

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
)

// along is a mixture of k unit spheres, each gap further along axis 0 or the diagonal, in columns
// of units of their own.
func along(t testing.TB, rng *rand.Rand, d, k int, gap float64, diagonal bool) *model.Mixture {
	t.Helper()
	units := make([]float64, d)
	for j := range units {
		units[j] = math.Pow(10, -2+5*rng.Float64())
	}
	var gs []model.Gaussian
	for i := range k {
		mean, cov := make([]float64, d), mat.NewSymDense(d, nil)
		for j, u := range units {
			cov.SetSym(j, j, u*u)
			if diagonal {
				mean[j] = u * gap * float64(i) / math.Sqrt(float64(d))
			} else if j == 0 {
				mean[j] = u * gap * float64(i)
			}
		}
		full, err := model.NewFull(cov)
		if err != nil {
			t.Fatal(err)
		}
		gs = append(gs, model.Gaussian{Mean: mean, Cov: full})
	}
	m, err := model.New(nil, nil, gs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPlainClusters: clusters that a glance at one histogram shows are found whatever the columns'
// units, at gaps of 6 to 10^9 sds, along an axis or across all, under both relations. 205 of 210
// fits of these tables with fresh noise were right, of 14 columns 28 of 30: that more than six of
// the 14 are wrong has a probability of 6e-8 at those rates, and of 1e-5 at twice these.
func TestPlainClusters(t *testing.T) {
	rng := newRand(t)
	wrong := 0
	for _, c := range []struct {
		d, k     int
		gap      float64
		diagonal bool
	}{{1, 2, 1e6, false}, {3, 3, 12, true}, {8, 2, 6, false}, {8, 2, 300, false}, {8, 3, 7, true}, {8, 2, 1e9, true}, {14, 3, 30, false}} {
		for i := range 2 {
			m := along(t, rng, c.d, c.k, c.gap, c.diagonal)
			f := estimatetest.Run(t, New(), estimatetest.Case{Rows: estimatetest.Draw(t, m, 12000, rng), Columns: c.d, Relation: relations[i%2],
				Epsilon: 1, Delta: 1e-6, Noise: fresh})
			if f.Model == nil || len(f.Model.Components) != c.k || worstMean(m, f.Model) > .5 {
				wrong++
				t.Logf("%+v %v", c, relations[i%2])
			}
		}
	}
	if wrong > 6 {
		t.Errorf("%d of 14 fits are wrong", wrong)
	}
}

// TestLimitThatBinds: more clusters than are allowed do not end in one, and the release says so.
func TestLimitThatBinds(t *testing.T) {
	rng := newRand(t)
	m := along(t, rng, 2, 9, 9, true)
	f := estimatetest.Run(t, New(), estimatetest.Case{Rows: estimatetest.Draw(t, m, 20000, rng), Columns: 2, MaxComponents: 5, Epsilon: 1, Delta: 1e-6, Noise: fresh})
	if f.Model == nil || len(f.Model.Components) < 4 || !strings.Contains(strings.Join(flags.Texts(f.Diagnostics.Flags), " "), "at most 5 allowed") {
		t.Errorf("%+v: %v", f.Model, f.Diagnostics.Flags)
	}
}
