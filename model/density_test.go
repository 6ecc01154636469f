package model_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

var shapes = []small{
	{K: 1, D: 1}, {K: 3, D: 1, Kind: estimate.Spherical}, {K: 2, D: 2, Condition: 100},
	{K: 5, D: 10, Condition: 1e4}, {K: 4, D: 6, Kind: estimate.Diagonal, Condition: 1e6},
	{K: 3, D: 4, Kind: estimate.Spherical}, {K: 2, D: 70, Condition: 10}, {K: 2, D: 70, Kind: estimate.Diagonal},
}

// distmv.Normal is the second, independent implementation.
func TestLogDensityAgreesWithReference(t *testing.T) {
	rng := seeded(1)
	for _, o := range shapes {
		m := drawn(t, rng, o)
		s := scorer(t, m)
		row, want := make([]float64, o.D), make([]float64, o.K)
		sampler, err := model.NewSampler(m)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			sampler.Row(row, rng)
			for i, g := range m.Components {
				ref, ok := distmv.NewNormal(g.Mean, g.Cov.Dense(), nil)
				if !ok {
					t.Fatal("reference refuses the covariance")
				}
				want[i] = math.Log(m.Weights[i]) + ref.LogProb(row)
			}
			total := floats.LogSumExp(want)
			near(t, "LogDensity", s.LogDensity(row), total, 1e-8)
			near(t, "Mixture.LogDensity", m.LogDensity(row), total, 1e-8)
		}
	}
}

func TestDensityIntegratesToOne(t *testing.T) {
	rng := seeded(2)
	one := scorer(t, drawn(t, rng, small{K: 3, D: 1, Condition: 4}))
	near(t, "∫ p over R", integrate1(func(x float64) float64 { return math.Exp(one.LogDensity([]float64{x})) }, -15, 15, 3000), 1, 1e-9)
	two := scorer(t, drawn(t, rng, small{K: 2, D: 2, Condition: 4}))
	near(t, "∫ p over R²", integrate2(func(x, y float64) float64 { return math.Exp(two.LogDensity([]float64{x, y})) }, -15, 15, 300), 1, 1e-9)
}

func TestScorerDoesNotAllocate(t *testing.T) {
	rng := seeded(3)
	for _, o := range shapes {
		m := drawn(t, rng, o)
		s := scorer(t, m)
		sampler, _ := model.NewSampler(m)
		row := make([]float64, o.D)
		n := testing.AllocsPerRun(100, func() {
			sampler.Row(row, rng)
			s.LogDensity(row)
		})
		limit := 1.0
		if o.D > 64 {
			limit = 3 // pooled scratch: the race detector makes a pool forget now and then
		}
		if n >= limit {
			t.Errorf("%+v: %v allocations per row", o, n)
		}
	}
}

func TestUnitsDoNotMatter(t *testing.T) {
	rng := seeded(4)
	for _, o := range []small{{K: 3, D: 4, Condition: 1e4}, {K: 3, D: 4, Condition: 1e4, Rank: 2}, {K: 3, D: 4, Kind: estimate.Diagonal, Rank: 3}, {K: 1, D: 4, Rank: 2}} {
		m := drawn(t, rng, o)
		scale := []float64{1e-30, 1e30, -1, 1e-12}
		mapped, err := madeup.Affine(m, scale, make([]float64, 4))
		if err != nil {
			t.Fatal(err)
		}
		// Rebuilt from the matrices alone, so that the factor's help is not needed.
		rebuilt := *mapped
		rebuilt.Components = nil
		for _, g := range mapped.Components {
			c, err := model.NewFull(g.Cov.Dense())
			if err != nil {
				t.Fatal(err)
			}
			rebuilt.Components = append(rebuilt.Components, model.Gaussian{Mean: g.Mean, Cov: c})
		}
		s, sMapped, sRebuilt := scorer(t, m), scorer(t, mapped), scorer(t, &rebuilt)
		sampler, _ := model.NewSampler(m)
		row, row2 := make([]float64, 4), make([]float64, 4)
		var shift [2]float64
		for n := range 20 {
			sampler.Row(row, rng)
			floats.MulTo(row2, row, scale)
			a, b, c := s.LogDensity(row), sMapped.LogDensity(row2), sRebuilt.LogDensity(row2)
			if math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsInf(c, 0) {
				t.Fatalf("%+v: log-densities %v %v %v", o, a, b, c)
			}
			if n == 0 {
				shift = [2]float64{b - a, c - a}
				if o.Rank == 0 {
					near(t, "log-Jacobian", b-a, 12*math.Ln10, 1e-6)
				}
			}
			// elsewhere the widened directions see the rounding of rows
			if o.Rank == 0 || o.K == 1 {
				near(t, "mapped", b-a, shift[0], 1e-5)
				near(t, "rebuilt", c-a, shift[1], 1e-5)
			}
		}
	}
}

func TestConditionBeyondFloat64SurvivesInFactor(t *testing.T) {
	rng := seeded(5)
	q := madeup.Rotation(rng, 3)
	sd := []float64{1, 1e-4, 1e-8} // condition 1e16
	f := mat.DenseCopyOf(q)
	for i := range 3 {
		floats.Mul(f.RawRowView(i), sd)
	}
	c, err := model.FullFromFactor(f)
	if err != nil {
		t.Fatal(err)
	}
	s := scorer(t, mixture(t, nil, model.Gaussian{Mean: make([]float64, 3), Cov: c}))
	row := make([]float64, 3)
	for range 20 {
		want := -1.5*math.Log(2*math.Pi) - math.Log(1e-12)
		clear(row)
		for j, v := range sd {
			z := rng.NormFloat64()
			want -= z * z / 2
			for i := range row {
				row[i] += q.At(i, j) * v * z
			}
		}
		// The row's own rounding is 1e-16/1e-8 in units of the smallest sd.
		near(t, "LogDensity", s.LogDensity(row), want, 1e-6)
	}
}

func TestFarAndNonFiniteRows(t *testing.T) {
	s := scorer(t, mixture(t, []float64{0.25, 0.75}, normal(t, 0, 1), normal(t, 1, 2)))
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e200, -math.MaxFloat64} {
		if v := s.LogDensity([]float64{x}); !math.IsInf(v, -1) {
			t.Errorf("LogDensity(%v) = %v, want -Inf", x, v)
		}
	}
	near(t, "LogDensity far out", s.LogDensity([]float64{1e100}), -1e200/8, 1e-12)
}

func BenchmarkScorerLogDensity(b *testing.B) {
	rng := seeded(6)
	m := drawn(b, rng, small{K: 5, D: 10, Condition: 100})
	s := scorer(b, m)
	rows := mat.NewDense(1000, 10, nil)
	if err := m.Sample(rows, rng); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.LogDensity(rows.RawRowView(i % 1000))
		i++
	}
}

func BenchmarkNewScorer(b *testing.B) {
	m := drawn(b, seeded(7), small{K: 5, D: 10, Condition: 100})
	for b.Loop() {
		scorer(b, m)
	}
}
