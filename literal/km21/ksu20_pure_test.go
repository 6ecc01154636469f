package km21

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// stretched are rows of covariance diag(4, 1) and mean (30, -7), of a law of unit variance.
func stretched(rng *rand.Rand, n int, of law) (rows [][]float64) {
	for range n {
		s := of(rng)
		rows = append(rows, []float64{30 + 2*s*rng.NormFloat64(), -7 + s*rng.NormFloat64()})
	}
	return rows
}

func pureCase(rows [][]float64, rel privacy.Relation, epsilon float64) estimatetest.Case {
	return estimatetest.Case{Rows: rows, Columns: 2, Relation: rel, Epsilon: epsilon, Components: 1,
		Facts: estimate.Facts{KnowsMean: true, MeanWithin: 50}, KnownCovariance: [][]float64{{4, 0}, {0, 1}}}
}

// TestPureMean: with a known covariance and a delta of 0 every measurement has Laplace noise, all
// of them cost epsilon together, and the mean's root mean square error, of 40 runs with seeds, is
// at most twice what noise and sampling make: for Gaussian rows, and for Student's with 6 degrees.
//
// Shows: [KSU20] Section 1.
func TestPureMean(t *testing.T) {
	const n, epsilon, runs = 20000, 1., 40
	for _, rel := range relations {
		for name, of := range map[string]law{"Gaussian": gaussian, "Student": student(6)} {
			sum, want := 0.0, 0.0
			for i := range uint64(runs) {
				c := pureCase(stretched(rand.New(rand.NewPCG(i, 8)), n, of), rel, epsilon)
				c.Noise = kerneltest.Options{Seed: i}
				f := estimatetest.RunChecked(t, New(Practical()), c)
				if f.Model == nil {
					t.Fatalf("%s, %v: %+v %+v", name, rel, f.Refused, f.NoRelease)
				}
				for _, m := range f.Session.Measurements() {
					if m.Law != "laplace" || m.Delta != 0 || !(m.Pure > 0) {
						t.Errorf("%+v is not pure", m)
					}
				}
				if l := f.Session.Loss(); l.Epsilon > epsilon || l.Epsilon < .999*epsilon || l.Delta != 0 {
					t.Errorf("spent %+v", l)
				}
				g := f.Model.Components[0]
				sum += math.Pow((g.Mean[0]-30)/2, 2) + math.Pow(g.Mean[1]+7, 2)
				x := New(Practical()).pureMean(c.Problem(), n)
				_, _, share := x.shares()
				want += 2/float64(n) + 2*math.Pow(x.noise(x.radius(share*epsilon), share*epsilon), 2)
				if g.Cov.At(0, 0) < 3.999 || g.Cov.At(0, 0) > 4.001 {
					t.Errorf("the covariance is %v", g.Cov.Dense())
				}
			}
			if got, want := math.Sqrt(sum/runs), math.Sqrt(want/runs); got > 2*want || got < want/2 {
				t.Errorf("%s, %v: error %.4f, expected %.4f", name, rel, got, want)
			} else {
				t.Logf("%s, %v: error %.4f, expected %.4f", name, rel, got, want)
			}
		}
	}
}

// TestPureMeanEdges: what is missing is refused for free; hard tables end in a reason or a mean,
// within epsilon; a neighbour with the same answers is asked the same; and the likelihood ratio of
// all answers between neighbours is within epsilon, and near it where a far row is added.
func TestPureMeanEdges(t *testing.T) {
	e := New(Practical())
	bare := pureCase(nil, privacy.ReplaceOne, 1)
	bare.KnownCovariance = nil
	if _, err := e.Plan(bare.Problem()); err == nil || !strings.Contains(err.Error(), "--known-covariance FILE") {
		t.Errorf("without a covariance: %v", err)
	}
	few := pureCase(stretched(rand.New(rand.NewPCG(1, 1)), 1000, gaussian), privacy.ReplaceOne, .5)
	if f := estimatetest.Run(t, e, few); f.Refused == nil || !strings.Contains(f.Refused.Advice, "rows") {
		t.Errorf("few rows: %+v", f)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for _, table := range estimatetest.Hard() {
		f := estimatetest.RunChecked(t, e, pureCase(table.Rows(rng, 9000, 2), privacy.AddRemoveOne, 3))
		if f.Session != nil && f.Session.Loss().Epsilon > 3 {
			t.Errorf("%s: %+v", table.Name, f.Session.Loss())
		}
	}
	base := stretched(rand.New(rand.NewPCG(3, 3)), 9000, gaussian)
	for _, rel := range relations {
		most := 0.0
		for run, x := range [][]float64{{1e308, -1e308}, {math.NaN(), 0}, {-50, 50}, {30, -7}} {
			rows, other := append(slices.Clone(base), x), slices.Clone(base)
			if rel == privacy.ReplaceOne {
				other = append(other, []float64{-x[0], -x[1]})
			}
			var own, theirs kerneltest.Transcript
			c := pureCase(rows, rel, 3)
			c.Noise = kerneltest.Options{Seed: uint64(run), Record: &own}
			f := estimatetest.Run(t, e, c)
			c.Rows, c.Noise = other, kerneltest.Options{Replay: &own, Record: &theirs}
			if estimatetest.Run(t, e, c); f.Session == nil || !estimatetest.SameQuestions(own, theirs) {
				t.Fatalf("%v, %v: the same answers led elsewhere: %+v %+v", rel, x, f.Refused, f.NoRelease)
			}
			most = math.Max(most, changed(f.Session.Measurements(), own, theirs))
		}
		if most > 3*(1+1e-9) || most < .5 {
			t.Errorf("%v: neighbours' sums differ by up to %.3f noise scales, at most 3 may be", rel, most)
		}
	}
}

// changed is the sum over measurements of the L1 distance of two tables' exact sums, in the scales
// of the Laplace noise: the most that a likelihood ratio can be.
func changed(of []kernel.Measurement, a, b kerneltest.Transcript) (ratio float64) {
	for k, m := range of {
		unit := a.Queries[k].(interface{ Unit() float64 }).Unit()
		for i, v := range a.Sums[k] {
			ratio += math.Abs(float64(v-b.Sums[k][i])) / (m.Noise / unit)
		}
	}
	return ratio
}
