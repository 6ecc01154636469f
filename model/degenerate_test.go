package model_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

func TestPointMass(t *testing.T) {
	c, _ := model.NewSpherical(3, 0)
	g := model.Gaussian{Mean: []float64{1, 0, -5e9}, Cov: c}
	near(t, "log-density at the point", g.LogDensity([]float64{1, 0, -5e9}), 0, 0)
	near(t, "log-density within 1e-9", g.LogDensity([]float64{1 + 5e-10, 0, -5e9 - 1}), 0, 0)
	for _, row := range [][]float64{{1 + 1e-8, 0, -5e9}, {1, 1e-300, -5e9}, {1, 0, -5e9 - 100}} {
		if v := g.LogDensity(row); !math.IsInf(v, -1) {
			t.Errorf("log-density at %v = %v, want -Inf", row, v)
		}
	}
}

func TestConstantColumnIsLeftOut(t *testing.T) {
	for _, cov := range []model.Covariance{diagonal(t, 4, 0), full(t, 2, 4, 0, 0, 0), factor(t, 2, 1, 2, 0)} {
		g := model.Gaussian{Mean: []float64{1, 7}, Cov: cov}
		near(t, "log-density", g.LogDensity([]float64{2, 7}), normal(t, 1, 2).LogDensity([]float64{2}), 1e-12)
		if v := g.LogDensity([]float64{2, 7.001}); !math.IsInf(v, -1) {
			t.Errorf("off the support: %v", v)
		}
	}
}

func TestSharedDependentColumnIsLeftOut(t *testing.T) {
	// x3 = x1 + x2 + 10 in both components, from factors and from matrices, in mixed units.
	f := func(a, b, c float64) *mat.Dense { return mat.NewDense(3, 2, []float64{a, 0, b, c, a + b, c}) }
	scale := []float64{1e12, 1e-12, 1}
	for _, fromMatrix := range []bool{false, true} {
		var wide, narrow []model.Gaussian
		for i, fi := range []*mat.Dense{f(1, 0.5, 1), f(2, -1, 0.3)} {
			c, err := model.FullFromFactor(fi)
			if fromMatrix {
				c, err = model.NewFull(c.Dense())
			}
			if err != nil {
				t.Fatal(err)
			}
			mean := []float64{float64(i), 3 - float64(i), 13}
			wide = append(wide, model.Gaussian{Mean: mean, Cov: c})
			two := c.Dense().SliceSym(0, 2).(*mat.SymDense)
			narrow = append(narrow, model.Gaussian{Mean: mean[:2], Cov: full(t, 2, two.At(0, 0), two.At(0, 1), two.At(1, 0), two.At(1, 1))})
		}
		m, err := madeup.Affine(mixture(t, nil, wide...), scale, make([]float64, 3))
		if err != nil {
			t.Fatal(err)
		}
		s, ref := scorer(t, m), scorer(t, mixture(t, nil, narrow...))
		for _, x := range [][]float64{{0, 3}, {1, 1}, {-2, 5}} {
			row := []float64{x[0], x[1], x[0] + x[1] + 10}
			floats.Mul(row, scale)
			near(t, "log-density", s.LogDensity(row), ref.LogDensity(x), 1e-7)
			row[2] += 1e-4
			if v := s.LogDensity(row); !math.IsInf(v, -1) {
				t.Errorf("off the support: %v", v)
			}
		}
	}
}

func TestUnsharedDegenerateDirectionIsFinite(t *testing.T) {
	cases := map[string]*model.Mixture{
		"atom beside a Gaussian": mixture(t, []float64{0.5, 0.5}, normal(t, 0, 0), normal(t, 0, 1)),
		"two atoms":              mixture(t, []float64{0.5, 0.5}, normal(t, 0, 0), normal(t, 1, 0)),
		"two parallel lines": mixture(t, nil, model.Gaussian{Mean: []float64{0, 0}, Cov: diagonal(t, 1, 0)},
			model.Gaussian{Mean: []float64{0, 1}, Cov: diagonal(t, 1, 0)}),
		"crossing lines": mixture(t, nil, model.Gaussian{Mean: []float64{0, 0}, Cov: full(t, 2, 1, 1, 1, 1)},
			model.Gaussian{Mean: []float64{0, 0}, Cov: full(t, 2, 1, -1, -1, 1)}),
	}
	for name, m := range cases {
		s := scorer(t, m)
		sampler, _ := model.NewSampler(m)
		rng, row := seeded(8), make([]float64, m.Dim())
		for range 200 {
			sampler.Row(row, rng)
			v := s.LogDensity(row)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%s: log-density %v", name, v)
			}
		}
	}
	// The widened sd is 1e-9 of the model's spread in the column, here sqrt(1^2).
	got := scorer(t, cases["atom beside a Gaussian"]).LogDensity([]float64{0})
	near(t, "peak of the atom", got, math.Log(0.5)-0.5*math.Log(2*math.Pi)+9*math.Ln10, 1e-6)
}

func TestZeroWeightComponentDoesNotWidenTheSupport(t *testing.T) {
	m := mixture(t, []float64{1, 0}, normal(t, 3, 0), normal(t, 0, 1))
	s := scorer(t, m)
	near(t, "log-density", s.LogDensity([]float64{3}), 0, 0)
}

// Rows drawn from any degenerate mixture must lie on its support, whatever the rank, the units and
// the offset.
func TestSamplesLieOnSupport(t *testing.T) {
	rng := seeded(9)
	for range 200 {
		d := 1 + rng.IntN(6)
		o := small{K: 1 + rng.IntN(3), D: d, Rank: 1 + rng.IntN(d), Condition: 1e4, Kind: estimate.CovarianceType(rng.IntN(3))}
		m := drawn(t, rng, o)
		scale, shift := make([]float64, d), make([]float64, d)
		for j := range scale {
			scale[j] = math.Pow(10, 60*rng.Float64()-30)
			shift[j] = scale[j] * 1e6 * rng.NormFloat64()
			if rng.IntN(4) == 0 {
				scale[j] = 0
			}
		}
		m, err := madeup.Affine(m, scale, shift)
		if err != nil {
			t.Fatal(err)
		}
		s := scorer(t, m)
		sampler, _ := model.NewSampler(m)
		row := make([]float64, d)
		for range 20 {
			sampler.Row(row, rng)
			if v := s.LogDensity(row); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%+v: log-density %v of a sampled row", o, v)
			}
		}
	}
}
