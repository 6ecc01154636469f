package paper

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// FromFactor's inverse and volume are right, and moves contain the Gaussian itself once and nothing
// far from it.
func TestMoves(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for d := 1; d <= 3; d++ {
		mean, l := make([]float64, d), mat.NewDense(d, d, nil)
		for i := range d {
			mean[i] = rng.NormFloat64()
			for j := range i {
				l.Set(i, j, rng.NormFloat64())
			}
			l.Set(i, i, math.Exp(rng.NormFloat64()))
		}
		g := FromFactor(mean, l)
		var unit mat.Dense
		unit.Mul(g.L, g.Inverse)
		for i := range d {
			unit.Set(i, i, unit.At(i, i)-1)
		}
		if mat.Norm(&unit, 2) > 1e-9 || math.Abs(g.LogVolume-math.Log(mat.Det(l))) > 1e-9 {
			t.Errorf("d %d: L L^-1 - I = %v", d, unit)
		}
		for name, m := range map[string]struct {
			move    Move
			numbers int
		}{"means": {Means, d}, "scales": {Scales, d}, "covariances": {Covariances, d * (d + 1) / 2}} {
			const h, steps = .1, 2
			moved, same := m.move(g, h, steps), 0
			for _, near := range moved {
				distance := model.GaussianHellinger(near.model(t), g.model(t))
				if distance < 1e-9 {
					same++
				}
				if distance > h*steps*float64(d) {
					t.Fatalf("%s: %v is far from %v", name, near.L, g.L)
				}
			}
			if float64(len(moved)) != CountMoved(m.numbers, steps) || same != 1 {
				t.Errorf("%s in %d columns: %d Gaussians, %d of them the same", name, d, len(moved), same)
			}
		}
	}
	for _, w := range reweighted([]float64{.7, .3, 0}, .5) {
		if math.Abs(w[0]+w[1]+w[2]-1) > 1e-12 || min(w[0], w[1], w[2]) < 0 {
			t.Errorf("weights %v", w)
		}
	}
}

// Around lists every neighbour with all weights, by one step where two are too many, and ends where
// one is.
func TestAround(t *testing.T) {
	two := []Gaussian{Line(0, 1), Line(9, 2)}
	for _, c := range []struct {
		reweigh    bool
		most, want int
	}{{false, 25, 25}, {false, 24, 9}, {true, 100, 75}, {true, 1, 27}} {
		l, err := Around(two, []float64{.5, .5}, Means, .1, c.reweigh, c.most)
		if err != nil || l.Len() != c.want {
			t.Errorf("%+v: %d mixtures, %v", c, l.Len(), err)
		}
	}
	var many []Gaussian
	var weights []float64
	for i := range 12 {
		many, weights = append(many, Line(float64(i), 1)), append(weights, 1./12)
	}
	if _, err := Around(many, weights, Means, .1, false, MostListed); !errors.Is(err, ErrTooMany) {
		t.Errorf("3^12 mixtures: %v", err)
	}
}
