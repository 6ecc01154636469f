package km21

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestRecovery: where the analysis asks for no more than the rows that there are, a covariance is
// released, with an error that is well below its bound; and the mean with it. Rows and noise have
// fixed seeds.
//
// Shows: [KM21] Algorithm 3.
func TestRecovery(t *testing.T) {
	rng := newRand(t)
	for _, c := range []struct {
		name           string
		constants      Constants
		law            law
		d              int
		kappa, top, at float64
		bound          float64 // of the fourth moments: 9 for a t distribution with 5 degrees of freedom
	}{
		{"Gaussian about the origin", Practical(), gaussian, 2, 100, 1, 0, 0},
		{"Gaussian", Practical(), gaussian, 2, 10, 1e6, 2e3, 0},
		{"Gaussian far out", Practical(), gaussian, 1, 10, 1, 300, 0},
		{"as printed", Printed(), gaussian, 2, 100, 1, 0, 0},
		{"t5", Practical(), student(5), 2, 10, 1e-9, 0, 9},
		{"t5 with a mean", Practical(), student(5), 1, 3, 1, 1, 9},
	} {
		for _, rel := range relations {
			t.Run(c.name+" "+rel.String(), func(t *testing.T) {
				truth := truthOf(t, rng, c.d, c.kappa, c.top, c.at)
				e := New(c.constants)
				fit := estimatetest.Case{Columns: c.d, Relation: rel, Mu: privacy.MuOf(10, 1e-6), Components: 1, Facts: knowing(c.kappa, c.top, c.at),
					Noise: kerneltest.Options{Seed: rng.Uint64()}}
				fit.Facts.MomentBound = c.bound
				n := e.needed(fit.Problem()) * 1.3
				fit.Rows = rowsOf(rng, truth, int(n), c.law)
				f := estimatetest.RunChecked(t, e, fit)
				if f.Model == nil {
					t.Fatalf("n = %.0f: %+v %+v", n, f.Refused, f.NoRelease)
				}
				mean, cov := errorsOf(truth, f)
				d := float64(c.d)
				if limit := math.Min(.5, 8*d*math.Sqrt(2/n)+.1); cov > limit {
					t.Errorf("n = %.0f: covariance error %v, want at most %v", n, cov, limit)
				}
				if limit := 6*math.Sqrt(d/n) + .02; mean > limit || c.at == 0 && mean != 0 {
					t.Errorf("n = %.0f: mean error %v, want at most %v", n, mean, limit)
				}
				t.Logf("n = %.0f: errors %.4f and %.4f, %s", n, cov, mean, f.Diagnostics.Flags[len(f.Diagnostics.Flags)-1])
			})
		}
	}
}

// TestShapes: the shapes take the full covariance's diagonal, or its mean.
func TestShapes(t *testing.T) {
	rng := newRand(t)
	truth := truthOf(t, rng, 2, 3, 1, 0)
	for _, shape := range shapes {
		c := estimatetest.Case{Columns: 2, Mu: 100, Components: 1, Covariance: shape, Facts: knowing(3, 1, 0), Rows: rowsOf(rng, truth, 20000, gaussian)}
		f := estimatetest.RunChecked(t, New(Practical()), c)
		if f.Model == nil {
			t.Fatalf("%v: %+v", shape, f.NoRelease)
		}
		got := f.Model.Components[0].Cov
		share := (got.At(0, 0) + got.At(1, 1)) / (truth.Cov.At(0, 0) + truth.Cov.At(1, 1))
		if math.Abs(share-1) > .1 || (got.At(0, 1) != 0) != (shape == shapes[0]) {
			t.Errorf("%v: %v of %v", shape, got.Dense(), truth.Cov.Dense())
		}
	}
}

// TestAnalysis: with probability 1-beta the spectral error of a step is at most s, and that of the
// last release at most alpha; here in n = 2000 Gaussian rows of two columns, seldom near the bound.
// False-alarm rate 4e-9.
//
// Shows: [KM21] Theorem 3.1.
func TestAnalysis(t *testing.T) {
	rng := newRand(t)
	const runs, beta, n = 150, .2, 2000
	truth := truthOf(t, rng, 2, 1, 1, 0)
	for _, pairs := range []bool{false, true} {
		beyond, beyondLast := 0, 0
		for range runs {
			x := alone(t, rowsOf(rng, truth, n, gaussian), 2, privacy.ReplaceOne, 20, pairs, kerneltest.Options{Seed: rng.Uint64()})
			a := begin(2, [2]float64{1, 1}).A
			spectralGamma, s := x.spectral(10, beta)
			gamma, alpha := x.frobenius(10, beta)
			for i, gamma := range []float64{spectralGamma, gamma} {
				m, err := naiveHTPCE(x, "second", a, gamma, 10)
				if err != nil {
					t.Fatal(err)
				}
				for j := range 2 {
					m.SetSym(j, j, m.At(j, j)-1)
				}
				values, _, _ := symmetric.Eigen(m)
				if i == 0 && math.Max(-values[0], values[1]) > s {
					beyond++
				}
				if i == 1 && math.Hypot(values[0], values[1]) > alpha {
					beyondLast++
				}
			}
		}
		stattest.GoodAtMost(t, beyond, runs, beta, stattest.FalseAlarm)
		stattest.GoodAtMost(t, beyondLast, runs, beta, stattest.FalseAlarm)
	}
}

// alone is a sample for single algorithms, whose steps have the whole budget each.
func alone(t *testing.T, rows [][]float64, d int, rel privacy.Relation, mu float64, pairs bool, noise kerneltest.Options) sample {
	t.Helper()
	kind := "clipped moments"
	if pairs {
		kind = "pair moments"
	}
	plan := kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: "second", Query: kind, Share: 1, Most: 100},
		{Name: stepStart, Query: "clipped moments", Share: 1, Most: 100}, {Name: stepMean, Query: "clipped moments", Share: 1, Most: 100}}}
	s := kerneltest.Open(t, kerneltest.Table(rows, d, rel), plan, kernel.Terms{Relation: rel, Budget: privacy.Budget{Rho: mu * mu / 2}}, noise)
	x := design{Constants: Practical(), class: gaussianClass(2), d: d, relation: rel, rows: float64(len(rows)), pairs: pairs}
	if rel == privacy.ReplaceOne {
		x.public = x.rows
	}
	return sample{x, s.SubBudget()}
}

// TestSigma: the noise that the analysis reckons with is the kernel's.
func TestSigma(t *testing.T) {
	rng := newRand(t)
	truth := truthOf(t, rng, 3, 2, 1, 0)
	for _, rel := range relations {
		for _, pairs := range []bool{false, true} {
			x := alone(t, rowsOf(rng, truth, 4000, gaussian), 3, rel, 3, pairs, kerneltest.Options{Seed: 1})
			if _, err := naiveHTPCE(x, "second", begin(3, [2]float64{1, 1}).A, 7, .5); err != nil {
				t.Fatal(err)
			}
			m := x.a.Session().Measurements()[0]
			noise := m.Noise / x.size()
			if !pairs {
				noise *= 7 * 7 * (1 + lift*lift) // the answer is in the unit of f f^T
			}
			if want := x.sigma(49, .5); math.Abs(noise/want-1) > 1e-3 {
				t.Errorf("%v, pairs %v: sigma %v, want %v", rel, pairs, noise, want)
			}
		}
	}
}

// TestNaiveTruncates: rows beyond gamma count as zero, where clipping would move them to its
// surface.
//
// Shows: [KM21] Algorithm 1.
func TestNaiveTruncates(t *testing.T) {
	rows := [][]float64{{1, 0}, {0, 2}, {30, 40}, {-1e200, 3}, {math.NaN(), 1}, {0, 0}, {0, 0}, {0, 0}}
	x := alone(t, rows, 2, privacy.ReplaceOne, 1, false, kerneltest.Options{Exact: true})
	m, err := naiveHTPCE(x, "second", begin(2, [2]float64{1, 1}).A, 3, .5)
	if err != nil || math.Abs(m.At(0, 0)-1./8) > 1e-4 || math.Abs(m.At(1, 1)-4./8) > 1e-4 || math.Abs(m.At(0, 1)) > 1e-4 {
		t.Errorf("%v, %v", m, err)
	}
}

// [KSU20] Section 1: the mean of whitened rows with fourth moments, from a start within sqrt d and
// from one far away; and none if it is too far.
//
// Shows: [KSU20] Section 1.
func TestHeavyTailedMean(t *testing.T) {
	rng := newRand(t)
	const n, d = 20000, 4
	for _, rel := range relations {
		for _, at := range []float64{.5, 100, 1e6} {
			truth := truthOf(t, rng, d, 50, 9, at)
			x := alone(t, rowsOf(rng, truth, n, student(5)), d, rel, .5, true, kerneltest.Options{Seed: rng.Uint64()})
			p := begin(d, [2]float64{1, 1})
			p.Inverse.Copy(truth.Cov.Factor())
			if err := p.A.Inverse(p.Inverse); err != nil {
				t.Fatal(err)
			}
			mean, none, err := heavyTailedMean(x, estimated{Factor: p.Inverse, Whitener: p.A}, at)
			if err != nil {
				t.Fatal(err)
			}
			if at == 1e6 {
				if none == nil || len(x.a.Session().Measurements()) > 0 {
					t.Errorf("a mean within %v: got %v", at, mean)
				}
				continue
			}
			var off float64
			for i := range d {
				z := 0.0
				for j := range d {
					z += p.A.At(i, j) * (mean[j] - truth.Mean[j])
				}
				off += z * z
			}
			// The formula of the doc comment, with constants.
			limit := 4*math.Sqrt(d/float64(n)) + 4*2*math.Pow(2/(n*.5), 1-1./4)
			if math.Sqrt(off) > limit {
				t.Errorf("%v, mean within %v: error %v, want at most %v", rel, at, math.Sqrt(off), limit)
			}
			if first := x.a.Session().Measurements()[0].Step; (first == stepStart) != (at == 100) {
				t.Errorf("mean within %v: the first step is %q", at, first)
			}
		}
	}
}

// TestContradiction: facts that cannot be end without a release, with advice, and a table of too
// few rows is refused.
func TestContradiction(t *testing.T) {
	rng := newRand(t)
	e := New(Practical())
	truth := truthOf(t, rng, 2, 10, 1, 0)
	rows := rowsOf(rng, truth, 60000, gaussian)
	for _, rel := range relations {
		for name, facts := range map[string][2]float64{"too narrow": {.001, .01}, "too wide": {100, 1000}} {
			c := estimatetest.Case{Columns: 2, Relation: rel, Mu: 50, Components: 1, Facts: knowing(10, 1, 0), Rows: rows}
			c.Facts.Eigenvalues = facts
			if f := estimatetest.RunChecked(t, e, c); f.NoRelease == nil || !strings.Contains(f.NoRelease.Advice, "--eigenvalues-within") {
				t.Errorf("%v, bounds %s: %+v %+v", rel, name, f.Refused, f.Outcome)
			}
		}
		c := estimatetest.Case{Columns: 2, Relation: rel, Mu: .2367, Components: 1, Facts: knowing(10, 1, 0), Rows: rows[:20000]}
		f := estimatetest.RunChecked(t, e, c)
		if public := rel == privacy.ReplaceOne; public != (f.Refused != nil) || !public && (f.NoRelease == nil || !strings.Contains(f.NoRelease.Advice, "rows")) {
			t.Errorf("%v, few rows: %+v %+v", rel, f.Refused, f.Outcome)
		}
	}
}
