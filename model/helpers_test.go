package model_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func full(t testing.TB, d int, entries ...float64) model.Full {
	t.Helper()
	c, err := model.NewFull(mat.NewDense(d, d, entries))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func diagonal(t testing.TB, variances ...float64) model.Diagonal {
	t.Helper()
	c, err := model.NewDiagonal(variances)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func factor(t testing.TB, d, m int, entries ...float64) model.Full {
	t.Helper()
	c, err := model.FullFromFactor(mat.NewDense(d, m, entries))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mixture(t testing.TB, weights []float64, components ...model.Gaussian) *model.Mixture {
	t.Helper()
	m, err := model.New(nil, weights, components)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func normal(t testing.TB, mean, sd float64) model.Gaussian {
	t.Helper()
	return model.Gaussian{Mean: []float64{mean}, Cov: diagonal(t, sd*sd)}
}

func scorer(t testing.TB, m *model.Mixture) *model.Scorer {
	t.Helper()
	s, err := model.NewScorer(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// near fails unless |got - want| <= tol * max(1, |want|).
func near(t testing.TB, what string, got, want, tol float64) {
	t.Helper()
	if got == want {
		return
	}
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %v, want %v (tolerance %g)", what, got, want, tol)
	}
}

// integrate1 is the midpoint rule on [low, high].
func integrate1(f func(x float64) float64, low, high float64, n int) float64 {
	h, sum := (high-low)/float64(n), 0.0
	for i := range n {
		sum += f(low + (float64(i)+0.5)*h)
	}
	return sum * h
}

// integrate2 is the midpoint rule on the square [low, high]^2.
func integrate2(f func(x, y float64) float64, low, high float64, n int) float64 {
	return integrate1(func(x float64) float64 {
		return integrate1(func(y float64) float64 { return f(x, y) }, low, high, n)
	}, low, high, n)
}
