package model_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/model"
)

// numeric are the distances by integration of the densities, for models of one or two columns.
func numeric(t *testing.T, a, b *model.Mixture) (tv, hellinger, kl float64) {
	t.Helper()
	sa, sb := scorer(t, a), scorer(t, b)
	over := func(f func(logP, logQ float64) float64) float64 {
		g := func(row ...float64) float64 { return f(sa.LogDensity(row), sb.LogDensity(row)) }
		if a.Dim() == 1 {
			return integrate1(func(x float64) float64 { return g(x) }, -14, 14, 20000)
		}
		return integrate2(func(x, y float64) float64 { return g(x, y) }, -14, 14, 400)
	}
	tv = over(func(p, q float64) float64 { return math.Abs(math.Exp(p)-math.Exp(q)) / 2 })
	hellinger = math.Sqrt(1 - over(func(p, q float64) float64 { return math.Exp((p + q) / 2) }))
	kl = over(func(p, q float64) float64 { return math.Exp(p) * (p - q) })
	return tv, hellinger, kl
}

func TestClosedFormsAgainstIntegration(t *testing.T) {
	rng := seeded(12)
	for n := range 8 {
		o := small{D: 1 + n%2, Condition: 4, Kind: estimate.CovarianceType(n % 3)}
		a, b := drawn(t, rng, o), drawn(t, rng, o)
		_, h, kl := numeric(t, a, b)
		near(t, "GaussianHellinger", model.GaussianHellinger(a.Components[0], b.Components[0]), h, 1e-7)
		near(t, "GaussianKL", model.GaussianKL(a.Components[0], b.Components[0]), kl, 1e-7)
	}
}

// Each estimate lies within 6.5 standard errors of the integral; with some 40 looks and
// near-Gaussian means of bounded terms the false-alarm rate is below 1e-8. 1e-4 covers the
// integration.
func TestMonteCarloAgainstIntegration(t *testing.T) {
	rng := seeded(13)
	for n := range 10 {
		o := small{K: 1 + n%3, D: 1 + n%2, Condition: 4}
		a, b := drawn(t, rng, o), drawn(t, rng, o)
		tv, h, kl := numeric(t, a, b)
		for i, f := range []func(a, b *model.Mixture) (model.Estimate, error){
			func(a, b *model.Mixture) (model.Estimate, error) { return model.TotalVariation(a, b, 20000, rng) },
			func(a, b *model.Mixture) (model.Estimate, error) { return model.Hellinger(a, b, 20000, rng) },
			func(a, b *model.Mixture) (model.Estimate, error) { return model.KL(a, b, 20000, rng) },
		} {
			e, err := f(a, b)
			if err != nil {
				t.Fatal(err)
			}
			want := []float64{tv, h, kl}[i]
			if math.Abs(e.Value-want) > 6.5*e.StdErr+1e-4 {
				t.Errorf("distance %d: %v ± %v, want %v", i, e.Value, e.StdErr, want)
			}
			if e.StdErr > 0.1*math.Max(0.1, want) {
				t.Errorf("distance %d: standard error %v is large for %v", i, e.StdErr, want)
			}
		}
	}
}

// The reported standard error must be the real one: over 400 repetitions the z-scores' mean square
// is 1 +- 0.07; a tolerance of 0.5 is 7 standard errors.
func TestTotalVariationStdErrIsHonest(t *testing.T) {
	rng := seeded(14)
	a, b := mixture(t, nil, normal(t, 0, 1)), mixture(t, nil, normal(t, 1, 1))
	want := 2*distuv.UnitNormal.CDF(0.5) - 1
	squares := 0.0
	for range 400 {
		e, err := model.TotalVariation(a, b, 400, rng)
		if err != nil {
			t.Fatal(err)
		}
		squares += (e.Value - want) * (e.Value - want) / e.StdErr / e.StdErr / 400
	}
	near(t, "mean squared z-score", squares, 1, 0.5)
}

// Near-identical mixtures: every term of the KL estimate is >= 0 and of second order, so that even
// a KL of 1e-7 has a relative standard error of a few percent, where averaging log(a/b) itself
// would have thousands.
func TestKLOfCloseMixturesIsSharp(t *testing.T) {
	rng := seeded(22)
	for _, shift := range []float64{3e-4, 3e-2} {
		a := mixture(t, []float64{0.4, 0.6}, normal(t, 0, 1), normal(t, 4, 1))
		b, err := madeup.Affine(a, []float64{1}, []float64{shift})
		if err != nil {
			t.Fatal(err)
		}
		e, err := model.KL(a, b, 4000, rng)
		if err != nil || !(e.Value > 0 && e.StdErr < 0.1*e.Value && e.Value < shift*shift/2) {
			t.Errorf("shift %v: KL %+v, error %v", shift, e, err)
		}
	}
}

func TestKnownDistances(t *testing.T) {
	a := model.Gaussian{Mean: []float64{1, 2}, Cov: full(t, 2, 2, 1, 1, 2)}
	b := model.Gaussian{Mean: []float64{0, 2}, Cov: full(t, 2, 1, 0, 0, 4)}
	near(t, "MeanDistance", model.MeanDistance(a, b), 1, 1e-14)
	// Sigma_b^-1/2 Sigma_a Sigma_b^-1/2 = [[2, 1/2], [1/2, 1/2]].
	near(t, "CovarianceDistance", model.CovarianceDistance(a.Cov, b.Cov), math.Sqrt(1+0.25+0.25+0.25), 1e-14)
	near(t, "KL", model.GaussianKL(a, b), (2.5-2-math.Log(3.0/4)+1)/2, 1e-14)
	n0, n1 := normal(t, 0, 1), normal(t, 3, 2)
	near(t, "KL in 1 d", model.GaussianKL(n0, n1), math.Log(2)+(1+9)/8.0-0.5, 1e-14)
	near(t, "Hellinger in 1 d", model.GaussianHellinger(n0, n1), math.Sqrt(1-math.Sqrt(4.0/5)*math.Exp(-9.0/20)), 1e-14)
	near(t, "component distance", model.ComponentDistance(0.5, n0, 0.4, n1), 3, 1e-14)
	near(t, "component distance to itself", model.ComponentDistance(0.5, a, 0.5, a), 0, 1e-14)
}

func TestDistancesOfDegenerateGaussians(t *testing.T) {
	inf := math.Inf(1)
	line := func(mean, cov float64) model.Gaussian {
		return model.Gaussian{Mean: []float64{mean, mean}, Cov: full(t, 2, cov, cov, cov, cov)}
	}
	atom := func(x float64) model.Gaussian { return model.Gaussian{Mean: []float64{x, x}, Cov: diagonal(t, 0, 0)} }
	off := model.Gaussian{Mean: []float64{0, 1}, Cov: line(0, 1).Cov}
	plane := model.Gaussian{Mean: []float64{0, 0}, Cov: diagonal(t, 1, 1)}
	for _, c := range []struct {
		name               string
		a, b               model.Gaussian
		mean, cov, kl, hel float64
	}{
		{"lines", line(1, 2), line(0, 1), 1, 1, (2 - 1 - math.Log(2) + 1) / 2, model.GaussianHellinger(normal(t, 1, math.Sqrt2), normal(t, 0, 1))},
		{"the same line", line(1, 2), line(1, 2), 0, 0, 0, 0},
		{"parallel lines", off, line(0, 1), inf, 0, inf, 1},
		{"line in plane", line(0, 0.5), plane, 0, 1, inf, 1},
		{"plane against line", plane, line(0, 0.5), 0, inf, inf, 1},
		{"the same atom", atom(3), atom(3), 0, 0, 0, 0},
		{"two atoms", atom(3), atom(4), inf, 0, inf, 1},
	} {
		near(t, c.name+": mean", model.MeanDistance(c.a, c.b), c.mean, 1e-12)
		near(t, c.name+": covariance", model.CovarianceDistance(c.a.Cov, c.b.Cov), c.cov, 1e-12)
		near(t, c.name+": KL", model.GaussianKL(c.a, c.b), c.kl, 1e-12)
		near(t, c.name+": Hellinger", model.GaussianHellinger(c.a, c.b), c.hel, 1e-7)
	}
	// a and b: an atom of weight 0.3 and 0.5 beside the same Gaussian: TV is exactly 0.2.
	rng := seeded(15)
	a := mixture(t, []float64{0.3, 0.7}, normal(t, 1, 0), normal(t, 0, 1))
	b := mixture(t, []float64{0.5, 0.5}, normal(t, 1, 0), normal(t, 0, 1))
	e, err := model.TotalVariation(a, b, 20000, rng)
	if err != nil || math.Abs(e.Value-0.2) > 6.5*e.StdErr+1e-6 {
		t.Errorf("TV %v (%v), want 0.2", e, err)
	}
	only := mixture(t, nil, normal(t, 0, 1))
	if e, _ := model.KL(a, only, 100, rng); !math.IsInf(e.Value, 1) {
		t.Errorf("KL of an atom against a density = %v, want +Inf", e)
	}
	if e, _ := model.KL(only, a, 10000, rng); math.Abs(e.Value+math.Log(0.7)) > 6.5*e.StdErr+1e-6 {
		t.Errorf("KL = %v, want %v", e, -math.Log(0.7))
	}
}

// Affine-invariant distances do not change under an affine map, whatever its units.
func TestDistancesAreAffineInvariant(t *testing.T) {
	rng := seeded(16)
	for range 20 {
		o := small{D: 3, Condition: 100}
		a, b := drawn(t, rng, o), drawn(t, rng, o)
		scale, shift := []float64{1e-30, -1, 1e30}, []float64{1e-30, 3, 0}
		a2, _ := madeup.Affine(a, scale, shift)
		b2, _ := madeup.Affine(b, scale, shift)
		ga, gb, ha, hb := a.Components[0], b.Components[0], a2.Components[0], b2.Components[0]
		near(t, "mean", model.MeanDistance(ha, hb), model.MeanDistance(ga, gb), 1e-9)
		near(t, "covariance", model.CovarianceDistance(ha.Cov, hb.Cov), model.CovarianceDistance(ga.Cov, gb.Cov), 1e-9)
		near(t, "KL", model.GaussianKL(ha, hb), model.GaussianKL(ga, gb), 1e-9)
		near(t, "Hellinger", model.GaussianHellinger(ha, hb), model.GaussianHellinger(ga, gb), 1e-9)
	}
}

func TestCompare(t *testing.T) {
	rng := seeded(17)
	for _, o := range []small{{K: 4, D: 3, Condition: 10}, {K: 3, D: 3, Rank: 1}, {K: 1, D: 2}, {K: 1, D: 2, Rank: 1}} {
		a := drawn(t, rng, o)
		perm := rng.Perm(o.K)
		b := &model.Mixture{Columns: a.Columns}
		for _, i := range perm {
			b.Weights = append(b.Weights, a.Weights[i])
			b.Components = append(b.Components, a.Components[i])
		}
		c, err := model.Compare(t.Context(), a, b, 1000, rng)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range map[string]model.Distance{"tv": c.TV, "stderr": c.TVStdErr, "hellinger": c.Hellinger, "kl_ab": c.KLAB, "kl_ba": c.KLBA} {
			near(t, name+" of a model and itself, permuted", float64(v), 0, 1e-7)
		}
		for _, p := range c.Matching {
			if perm[p[1]] != p[0] {
				t.Errorf("%+v: component %d matched with %d", o, p[0], perm[p[1]])
			}
		}
	}
}

func TestComparisonJSON(t *testing.T) {
	rng := seeded(18)
	a := mixture(t, []float64{0.5, 0.5}, normal(t, 0, 0), normal(t, 9, 1))
	b := mixture(t, nil, normal(t, 0, 1))
	c, err := model.Compare(t.Context(), a, b, 1000, rng)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kl_ab":null`, `"matching":[[1,0]]`, `"components":[{"a":1,"b":0,"weight":0.5,"mean":9,"covariance":0}]`,
		`"unmatched_a":[0]`, `"unmatched_b":[]`, `"background_b":[]`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}

func TestCompareColumns(t *testing.T) {
	rng := seeded(19)
	a := mixture(t, nil, model.Gaussian{Mean: []float64{0, 5}, Cov: diagonal(t, 1, 2)})
	a.Columns = []string{"u", "v"}
	b := mixture(t, nil, model.Gaussian{Mean: []float64{5, 0}, Cov: diagonal(t, 2, 1)})
	b.Columns = []string{"v", "u"}
	if c, err := model.Compare(t.Context(), a, b, 100, rng); err != nil || c.TV > 1e-12 {
		t.Errorf("columns in another order: TV %v, error %v", c.TV, err)
	}
	f := mixture(t, nil, model.Gaussian{Mean: []float64{5, 0}, Cov: full(t, 2, 2, .5, .5, 1)})
	f.Columns = b.Columns
	g := mixture(t, nil, model.Gaussian{Mean: []float64{0, 5}, Cov: full(t, 2, 1, .5, .5, 2)})
	g.Columns = a.Columns
	if c, err := model.Compare(t.Context(), g, f, 100, rng); err != nil || c.TV > 1e-7 {
		t.Errorf("columns in another order: TV %v, error %v", c.TV, err)
	}
	b.Columns = model.DefaultColumns(2)
	if c, err := model.Compare(t.Context(), a, b, 100, rng); err != nil || c.TV < 0.1 {
		t.Errorf("default names count by place: TV %v, error %v", c.TV, err)
	}
	b.Columns = []string{"u", "w"}
	if _, err := model.Compare(t.Context(), a, b, 100, rng); err == nil || !strings.Contains(err.Error(), "columns") {
		t.Errorf("different columns: error %v", err)
	}
	if _, err := model.Compare(t.Context(), a, a, 3, rng); err == nil || !strings.Contains(err.Error(), "rows") {
		t.Errorf("3 rows: error %v", err)
	}
	if _, err := model.Compare(t.Context(), a, mixture(t, nil, normal(t, 0, 1)), 100, rng); err == nil {
		t.Error("models of different dimension were compared")
	}
}

// assignmentBrute tries every one-to-one assignment of the smaller side.
func assignmentBrute(cost [][]float64) (largest, sum float64) {
	n, m := len(cost), len(cost[0])
	largest, sum = math.Inf(1), math.Inf(1)
	used := make([]bool, m)
	var try func(i, left int, top, total float64)
	try = func(i, left int, top, total float64) {
		if i == n {
			if left == 0 && (top < largest || top == largest && total < sum) {
				largest, sum = top, total
			}
			return
		}
		if n-i > left {
			try(i+1, left, top, total)
		}
		for j := range m {
			if !used[j] && left > 0 {
				used[j] = true
				try(i+1, left-1, math.Max(top, cost[i][j]), total+cost[i][j])
				used[j] = false
			}
		}
	}
	try(0, min(n, m), 0, 0)
	return largest, sum
}

func TestBottleneckAssignmentAgainstBruteForce(t *testing.T) {
	rng := seeded(20)
	for range 2000 {
		n, m := 1+rng.IntN(5), 1+rng.IntN(5)
		cost := make([][]float64, n)
		for i := range cost {
			cost[i] = make([]float64, m)
			for j := range cost[i] {
				cost[i][j] = float64(rng.IntN(8)) // integers, so that ties are common
				if rng.IntN(2) == 0 {
					cost[i][j] += rng.Float64()
				}
			}
		}
		largest, sum := assignmentBrute(cost)
		got := model.BottleneckAssignment(cost)
		top, total, pairs, used := 0.0, 0.0, 0, map[int]bool{}
		for i, j := range got {
			if j >= 0 {
				top, total, pairs = math.Max(top, cost[i][j]), total+cost[i][j], pairs+1
				if used[j] {
					t.Fatalf("column %d used twice", j)
				}
				used[j] = true
			}
		}
		if pairs != min(n, m) || top != largest || math.Abs(total-sum) > 1e-12 {
			t.Fatalf("%v: assignment %v has largest %v, sum %v; want %v, %v", cost, got, top, total, largest, sum)
		}
	}
}

func TestMatchPairsDegenerateComponentsWithTheNearest(t *testing.T) {
	var gs, hs []model.Gaussian
	for i := range 6 {
		gs = append(gs, normal(t, float64(i), 0))
		hs = append(hs, normal(t, float64(5-i)+0.1, 0))
	}
	partner, largest := model.Match(mixture(t, nil, gs...), mixture(t, nil, hs...))
	for i, j := range partner {
		if j != 5-i {
			t.Errorf("component %d matched with %d", i, j)
		}
	}
	if !math.IsInf(largest, 1) {
		t.Errorf("largest distance %v, want +Inf", largest)
	}
}

func TestRandomModelsKeepTheirPromises(t *testing.T) {
	rng := seeded(21)
	m := drawn(t, rng, small{K: 6, D: 3, Separation: 5, Condition: 1e6})
	for i, g := range m.Components {
		var eig mat.EigenSym
		eig.Factorize(g.Cov.Dense(), false)
		v := eig.Values(nil)
		if v[0] < 1e-6*(1-1e-9) || v[2] > 1+1e-9 {
			t.Errorf("eigenvalues %v", v)
		}
		for _, h := range m.Components[:i] {
			d := 0.0
			for j := range g.Mean {
				d = math.Hypot(d, g.Mean[j]-h.Mean[j])
			}
			if d < 5 {
				t.Errorf("separation %v", d)
			}
		}
	}
}

// A comparison that would take minutes stops with its context: while it matches components, and
// while it draws rows.
func TestCompareStops(t *testing.T) {
	const d, k = 12, 300
	var many []model.Gaussian
	for i := range k {
		entries := make([]float64, d*d)
		for j := range d {
			entries[j*d+j] = 1 + float64(i+j)/k
		}
		many = append(many, model.Gaussian{Mean: make([]float64, d), Cov: full(t, d, entries...)})
	}
	large, small := mixture(t, nil, many...), mixture(t, nil, many[0])
	stattest.Stops(t, func(ctx context.Context) error {
		_, err := model.Compare(ctx, large, large, 4, seeded(1))
		return err
	})
	stattest.Stops(t, func(ctx context.Context) error {
		_, err := model.Compare(ctx, small, small, 1<<30, seeded(1))
		return err
	})
}
