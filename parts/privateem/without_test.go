package privateem

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// TestPrunePath: what noise has laid over three clusters is left out first, and they are then as
// they would be without it; joined with one of them it made that one wide. Of two pieces of one
// Gaussian, of which nothing else takes rows, one is made.
func TestPrunePath(t *testing.T) {
	random := func(draws, components int) Random { return rand.New(rand.NewPCG(uint64(draws), uint64(components))) }
	at := func(weight, mean, variance float64) component.Gaussian {
		return component.Gaussian{Weight: weight, Mean: []float64{mean, 0}, Cov: symmetric.Diagonal([]float64{variance, 1}), Rows: 12000 * weight, CountSD: 10, Uncertainty: component.StartUncertainty()}
	}
	for _, c := range []struct {
		name       string
		components []component.Gaussian
		want       []component.Gaussian
	}{
		{"a wide one over three", []component.Gaussian{at(.31, -5, 1), at(.07, 0, 20), at(.31, 0, 1), at(.31, 5, 1)}, []component.Gaussian{at(.33, -5, 1.3), at(.33, 0, 1), at(.33, 5, 1.3)}},
		{"two pieces", []component.Gaussian{at(.2, -.4, .84), at(.3, 8, 1), at(.2, .4, .84), at(.3, -8, 1)}, []component.Gaussian{at(.4, 0, 1), at(.3, 8, 1), at(.3, -8, 1)}},
	} {
		r := &Rounds{Space: component.Flat(2), Form: query.FullForm, Components: c.components, Rows: 12000, Factor: math.Sqrt2}
		path, err := r.PrunePath(context.Background(), random, .05)
		if err != nil || len(path) < 2 || len(path[1]) != 3 || len(r.Components) != 4 {
			t.Fatalf("%s: %v, %v", c.name, path, err)
		}
		for _, want := range c.want {
			is := false
			for _, g := range path[1] {
				ratio := g.Cov.At(0, 0) / want.Cov.At(0, 0)
				is = is || math.Abs(g.Weight-want.Weight) < .03 && math.Abs(g.Mean[0]-want.Mean[0]) < .2 && ratio > .75 && ratio < 1.35
			}
			if !is {
				t.Errorf("%s: no component like %.2f of the rows at %v, variance %v, in %+v", c.name, want.Weight, want.Mean, want.Cov.At(0, 0), path[1])
			}
		}
	}
}

// TestFlat: two components at the floor are flat if they lie far apart in that direction, and not
// if it is another one, as in a table with dependent columns, or if one of them is wide.
func TestFlat(t *testing.T) {
	at := func(x, y, vx, vy float64) component.Gaussian {
		return component.Gaussian{Weight: .5, Mean: []float64{x, y}, Cov: symmetric.Diagonal([]float64{vx, vy})}
	}
	for _, c := range []struct {
		a, b component.Gaussian
		want bool
	}{
		{at(0, 0, 1, 2e-8), at(0, 1, 1, 1e-8), true},
		{at(0, 0, 1, 2e-8), at(1, 1e-3, 1, 1e-8), false},
		{at(0, 0, 1, 2e-8), at(0, 1, 1, 1e-2), false},
		{at(0, 0, 1, 1), at(0, 9, 1, 1), false},
	} {
		r := &Rounds{Space: component.Flat(2), Floor: 1e-8, Components: []component.Gaussian{c.a, c.b}}
		if got := r.Flat(); got != c.want {
			t.Errorf("%v and %v: flat %v, want %v", c.a.Mean, c.b.Mean, got, c.want)
		}
	}
}
