package general

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/fit1d"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// TestSpikesAreFound: a value that 45 % of the rows share, in the middle of the others, has
// components of its own in every fit: one histogram sees it with 11 sds of its noise. Rounds alone
// miss it in most fits.
func TestSpikesAreFound(t *testing.T) {
	rng := newRand(t)
	const n, share = 8000, .45
	rows := make([][]float64, n)
	for i := range rows {
		x := make([]float64, 6)
		for j := range x {
			if x[j] = rng.NormFloat64(); j > 0 {
				x[j] += x[j-1] / 2
			}
		}
		if x[0] = 43 + 12*x[0]; rng.Float64() < share {
			x[0] = 40
		}
		rows[i] = x
	}
	for _, rel := range relations {
		for range 3 {
			f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 6, Relation: rel, Mu: muOne, MaxComponents: 10, Noise: kerneltest.Options{Fresh: true}})
			if f.Model == nil {
				t.Fatalf("%v: %+v", rel, f.Outcome)
			}
			at := 0.0
			for j, g := range f.Model.Components {
				if math.Abs(g.Mean[0]-40) < .1 && math.Sqrt(g.Cov.At(0, 0)) < .1 {
					at += f.Model.Weights[j]
				}
			}
			if math.Abs(at-share) > .1 {
				t.Errorf("%v: a share %.3f of the rows is at the value, want %v", rel, at, share)
			}
		}
	}
}

// TestSplitAtoms: two components of which one has an atom: what becomes of both has the weight, and
// the mean, of what they were, and the atom's rows are as it says. Nothing is split where the
// components say as much of the atom as is known, or k was asked for.
func TestSplitAtoms(t *testing.T) {
	start := func() *privateem.Rounds {
		one := component.Gaussian{Weight: .7, Mean: []float64{0, 1}, Cov: symmetric.Of(2, func(i, j int) float64 { return [][]float64{{1, .5}, {.5, 2}}[i][j] })}
		return &privateem.Rounds{Space: component.Flat(2), Grid: make([]float64, 2), Components: []component.Gaussian{one,
			{Weight: .3, Mean: []float64{9, -1}, Cov: symmetric.Identity(2)}}}
	}
	mean := func(cs []component.Gaussian) (weight, first float64) {
		for _, c := range cs {
			weight, first = weight+c.Weight, first+c.Weight*c.Mean[0]
		}
		return weight, first
	}
	f := &fit{Run: program.Run{Columns: &program.Columns{Atoms: [][]program.Atom{{{Value: .5, Share: .4, Noise: .05}}, nil}, Grids: make([]fit1d.Grid, 2)}}}
	r := start()
	f.splitAtoms(r)
	weight, first := mean(r.Components)
	if want, at := mean(start().Components); len(r.Components) != 3 || math.Abs(weight-want) > 1e-12 || math.Abs(first-at) > 1e-9 {
		t.Fatalf("%d components of weight %v and mean %v, want 3 of %v and %v", len(r.Components), weight, first, want, at)
	}
	if a := r.Components[1]; math.Abs(a.Weight-.3) > 1e-9 || a.Mean[0] != .5 || a.Cov.At(0, 0) > 1e-7 || a.Cov.At(0, 1) != 0 || a.Cov.At(1, 1) != 2 || r.Grid[0] != a.Cov.At(0, 0) {
		t.Errorf("the atom is %+v", a)
	}
	var factor mat.Cholesky
	for _, c := range r.Components {
		if !factor.Factorize(c.Cov) {
			t.Errorf("no covariance: %v", mat.Formatted(c.Cov))
		}
	}
	if f.splitAtoms(r); len(r.Components) != 3 {
		t.Error("an atom was split twice")
	}
	for name, c := range map[string]struct {
		atoms []program.Atom
		unit  float64
		asked int
	}{
		"asked for":            {[]program.Atom{{Value: .5, Share: .4}}, 0, 2},
		"a number of a grid":   {[]program.Atom{{Value: 0, Share: .27}}, 1, 0},
		"numbers among others": {[]program.Atom{{Value: 0, Share: .2}, {Value: .25, Share: .19}}, 0, 0},
		"too few":              {[]program.Atom{{Value: 0, Share: .09}}, 0, 0},
		"as good as noise":     {[]program.Atom{{Value: 0, Share: .2, Noise: .1}}, 0, 0},
	} {
		f.Problem.Components = c.asked
		f.Atoms, f.Grids = [][]program.Atom{c.atoms, nil}, []fit1d.Grid{{Unit: c.unit}, {}}
		r := start()
		r.Grid[0] = c.unit * c.unit / 12
		if f.splitAtoms(r); len(r.Components) != 2 {
			t.Errorf("%s: %d components", name, len(r.Components))
		}
	}
}
