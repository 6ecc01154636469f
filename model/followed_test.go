package model_test

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/gauze-dp/gauze/model"
)

// TestFollows: the quantiles of a column that follows its counts are those of drawn rows, values
// that many rows share included, and their shares have the noise of the bars below and above. A
// column whose bars say nothing follows none.
func TestFollows(t *testing.T) {
	const n = 40_000
	bars := []model.Bar{{Low: -3, High: -1, Share: .3}, {Low: -1, High: 0, Share: .1}, {Low: 0, High: 2, Share: .15}, {Low: 2, High: 40, Share: .45}}
	for i := range bars {
		bars[i].Noise = .01
	}
	m := &model.Mixture{Columns: []string{"x"}, Weights: []float64{.25, .75},
		Components: []model.Gaussian{{Mean: []float64{5}, Cov: diagonal(t, 0)}, {Mean: []float64{0}, Cov: diagonal(t, 1)}}}
	if m.Follows(0) != nil {
		t.Error("a column without bars follows them")
	}
	m.Bars = [][]model.Bar{bars}
	f := m.Follows(0)
	if f == nil {
		t.Fatal("the column does not follow its bars")
	}
	s, err := model.NewSampler(m)
	if err != nil {
		t.Fatal(err)
	}
	rng, row, drawn := rand.New(rand.NewPCG(1, 2)), make([]float64, 1), make([]float64, n)
	for i := range drawn {
		s.Row(row, rng)
		drawn[i] = row[0]
	}
	sort.Float64s(drawn)
	at := func(share float64) float64 { return drawn[int(share*n)] }
	for _, q := range []float64{.05, .25, .35, .5, .6, .7, .9, .95} {
		const sds = .015 // six, in shares
		if x := f.Quantile(q); !(x >= at(q-sds) && x <= at(q+sds)) {
			t.Errorf("quantile %v: %v, of drawn rows %v", q, x, at(q))
		}
	}
	if x := f.Quantile(.65); x != 5 {
		t.Errorf("a quarter of the rows are 5, and quantile .65 is %v", x)
	}
	if got := f.RankNoise(0); got < .008 || got > .02 {
		t.Errorf("between bars of noise .01 a share has the noise %v", got)
	}
	if got := f.RankNoise(-2); got < .08 || got > .12 {
		t.Errorf("within a bar of .3 of the rows a share has the noise %v", got)
	}
	for i := range bars {
		bars[i].Noise = 1
	}
	if m.Follows(0) != nil {
		t.Error("a column follows bars that are noise")
	}
	if x := f.Quantile(1); math.IsInf(x, 0) || math.IsNaN(x) {
		t.Errorf("quantile 1: %v", x)
	}
}
