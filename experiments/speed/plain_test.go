package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestYardsticks: all ways to write the yardstick compute the same, for widths and lengths that
// fill no tile and no panel.
func TestYardsticks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, d := range []int{1, 2, 3, 4, 5, 6, 10} {
		for _, n := range []int{1, 3, 72, 1100} {
			rows := &table{d: d, flat: make([]float64, n*d)}
			for i := range rows.flat {
				rows.flat[i] = rng.NormFloat64()
			}
			wantSum, want := yardsticks[0].pass(rows)
			for _, p := range yardsticks[1:] {
				sum, second := p.pass(rows)
				for i := range d {
					worst := math.Abs(sum[i] - wantSum[i])
					for j := i; j < d; j++ {
						worst = max(worst, math.Abs(second[i][j]-want[i][j]))
					}
					if !(worst < 1e-8) {
						t.Fatalf("%s, d = %d, n = %d: column %d is off by %v", p.name, d, n, i, worst)
					}
				}
			}
		}
	}
}
