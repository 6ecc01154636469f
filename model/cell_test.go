package model_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/model"
)

// TestRowWithin: rows are in the columns' units and within their limits, components keep their
// share, and a component that is elsewhere is moved to the limits.
func TestRowWithin(t *testing.T) {
	cov := diagonal(t, 100, .04, 25)
	m := &model.Mixture{Columns: []string{"age", "dose", "year"}, Weights: []float64{.7, .2, .1},
		Components: []model.Gaussian{{Mean: []float64{50, .5, 7}, Cov: cov}, {Mean: []float64{0, .2, 7}, Cov: cov}, {Mean: []float64{-500, .2, 7}, Cov: cov}}}
	low, high := math.Inf(-1), math.Inf(1)
	cells := []model.Cell{{Unit: 1, Least: 0, Most: 120}, {Unit: .1, Least: low, Most: high}, {Unit: 7, Offset: 2, Least: low, Most: high}}
	s, err := model.NewSampler(m)
	if err != nil {
		t.Fatal(err)
	}
	rng, row := rand.New(rand.NewPCG(1, 1)), make([]float64, 3)
	const n = 20_000
	zero, young := 0., 0.
	for range n {
		s.RowWithin(row, cells, rng)
		if row[0] < 0 || row[0] > 120 || row[0] != math.Trunc(row[0]) || row[1] != math.Round(10*row[1])/10 || math.Mod(row[2]-2, 7) != 0 {
			t.Fatalf("row %v", row)
		}
		if row[0] < 25 {
			young++
		}
		if row[0] == 0 {
			zero++
		}
	}
	// .2 near zero, .1 moved there, and .7 of Phi(-2.55); of the second, half is within a half of
	// zero in 1 of 12.5. Beyond five sds: less than one run in 10^6.
	for _, c := range []struct{ got, want float64 }{{young / n, .2*.989 + .1 + .7*.0054}, {zero / n, .1 + .2*.0768}} {
		if math.Abs(c.got-c.want) > 5*math.Sqrt(c.want/n)+.003 {
			t.Errorf("share %v, want %v", c.got, c.want)
		}
	}
}
