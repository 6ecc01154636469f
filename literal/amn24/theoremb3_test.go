package amn24

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/literal/paper"
)

// Rows of N(0, I) are stable: for all weights b in [0, 1] of a mean of at least 1-eta and all unit
// v, the mean of b <v, x> is at most 3 eta sqrt(ln(1/eta)), and that of b <v, x>^2 within 3 eta
// ln(1/eta) of 1; the worst weights, 0 on the largest or the least, reach .8 of it without the 3.
// At 20,000 rows the bounds are 6 standard errors away.
//
// Shows: [AMN24] Lemma H.6.
func TestLemmaH6(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const n = 20000
	for d := 1; d <= 2; d++ {
		x := drawn(rng, unitPair(d), n)
		for _, eta := range []float64{.08, .02} {
			out := int(eta * n)
			var first, second float64
			for _, v := range directions(d, tested) {
				y := along(x, v)
				slices.Sort(y)
				part := float64(n-out) / n
				first = math.Max(first, math.Max(mean(y[out:]), -mean(y[:n-out]))*part)
				for i := range y {
					y[i] *= y[i]
				}
				slices.Sort(y)
				second = math.Max(second, math.Max(mean(y)-1, 1-mean(y[:n-out])*part))
			}
			squares, means := off(eta)
			t.Logf("d %d, eta %v: %.2f and %.2f", d, eta, first/means, second/squares)
			if first > rate*means || first < .8*means || second > rate*squares || second < .8*squares {
				t.Errorf("d %d, eta %v: %v and %v, want .8 to %d times %v and %v", d, eta, first, second, rate, means, squares)
			}
		}
	}
}

// The mean of Lemma H.7 is within 3 eta sqrt(ln(1/eta)) sd of the truth in one column, whichever
// part eta of 8000 rows was replaced, where sample means are not; the bound is 5 standard errors
// beyond the worst of these. In two columns, on 12 rows of which one is replaced: along all
// directions it is off by what the clean rows' stability allows, without chance.
//
// Shows: [AMN24] Lemma H.7.
func TestLemmaH7(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, eta := range []float64{.08, .03} {
		const n = 8000
		p, _ := randomPair(rng, 1)
		_, means := off(eta)
		broken := false
		for i, x := range corrupted(rng, p, drawn(rng, p, n), int(eta*n)) {
			v := math.Abs(enumerated{Eta: eta}.centre(x)[0]-p.Mean[0]) / p.L.At(0, 0)
			m, _ := moments(x)
			broken = broken || math.Abs(m[0]-p.Mean[0])/p.L.At(0, 0) > rate*means
			t.Logf("eta %v, case %d: off by %.2f eta sqrt(ln(1/eta))", eta, i, v/means)
			if v > rate*means {
				t.Errorf("eta %v, case %d: off by %v sd", eta, i, v)
			}
		}
		if !broken {
			t.Errorf("eta %v: the sample mean is as good", eta)
		}
	}
	for range 20 {
		e := enumerated{Eta: 1. / 12}
		p, _ := randomPair(rng, 2)
		clean := drawn(rng, p, 12)
		for _, x := range corrupted(rng, p, clean, 1) {
			meanWithin(t, e, p.Mean, e.centre(x), clean)
		}
	}
}

// meanWithin is the guarantee of Lemma H.7 on one table. Of the n-r rows kept a part p = r/(n-r) at
// most is not clean; their covariance is at most that of the clean rows that were not replaced, so
// at most most, and along v the two parts' means are so near that p (1-p) D^2 <= most - (1-p)
// least, least being the variance of the clean ones of which 2r are left out.
func meanWithin(t *testing.T, e enumerated, truth, got []float64, clean [][]float64) {
	t.Helper()
	n, r := len(clean), e.aside(len(clean))
	most := 0.
	eachKept(n, r, func(keep []bool) {
		var kept [][]float64
		for i, k := range keep {
			if k {
				kept = append(kept, clean[i])
			}
		}
		_, s := moments(kept)
		values := eigenvalues(t, s)
		most = math.Max(most, values[len(values)-1])
	})
	part := float64(r) / float64(n-r)
	for _, v := range directions(len(truth), 2*tested) {
		centre := along([][]float64{truth}, v)[0]
		y := along(clean, v)
		slices.Sort(y)
		shift := math.Max(mean(y[2*r:])-centre, centre-mean(y[:n-2*r]))
		least := math.Inf(1)
		for i := range 2*r + 1 {
			kept := y[i : n-2*r+i]
			m, square := mean(kept), 0.
			for _, a := range kept {
				square += (a - m) * (a - m) / float64(len(kept))
			}
			least = math.Min(least, square)
		}
		bound := shift + math.Sqrt(part/(1-part)*math.Max(0, most-(1-part)*least))
		if off := math.Abs(along([][]float64{got}, v)[0] - centre); off > bound+1e-9 {
			t.Errorf("off by %v along %v, the bound is %v", off, v, bound)
		}
	}
}

// From 8000 rows of one column of which a part eta was replaced after all were seen, the estimator
// says the mean and covariance: within 6 eta ln(1/eta) of the truth in spectral and Frobenius norm,
// 2 eta of the pairs being arbitrary, and within 3 eta sqrt(ln(1/eta)) in mean; the worst case is 6
// standard errors away. From 8 rows of one column, each replaced by each of 21 points, and from 24
// rows of two columns of which one was replaced: within what their own stability allows, without
// chance.
//
// Shows: [AMN24] Theorem B.3.
func TestTheoremB3(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, eta := range []float64{.05, .03} {
		const n = 8000
		squares, means := off(eta)
		tol := tolerance{2 * rate * squares, 2 * rate * squares, rate * means}
		truth := paper.Line(1e3*rng.NormFloat64(), math.Exp(8*rng.NormFloat64()))
		x := drawn(rng, truth, n)
		naive := 0
		for i, y := range corrupted(rng, truth, x, int(eta*n)) {
			got, _ := enumerated{Eta: eta}.estimate(y)
			off, values, _ := relate(got, truth)
			t.Logf("eta %v, case %d: mean off by %.2f, variance by %.2f of the bounds", eta, i, off/tol.Tau, math.Abs(values[0]-1)/tol.Gamma)
			if !tol.close(got, truth) {
				t.Errorf("eta %v, case %d: %v and %v, want %v and %v", eta, i, got.Mean, got.L.At(0, 0), truth.Mean, truth.L.At(0, 0))
			}
			if m, s := moments(y); !tol.close(paper.NewGaussian(m, s), truth) {
				naive++
			}
		}
		if naive < 2 {
			t.Errorf("eta %v: sample moments fail in %d of 6 cases only", eta, naive)
		}
	}
	for range 10 { // all tables with one row replaced by a lattice point, or none
		e, truth := enumerated{Eta: 1. / 8}, paper.Line(rng.NormFloat64(), math.Exp(rng.NormFloat64()))
		clean := drawn(rng, truth, 8)
		estimateWithin(t, e, truth, clean, clean)
		for i := range clean {
			for z := -10.; z <= 10; z++ {
				x := slices.Clone(clean)
				x[i] = []float64{truth.Mean[0] + z*truth.L.At(0, 0)}
				estimateWithin(t, e, truth, clean, x)
			}
		}
	}
	for trial := range 4 {
		e := enumerated{Eta: 1. / 24, Rank: 1 + trial%2}
		truth, _ := randomPair(rng, 2)
		clean := drawn(rng, truth, 24)
		for i := range 4 {
			x := slices.Clone(clean)
			if i > 0 {
				far := math.Pow(10, float64(3*i-4))
				x[rng.IntN(24)] = []float64{truth.Mean[0] + far*rng.NormFloat64(), truth.Mean[1] + far*rng.NormFloat64()}
			}
			estimateWithin(t, e, truth, clean, x)
		}
	}
}

// estimateWithin is the guarantee of Theorem B.3 on one table x, which is clean but for a part eta
// of the rows, in place: what Lemmas H.5 and H.7 say of the pairs and of the rows in units of the
// covariance that was found.
func estimateWithin(t *testing.T, e enumerated, truth pair, clean, x [][]float64) {
	t.Helper()
	got, s := e.estimate(x)
	pairs, twice := rowPairs(x), enumerated{Eta: 2 * e.Eta, Rank: e.Rank}
	_, met := twice.frobenius(pairs, twice.spectral(pairs))
	covarianceWithin(t, twice, centred(truth), s, rowPairs(clean), met)
	units := paper.NewGaussian(make([]float64, len(truth.Mean)), s)
	at := whitened([][]float64{truth.Mean, got.Mean}, units)
	meanWithin(t, e, at[0], at[1], whitened(clean, units))
}
