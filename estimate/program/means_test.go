package program

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/parts/component"
)

// Components are moved to the measured means of all rows as far as noise allows, wide ones farther,
// and none by more than its own width.
func TestMeansMove(t *testing.T) {
	of := func(weight, mean, sd float64) component.Gaussian {
		return component.Gaussian{Weight: weight, Mean: []float64{mean, 0}, Cov: mat.NewSymDense(2, []float64{sd * sd, 0, 0, 1})}
	}
	narrow, wide := of(.5, -1, .5), of(.5, 1, 1.5)
	for _, c := range []struct {
		name        string
		mean, sd    float64 // measured, where the components' is 0
		own         float64 // noise of a component's mean, in its own sds
		least, most float64 // of the mean afterwards
	}{
		{"seen well", .1, .005, 0, .095, .1},
		{"noise alone", .1, .3, 0, 0, .01},
		{"as noise has it", .1, .05, 0, 0, 0},
		{"as noise has all of it", .1, .1, .1, .035, .05},
		{"as their noise has it", .1, .05, .2, .085, .095},
		{"as they are", 0, .005, 0, -1e-9, 1e-9},
		{"far off", 100, .005, 0, .9, 1.1}, // the mean of their sds
	} {
		m := &Means{center: make([]float64, 2), scale: []float64{1, 1}, mean: []float64{c.mean, 0}, radius: 200, sd: c.sd}
		narrow.MeanSD, wide.MeanSD = c.own, c.own
		moved := m.Move([]component.Gaussian{narrow, wide}, nil)
		if mean := (moved[0].Mean[0] + moved[1].Mean[0]) / 2; mean < c.least || mean > c.most {
			t.Errorf("%s: mean %g, want %g to %g", c.name, mean, c.least, c.most)
		}
		by := [2]float64{moved[0].Mean[0] + 1, moved[1].Mean[0] - 1}
		if c.mean == .1 && math.Abs(by[1]/by[0]-9) > 1e-6 || moved[0].Mean[1] != 0 {
			t.Errorf("%s: moved by %g, and along the other column by %g", c.name, by, moved[0].Mean[1])
		}
		if narrow.Mean[0] != -1 || wide.Mean[0] != 1 {
			t.Fatal("the components that were given are changed")
		}
	}
}

// Rows that are clipped for the measurement are so for the comparison: a component far out, which
// stays as it is, moves no others.
func TestMeansMoveOfClippedRows(t *testing.T) {
	near := component.Gaussian{Weight: .9, Mean: []float64{0}, Cov: mat.NewSymDense(1, []float64{1})}
	far := component.Gaussian{Weight: .1, Mean: []float64{1000}, Cov: mat.NewSymDense(1, []float64{1})}
	m := &Means{center: []float64{0}, scale: []float64{1}, mean: []float64{.1 * 5}, radius: 5, sd: .001}
	if moved := m.Move([]component.Gaussian{near}, []component.Gaussian{far}); math.Abs(moved[0].Mean[0]) > 1e-3 {
		t.Errorf("moved to %g", moved[0].Mean[0])
	}
	var none *Means
	if moved := none.Move([]component.Gaussian{near}, nil); moved[0].Mean[0] != 0 {
		t.Errorf("moved without measured means to %g", moved[0].Mean[0])
	}
}

// A component however far out counts as rows at the radius: rounding of its mean moves no others.
func TestMeansMoveBesideFarthest(t *testing.T) {
	near := component.Gaussian{Weight: .9, Mean: []float64{-.1 * 5 / .9}, Cov: mat.NewSymDense(1, []float64{1})}
	m := &Means{center: []float64{0}, scale: []float64{1}, mean: []float64{0}, radius: 5, sd: .001}
	for _, at := range []float64{1e6, 1e17, 1e100, 1e308} {
		far := component.Gaussian{Weight: .1, Mean: []float64{at}, Cov: mat.NewSymDense(1, []float64{1})}
		if moved := m.Move([]component.Gaussian{near}, []component.Gaussian{far}); !(math.Abs(moved[0].Mean[0]-near.Mean[0]) < 1e-3) {
			t.Errorf("a component at %g: one near by is moved by %g", at, moved[0].Mean[0]-near.Mean[0])
		}
	}
}
