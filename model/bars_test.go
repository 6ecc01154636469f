package model_test

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/model"
)

// shares returns the shares of drawn values of a column in [edges[i], edges[i+1]).
func shares(t *testing.T, m *model.Mixture, j, n int, edges []float64) []float64 {
	s, err := model.NewSampler(m)
	if err != nil {
		t.Fatal(err)
	}
	rng, row, out := rand.New(rand.NewPCG(7, 8)), make([]float64, m.Dim()), make([]float64, len(edges)-1)
	for range n {
		s.Row(row, rng)
		if i := sort.SearchFloat64s(edges, math.Nextafter(row[j], math.Inf(1))) - 1; i >= 0 && i < len(out) {
			out[i] += 1 / float64(n)
		}
	}
	return out
}

// TestBars: drawn rows have the shares that were counted, values by themselves included, whatever
// the components are; they are as the model has them where the noise hides what was counted, and
// nothing is drawn where noise alone shows rows. Columns keep their order, and so their
// correlations. False alarms: below 1e-6, errors being six of the draws' own sds.
func TestBars(t *testing.T) {
	const n = 40_000
	low, high := math.Inf(-1), math.Inf(1)
	cov := full(t, 2, 1, .9, .9, 1)
	plain := &model.Mixture{Columns: []string{"x", "y"}, Weights: []float64{.5, .5}, Components: []model.Gaussian{{Mean: []float64{0, 0}, Cov: cov}, {Mean: []float64{1, 1}, Cov: cov}}}
	of := func(noise float64, bars ...model.Bar) *model.Mixture {
		m := *plain
		for i := range bars {
			bars[i].Noise = noise
		}
		m.Bars = [][]model.Bar{bars, nil}
		return &m
	}
	edges := []float64{-9, -1, 0, 0.001, 2, 40, 41}
	bars := []model.Bar{{Low: -3, High: -1, Share: .4}, {Low: -1, High: 0, Share: .1}, {Share: .3}, {Low: 0, High: 2, Share: .15}, {Low: 2, High: 40, Share: .05}}
	near := func(name string, got, want []float64) {
		for i := range want {
			if math.Abs(got[i]-want[i]) > 6*math.Sqrt(want[i]*(1-want[i])/n)+2e-3 {
				t.Errorf("%s: shares %.4f, want %.4f", name, got, want)
				return
			}
		}
	}
	near("clear", shares(t, of(1e-4, bars...), 0, n, edges), []float64{.4, .1, .3, .15, .05, 0})
	as := shares(t, plain, 0, n, edges)
	near("explained by noise", shares(t, of(.03, model.Bar{Low: -9, High: .5, Share: .52}, model.Bar{Low: .5, High: 9, Share: .48}), 0, n, edges), as)
	near("hidden", shares(t, of(1, bars...), 0, n, edges), as)
	near("nothing there", shares(t, of(.02, model.Bar{Low: -9, High: 9, Share: 1}, model.Bar{Low: 9, High: 41, Share: .03}), 0, n, edges), as)
	near("the other column", shares(t, of(1e-4, bars...), 1, n, edges), shares(t, plain, 1, n, edges))

	s, err := model.NewSampler(of(1e-4, bars...))
	if err != nil {
		t.Fatal(err)
	}
	rng, row, both, above := rand.New(rand.NewPCG(1, 1)), make([]float64, 2), 0., 0.
	for range n {
		if s.Row(row, rng); row[0] > 0 {
			above++
			if row[1] > 1 {
				both++
			}
		}
	}
	if both/above < .8 { // .2 highest of x; .3 of all y are above 1
		t.Errorf("of the highest values %.2f go with high ones of the other column", both/above)
	}

	// In a column of logarithms recorded in units, bars are in its own values, and 0 is what rounds
	// to it.
	money := &model.Mixture{Columns: []string{"x"}, Weights: []float64{1}, Components: []model.Gaussian{{Mean: []float64{3}, Cov: diagonal(t, 4)}},
		Cells: []model.Cell{{Unit: 1, Least: 0, Most: high, Log: dense.LogOf(0, high, 1)}},
		Bars:  [][]model.Bar{{{Share: .6, Noise: 1e-4}, {High: 100, Share: .1, Noise: 1e-4}, {Low: 100, High: 1000, Share: .3, Noise: 1e-4}}}}
	near("money", shares(t, money, 0, n, []float64{0, 1, 100, 1001}), []float64{.6, .1, .3})

	// A column without spread, and limits, stay.
	one := &model.Mixture{Columns: []string{"x"}, Weights: []float64{.25, .75}, Components: []model.Gaussian{{Mean: []float64{3}, Cov: diagonal(t, 0)}, {Mean: []float64{5}, Cov: diagonal(t, 1)}},
		Cells: []model.Cell{{Least: low, Most: 5}}, Bars: [][]model.Bar{{{Low: 3, High: 3, Share: .25, Noise: 1e-4}, {Low: 4, High: 5, Share: .75, Noise: 1e-4}}}}
	near("one value", shares(t, one, 0, n, []float64{2.9, 3.1, 4, 5.001}), []float64{.25, 0, .75})
}

// TestNoisyBars: of a skewed column, about which the mixture is wrong, drawn rows are nearer to the
// truth than the bars and the mixture are (.21 and .26 in total variation, and .20 by halves that
// each had to be clear); of one about which it is right they stay near it. Forty noises, whose mean
// varies by .005.
func TestNoisyBars(t *testing.T) {
	const noise, bins, n = .04, 16, 20_000
	rng := rand.New(rand.NewPCG(5, 6))
	edges := make([]float64, bins+1)
	for i := range edges {
		edges[i] = float64(i) / 4
	}
	for _, c := range []struct {
		name        string
		mean, sd    float64
		below       func(float64) float64
		least, most float64
	}{
		{"skewed", 1, 1, func(x float64) float64 { return (1 - math.Exp(-x)) / (1 - math.Exp(-4)) }, .2, .185},
		{"as the mixture", 2, .5, func(x float64) float64 { return math.Erfc((2-x)/(.5*math.Sqrt2)) / 2 }, 0, .05},
	} {
		want, tv, alone := make([]float64, bins), 0., 0.
		for i := range want {
			want[i] = c.below(edges[i+1]) - c.below(edges[i])
		}
		far := func(got []float64) (sum float64) {
			for i := range want {
				sum += math.Abs(got[i]-want[i]) / 2
			}
			return sum
		}
		m := &model.Mixture{Columns: []string{"x"}, Weights: []float64{1}, Components: []model.Gaussian{{Mean: []float64{c.mean}, Cov: diagonal(t, c.sd*c.sd)}},
			Cells: []model.Cell{{Least: 0, Most: math.Inf(1)}}}
		alone = far(shares(t, m, 0, n, edges))
		for range 40 {
			var bars []model.Bar
			for i, share := range want {
				bars = append(bars, model.Bar{Low: edges[i], High: edges[i+1], Share: share + noise*rng.NormFloat64(), Noise: noise})
			}
			m.Bars = [][]model.Bar{bars}
			tv += far(shares(t, m, 0, n, edges)) / 40
		}
		t.Logf("%s: %.3f, without bars %.3f", c.name, tv, alone)
		if tv > c.most || alone < c.least {
			t.Errorf("%s: drawn rows are %.3f from the truth, want %.3f; without bars %.3f", c.name, tv, c.most, alone)
		}
	}
}

// TestBarsOfAnyKind: whatever bars say, rows are finite and within the limits.
func TestBarsOfAnyKind(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	extreme := []float64{0, 1, -1, 1e-300, 1e300, -1e300, math.MaxFloat64, -math.MaxFloat64, 40, 40.5}
	for range 300 {
		m := &model.Mixture{Columns: []string{"x"}, Weights: []float64{.3, .7}, Components: []model.Gaussian{
			{Mean: []float64{extreme[rng.IntN(4)]}, Cov: diagonal(t, math.Abs(extreme[rng.IntN(5)]))}, {Mean: []float64{40}, Cov: diagonal(t, 1)}}}
		if rng.IntN(2) == 0 {
			m.Cells = []model.Cell{{Unit: float64(rng.IntN(2)), Least: -1e6, Most: 41}}
		}
		var ends []float64
		for range 8 {
			ends = append(ends, extreme[rng.IntN(len(extreme))])
		}
		sort.Float64s(ends)
		var bars []model.Bar
		for i := 0; i < len(ends); i += 2 {
			bars = append(bars, model.Bar{Low: ends[i], High: ends[i+1], Share: rng.NormFloat64(), Noise: math.Abs(extreme[rng.IntN(5)])})
		}
		m.Bars = [][]model.Bar{bars}
		s, err := model.NewSampler(m)
		if err != nil {
			t.Fatal(err)
		}
		row := []float64{0}
		for range 50 {
			if s.Row(row, rng); !(math.Abs(row[0]) <= math.MaxFloat64) || m.Cells != nil && !(row[0] >= -1e6 && row[0] <= 41) {
				t.Fatalf("row %v of %+v, %+v", row, m.Components, bars)
			}
		}
	}
}
