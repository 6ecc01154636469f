package papers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query"
)

// TestExpectedRows: for any share p, n more rows add 0 or 1 to round(n p), whatever p's last bits
// are.
func TestExpectedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 7))
	for range 20000 {
		n := rng.Uint64N(1 << [...]int{2, 10, 32, 53, 62}[rng.IntN(5)])
		p := [...]float64{rng.Float64(), .5, math.Nextafter(.5, 0), 1, 0, 1. / 3, (float64(rng.IntN(9)) + .5) / float64(n+1), 1e-300, 1.5, -1}[rng.IntN(10)]
		a, b := expectedRows(n, p), expectedRows(n+1, p)
		if b-a != 0 && b-a != 1 || a < 0 || uint64(a) > n {
			t.Fatalf("n = %d, p = %v: %d, then %d", n, p, a, b)
		}
		if exact := float64(n) * math.Max(0, math.Min(1, p)); math.Abs(float64(a)-exact) > .5+float64(n)*0x1p-32 {
			t.Fatalf("n = %d, p = %v: %d for %v", n, p, a, exact)
		}
	}
}

// TestMixtureCounts: with the true masses the score of the truth is small, and in two dimensions
// rotated frames and panels of any length count as row by row.
func TestMixtureCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 7))
	turned := query.Affine{Center: []float64{1, 0, 0}, W: [][]float64{{1, .5, 0}, {0, 2, 0}}}
	s := MinimumDistance{Parts: 1, Components: []query.Component{{Map: query.Affine{Center: make([]float64, 3), W: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}, {Map: turned, LogWeight: .3}}, Index: []int{0, 1}, Share: []float64{1, 1},
		Sets: [][2]int{{0, 1}, {1, 0}}, Mass: [][]float64{{1, 0}, {0, 1}}}
	if err := s.Validate(3); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 47, 48, 49, 131} {
		var rows []float64
		for range n {
			rows = append(rows, rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64())
		}
		all, counts := s.counts(rows, 3)
		sums := make([]int64, 2)
		for i := range n {
			one, c := s.counts(rows[3*i:3*i+3], 3)
			if one != 1 || c[0]+c[1] != 1 {
				t.Fatal(one, c)
			}
			sums[0], sums[1] = sums[0]+c[0], sums[1]+c[1]
		}
		if all != uint64(n) || !slices.Equal(counts, sums) {
			t.Errorf("%d rows: %d and %d, row by row %d", n, all, counts, sums)
		}
	}
}

// Mixtures whose components all have no share have no density anywhere: no row is in their sets.
func TestNoShares(t *testing.T) {
	s := MinimumDistance{Parts: 1, Components: []query.Component{{Map: query.Affine{Center: []float64{0}, W: [][]float64{{1}}}}}, Index: []int{0, 0}, Share: []float64{0, 0},
		Sets: [][2]int{{0, 1}}, Mass: [][]float64{{.5}}}
	if err := s.Validate(1); err != nil {
		t.Fatal(err)
	}
	if n, counts := s.counts([]float64{1, 2, 3}, 1); n != 3 || counts[0] != 0 {
		t.Error(n, counts)
	}
}
