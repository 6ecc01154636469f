package unkind

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/model"
)

// Mixtures in several columns: by their distance from the truth, or by the likelihood of other
// rows.
func TestVerdictOfWholeMixtures(t *testing.T) {
	draw := func(i int, x []float64, rng *rand.Rand) {
		x[0], x[1] = rng.NormFloat64()+20*float64(i%2), rng.NormFloat64()
	}
	table := made(10_000, 2, draw)
	table.Components = 2
	one, err := model.NewSpherical(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := model.New(nil, []float64{.5, .5}, []model.Gaussian{{Mean: []float64{0, 0}, Cov: one}, {Mean: []float64{20, 0}, Cov: one}})
	if err != nil {
		t.Fatal(err)
	}
	q := question{table: table, mixture: true, k: 2, most: 2, mu: muOfTests, other: made(1000, 2, draw).Rows}
	left, right := []float64{.5, 0, 0, 1, 1}, []float64{.5, 20, 0, 1, 1}
	flag := []string{"not bell-shaped: use its mean and spread, not its tails"}
	wide := []float64{1, 10, 0, 10, 1}
	for _, likelihood := range []bool{false, true} {
		table.Truth, q.table.Outliers = truth, nil
		if likelihood {
			table.Truth = nil
		}
		check(t, "right", q, fitted(t, nil, false, left, right), fine)
		absurd := []float64{1, 10, 0, 100, 1}
		check(t, "absurd", q, fitted(t, nil, false, absurd), silent)
		check(t, "absurd, flagged", q, fitted(t, flag, false, absurd), flagged)
		check(t, "for nobody", q, fitted(t, nil, false, []float64{.49, 0, 0, 1, 1}, []float64{.49, 20, 0, 1, 1}, []float64{.02, 9000, 0, 1, 1}), silent)
	}
	check(t, "one Gaussian, where that is the yardstick", q, fitted(t, nil, false, wide), fine)
	table.Truth = truth
	check(t, "one Gaussian", q, fitted(t, nil, false, wide), silent)

	table.Outliers = make([]bool, 10_000)
	rows := mat.DenseCopyOf(table.Rows)
	for i := range 500 {
		table.Outliers[i] = true
		rows.Set(i, 0, 1000)
	}
	table.Rows = rows
	check(t, "strays left out", q, fitted(t, nil, false, left, right), silent)
	check(t, "strays left out and said", q, fitted(t, []string{"about 5% of the rows lie far outside"}, false, left, right), fine)
	q.most = 3
	clean := [][]float64{{.475, 0, 0, 1, 1}, {.475, 20, 0, 1, 1}, {.05, 1000, 0, 1, 1}}
	check(t, "strays found", q, fitted(t, nil, false, clean...), fine)
	clean[2] = []float64{.05, 10, 0, 300, 300}
	check(t, "strays carried", q, fitted(t, nil, true, clean...), fine)
	check(t, "none among the rows", q, engine.Fitted{Release: fitted(t, nil, false, []float64{1, 900, 0, 1, 1}).Release}, silent)
}
