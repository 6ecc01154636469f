package spectral_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/learner/spectral"
)

// TestSubspace: points are taken to the leading span, the same points by every block and for every
// seed others. The span of 500 rows is off by the sine 1e-3/sqrt(500) or so, 4e-5; the tolerance
// for points of length below 10 is 25 times that of their number.
func TestSubspace(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	block := func() (rows [][]float64) {
		for range 500 {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			rows = append(rows, []float64{1e5 + a + b, a - b, 1e-3 * rng.NormFloat64()})
		}
		return rows
	}
	l := spectral.Subspace{Dimensions: 2, Points: 5}
	one, err := l.Learn(block(), 3)
	if err != nil || len(one) != l.Estimates() || len(one[0]) != l.Coordinates(3) {
		t.Fatal(one, err)
	}
	two, _ := l.Learn(block(), 3)
	other, _ := l.Learn(block(), 4)
	moved := 0.0
	for i, v := range one[0] {
		if math.Abs(v-two[0][i]) > 1e-2 || i%3 == 2 && math.Abs(v) > 1e-2 {
			t.Errorf("coordinate %d: %v and %v", i, v, two[0][i])
		}
		moved += math.Abs(v - other[0][i])
	}
	if moved < .1 {
		t.Errorf("another seed moved the points by %v", moved)
	}
	for _, bad := range []spectral.Subspace{{Dimensions: 4, Points: 5}, {Dimensions: 2}, {Points: 2}} {
		if _, err := bad.Learn(block(), 3); err == nil {
			t.Errorf("%+v: want an error", bad)
		}
	}
	if _, err := l.Learn(block()[:2], 3); err == nil {
		t.Error("two rows: want an error")
	}
}
