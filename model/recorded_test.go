package model

import (
	"math"
	"testing"
)

// TestRecorded: in a column of whole numbers no component, however narrow, has a density above one
// at a whole number; a wide one has next to the density that it had, a column without a unit or
// without any variance stays, and the mass over all whole numbers is one.
func TestRecorded(t *testing.T) {
	for _, sd := range []float64{1e-9, .01, .3, 1, 10} {
		cov, err := NewDiagonal([]float64{sd * sd, 1, 0})
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(nil, nil, []Gaussian{{Mean: []float64{3, 0, 5}, Cov: cov}})
		if err != nil {
			t.Fatal(err)
		}
		m.Cells = []Cell{{Unit: 1, Least: math.Inf(-1), Most: math.Inf(1)}, {Least: math.Inf(-1), Most: math.Inf(1)}, {Unit: 1, Least: math.Inf(-1), Most: math.Inf(1)}}
		wide, err := Recorded(m)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewScorer(wide)
		if err != nil {
			t.Fatal(err)
		}
		mass := 0.0
		for x := -200.0; x < 200; x++ {
			p := math.Exp(s.LogDensity([]float64{x, 0, 5})) * math.Sqrt(2*math.Pi)
			if mass += p; p > 1+1e-9 {
				t.Errorf("sd %v: mass %v of the cell of %v", sd, p, x)
			}
		}
		if math.Abs(mass-1) > .09 {
			t.Errorf("sd %v: mass %v of all cells, want 1", sd, mass)
		}
		if sd == 10 {
			if got, want := wide.Components[0].Cov.At(0, 0), sd*sd; math.Abs(got/want-1) > .002 {
				t.Errorf("variance %v of a wide component, want about %v", got, want)
			}
		}
		if wide.Components[0].Cov.At(1, 1) != 1 || wide.Components[0].Cov.At(2, 2) != 0 {
			t.Errorf("columns without a unit or variance: %v", wide.Components[0].Cov.Dense())
		}
	}
	if m := (&Mixture{Columns: []string{"a"}}); func() *Mixture { w, _ := Recorded(m); return w }() != m {
		t.Error("a mixture without units is another one")
	}
}
