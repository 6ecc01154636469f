package hypotheses

import (
	"math/rand/v2"
	"testing"
	"sort"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

func TestZZ(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	line, _ := Collect(NetLine(Line(0, 3), 4, .2))
	l, _ := Mixtures(line, 2, 3)
	for _, n := range []int{1000, 4000, 16000} {
		var tvs []float64
		for range 8 {
			truth := rng.IntN(l.Len())
			i := choose(t, sample(rng, l, truth, n), 1, privacy.ReplaceOne, l, Options{}, 1)
			tvs = append(tvs, tv(func(x float64) float64 { return mixtureDensity(l, truth, x) }, func(x float64) float64 { return mixtureDensity(l, i, x) }))
		}
		sort.Float64s(tvs)
		t.Log(n, tvs)
	}
}
