package amn24

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/paper"
)

// nearby is a pair that is close to p, at a random place within the tolerance.
func nearby(rng *rand.Rand, p pair, tol tolerance) pair {
	for {
		q := paper.Means(p, tol.Tau*(2*rng.Float64()-1), 1)
		r := paper.Covariances(q[rng.IntN(len(q))], tol.Rho*(rng.Float64()-.5), 1)
		if got := r[rng.IntN(len(r))]; tol.close(got, p) {
			return got
		}
	}
}

// Closeness is symmetric up to a factor of 2 and transitive up to one of 4, where gamma is at most
// 1/20.
//
// Shows: [AMN24] Proposition B.2.
func TestPropositionB2(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for range 2000 {
		p, _ := randomPair(rng, 1+rng.IntN(2))
		tol := tolerance{.05 * rng.Float64(), .05 * rng.Float64(), .05 * rng.Float64()}
		q := nearby(rng, p, tol)
		if !tol.times(2).close(p, q) {
			t.Fatalf("%v: close to %v, which is not close to it", q, p)
		}
		if r := nearby(rng, q, tol); !tol.times(4).close(r, p) {
			t.Fatalf("%v, %v, %v: not transitive", p, q, r)
		}
	}
}

// Gaussians that are close, rho and tau at most 1/2, are within total variation max(rho, tau)/sqrt
// 2, by integration on the line.
//
// Shows: [AMN24] Lemma A.8.
func TestLemmaA8(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 2))
	for range 200 {
		tol := tolerance{1, .5 * rng.Float64(), .5 * rng.Float64()}
		p := paper.Line(0, 1)
		q := nearby(rng, p, tol)
		tv, mean, sd := 0., q.Mean[0], q.L.At(0, 0)
		const step = 1e-3
		for x := -12.; x < 12; x += step {
			z := (x - mean) / sd
			tv += step / 2 * math.Abs(math.Exp(-x*x/2)-math.Exp(-z*z/2)/sd) / math.Sqrt(2*math.Pi)
		}
		if bound := math.Max(tol.Rho, tol.Tau) / math.Sqrt2; tv > bound+1e-6 {
			t.Errorf("mean %v, sd %v: total variation %v, the bound is %v", mean, sd, tv, bound)
		}
	}
}

// Conditions (b) and (c) each silence A on multisets on which A0 speaks, with the constants that
// run; so does (a) where one element of four may change, which those constants do not ask for.
func TestConditionsBite(t *testing.T) {
	c := Practical()
	r := robust{Points: points(7, c.Points), Components: 2, Ties: c.Ties, Changed: .26, Closeness: c.Closeness, Wide: c.Wide, Narrow: c.Narrow}
	all := multisets(c.Points, c.Elements)
	var starts []opinion
	for _, y := range all {
		starts = append(starts, r.start(y))
	}
	var spoke, a, b, ties int
	for i, y := range all {
		if !starts[i].OK {
			continue
		}
		spoke++
		if !r.survives(all, starts, i, c.Elements) {
			a++
		}
		if r.strays(y, starts[i]) {
			b++
		}
		if r.clumps(y, c.Elements, starts[i].SD) {
			ties++
		}
	}
	if spoke != 1729 || a != 881 || b != 185 || ties != 78 {
		t.Errorf("A0 speaks on %d of %d multisets; (a), (b), (c) reject %d, %d, %d; want 1729, 881, 185, 78", spoke, len(all), a, b, ties)
	}
}

// More budget never hurts: the median error of three fits at epsilon 1000 and 10^6 is not above
// that at 10 by more than the spread of fits, which was .008 to .03 at all three. A method that
// breaks at a large epsilon releases nothing or errs by .3 and more. Seeds are fixed: nothing fails
// by chance. Without GAUZE_LONG there is one fit.
func TestMoreBudgetNeverHurts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 1))
	fits := uint64(1)
	if estimatetest.Long() {
		fits = 3
	}
	for _, x := range []struct {
		e     func(Constants) estimate.Estimator
		parts [][3]float64
		facts estimate.Facts
	}{
		{func(c Constants) estimate.Estimator { return NewUnivariate(c) }, [][3]float64{{.5, 0, 1}, {.5, 1e6, 1e-3}}, estimate.Facts{}},
		{func(c Constants) estimate.Estimator { return NewGeneral(c) }, [][3]float64{{.5, -3, 1}, {.5, 3, .8}}, knowing(4, .7, 1.5)},
	} {
		truth := line(t, x.parts...)
		rows := estimatetest.Draw(t, truth, 5000, rng)
		c := Practical()
		c.Refinements = 1
		for _, eps := range []float64{10, 1e3, 1e6} {
			var tvs []float64
			for seed := range fits {
				f := trial{rows: rows, d: 1, k: 2, eps: eps, facts: x.facts, noise: kerneltest.Options{Seed: seed}}.fit(t, x.e(c))
				tvs = append(tvs, distance(t, truth, f))
			}
			if slices.Sort(tvs); tvs[fits/2] > .05 {
				t.Errorf("%s, epsilon %v: total variations %.3f", x.e(c).Name(), eps, tvs)
			}
		}
	}
}

// More rows are never refused: what is accepted at some n is accepted at any larger one.
func TestMoreRowsAreNeverRefused(t *testing.T) {
	for _, eps := range []float64{1, 20} {
		for k := 1; k <= 3; k++ {
			for _, e := range []estimate.Estimator{NewUnivariate(Practical()), NewGeneral(Practical())} {
				accepted := false
				for n := 100; n <= 1_000_000_000; n *= 10 {
					p := estimate.Problem{Columns: 1, Rows: n, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(eps, delta), Components: k, Facts: knowing(4, .7, 1.5)}
					_, err := e.Plan(p)
					if accepted && err != nil {
						t.Errorf("%s, k %d, epsilon %v: %d rows refused: %v", e.Name(), k, eps, n, err)
					}
					accepted = accepted || err == nil
				}
				if !accepted {
					t.Errorf("%s, k %d, epsilon %v: refused at all n", e.Name(), k, eps)
				}
			}
		}
	}
}

// The printed constants are refused with the number of mixtures that they list, and of rows that
// the choice among those takes.
func TestPrintedIsRefused(t *testing.T) {
	for _, e := range []estimate.Estimator{NewUnivariate(Practical()).Printed(), NewGeneral(Practical()).Printed()} {
		f := trial{rows: make([][]float64, 3000), d: 1, k: 1, eps: 1e4, facts: knowing(4, .7, 1.5)}
		// (G/zeta)^2 = (2.7e10/.015)^2 = M for one Gaussian, G = n^3; 8 ln(M^2/.1)/.15^2 = 41,000
		if _, err := e.Plan(f.problem()); err == nil || !strings.Contains(err.Error(), "1.8e+12^2 mixtures") || !strings.Contains(err.Error(), "41,000 rows") {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
}
