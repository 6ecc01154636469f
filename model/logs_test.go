package model

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// incomes is a mixture of logarithms, and of another number.
func incomes(t *testing.T, most, unit float64) *Mixture {
	t.Helper()
	cov, err := NewFull(mat.NewSymDense(2, []float64{.3, .2, .2, 1}))
	if err != nil {
		t.Fatal(err)
	}
	wide, err := NewDiagonal([]float64{900, 9})
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(nil, []float64{.9, .1}, []Gaussian{{Mean: []float64{2, 0}, Cov: cov}, {Mean: []float64{2, 0}, Cov: wide}})
	if err != nil {
		t.Fatal(err)
	}
	m.Background = []bool{false, true}
	m.Cells = []Cell{{Least: 0, Most: most, Unit: unit, Log: dense.LogOf(0, most, unit)}, {Least: math.Inf(-1), Most: math.Inf(1)}}
	return m
}

// TestLogsDrawn: rows of a column of logarithms are values within its limits, on its grid, and no
// background reaches far beyond the groups.
func TestLogsDrawn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ most, unit, below float64 }{{math.Inf(1), 1, 200}, {math.Inf(1), 0, 200}, {50, 1, 50}, {50, .5, 50}} {
		m := incomes(t, c.most, c.unit)
		s, err := NewSampler(m)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, 2)
		for range 20000 {
			if s.Row(row, rng); !(row[0] >= 0 && row[0] <= c.below) || c.unit == 1 && row[0] != math.Trunc(row[0]) {
				t.Fatalf("most %v, unit %v: drew %v", c.most, c.unit, row[0])
			}
		}
	}
}

// TestLogsDensity: the density of values sums to one, is that of the logarithms times the map's
// slope, and is none beyond the limits.
func TestLogsDensity(t *testing.T) {
	m := incomes(t, 50, 0)
	s, err := NewScorer(m)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.
	const n, wide, tall = 500, 50., 24.
	for i := range n {
		for j := range n {
			x, y := wide*(float64(i)+.5)/n, tall*((float64(j)+.5)/n-.5)
			sum += math.Exp(s.LogDensity([]float64{x, y})) * wide / n * tall / n
		}
	}
	if math.Abs(sum-1) > .03 { // half a unit beyond the limits is left out
		t.Errorf("the density sums to %v", sum)
	}
	for _, x := range []float64{-1, 51, math.NaN(), math.Inf(1)} {
		if v := s.LogDensity([]float64{x, 0}); !math.IsInf(v, -1) {
			t.Errorf("%v has the density %v", x, v)
		}
	}
}

// TestLogsCompared: distances are those of the logarithms, and two maps of one column are refused.
func TestLogsCompared(t *testing.T) {
	a, b := incomes(t, math.Inf(1), 1), incomes(t, math.Inf(1), 1)
	b.Components[0].Mean = []float64{2.5, 0}
	plainA, plainB := *a, *b
	plainA.Cells, plainB.Cells = nil, nil
	of := func(a, b *Mixture) Comparison {
		c, err := Compare(context.Background(), a, b, 20000, rand.New(rand.NewPCG(3, 4)))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if got, want := float64(of(a, b).TV), float64(of(&plainA, &plainB).TV); math.Abs(got-want) > .03 {
		t.Errorf("TV %v, of logarithms without limits %v", got, want)
	}
	for _, other := range []*Mixture{incomes(t, 50, 1), &plainB} {
		if _, err := Compare(context.Background(), a, other, 100, rand.New(rand.NewPCG(3, 4))); err == nil {
			t.Error("two maps are compared")
		}
	}
}
