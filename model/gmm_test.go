package model_test

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/model"
)

// TestDistGMM: the largest of the weights' differences and the total variations within pairs, for
// the best pairing; not at all where the numbers of components differ.
//
// Shows: [PPE] Definition of dist_PARAM.
func TestDistGMM(t *testing.T) {
	apart := func(z float64) float64 { return math.Erf(z / 2 / math.Sqrt2) } // of N(0, 1) and N(z, 1)
	for name, c := range map[string]struct {
		a, b *model.Mixture
		want float64
	}{
		"one model, permuted": {mixture(t, []float64{.3, .7}, normal(t, 0, 1), normal(t, 9, 1)), mixture(t, []float64{.7, .3}, normal(t, 9, 1), normal(t, 0, 1)), 0},
		"weights":             {mixture(t, []float64{.3, .7}, normal(t, 0, 1), normal(t, 9, 1)), mixture(t, []float64{.5, .5}, normal(t, 0, 1), normal(t, 9, 1)), .2},
		"a mean":              {mixture(t, []float64{.3, .7}, normal(t, 0, 1), normal(t, 9, 1)), mixture(t, []float64{.4, .6}, normal(t, 1, 1), normal(t, 9, 1)), apart(1)},
		"far apart":           {mixture(t, nil, normal(t, 0, 1)), mixture(t, nil, normal(t, 99, 1)), 1},
	} {
		got, err := model.Compare(t.Context(), c.a, c.b, 16_000, seeded(3))
		if err != nil || math.Abs(float64(got.DistGMM)-c.want) > .02 {
			t.Errorf("%s: %v, want %v, %v", name, got.DistGMM, c.want, err)
		}
	}
	got, err := model.Compare(t.Context(), mixture(t, nil, normal(t, 0, 1)), mixture(t, nil, normal(t, 0, 1), normal(t, 9, 1)), 1000, seeded(3))
	if err != nil || !math.IsInf(float64(got.DistGMM), 1) {
		t.Errorf("one and two components: %v, %v", got.DistGMM, err)
	}
}
