package madeup

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The closest two of spheres are at the gap, whatever the placement, in the units before the map.
func TestPlainGaps(t *testing.T) {
	for _, placement := range []Placement{Along, OnLine, Simplex, Paired} {
		for _, p := range []Plain{
			{Components: 2, Columns: 1}, {Components: 5, Columns: 3, Uneven: true}, {Components: 4, Columns: 3, Mapped: true},
			{Components: 3, Columns: 8, Mapped: true, Scaled: true}, {Components: 10, Columns: 2},
		} {
			p.Placement, p.Distance = placement, 30
			for seed := range uint64(10) {
				in, err := p.Draw(seed, 10)
				if err != nil || len(in.Truth.Components) != p.Components || math.Abs(floats.Sum(in.Truth.Weights)-1) > 1e-12 {
					t.Fatalf("%+v: %v, %v", p, in, err)
				}
				least := math.Inf(1)
				for i, a := range in.Truth.Components {
					var inverse mat.Dense
					if err := inverse.Inverse(a.Cov.Dense()); err != nil {
						t.Fatal(err)
					}
					for j, b := range in.Truth.Components {
						if i != j {
							diff := mat.NewVecDense(p.Columns, floats.SubTo(make([]float64, p.Columns), a.Mean, b.Mean))
							least = math.Min(least, math.Sqrt(mat.Inner(diff, &inverse, diff)))
						}
					}
				}
				want, most := p.Distance, 1.05*p.Distance
				if p.Scaled { // by the wide one of a wide and a narrow
					want *= .5
				}
				if placement == Simplex || placement == Paired {
					most *= 1.3
				}
				if least < .999*want || least > most {
					t.Errorf("%+v, seed %d: the closest two are %.3g apart", p, seed, least)
				}
			}
		}
	}
}

func TestPlainMaps(t *testing.T) {
	for _, d := range []int{2, 20} {
		p := Plain{Components: 1, Columns: d, Placement: Along, Distance: 1, Mapped: true}
		m, err := p.Truth(3)
		if err != nil {
			t.Fatal(err)
		}
		if c := mat.Cond(m.Components[0].Cov.Factor(), 2); math.Abs(c-mapCondition) > .1 {
			t.Errorf("d = %d: condition %g", d, c)
		}
	}
	if _, err := (Plain{Components: 1, Columns: 2, Placement: "around", Distance: 1}).Truth(1); err == nil {
		t.Error("no error for an unknown placement")
	}
}

// The limits are those that were set at the two ends.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		k, d, n int
		want    float64
	}{{2, 3, 12_000, .08}, {5, 3, 12_000, .08}, {5, 20, 30_000, .35}} {
		if got := Limit(c.k, c.d, c.n); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: got %g", c, got)
		}
	}
}
