package general

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
)

// TestCodes: rows with a code far out in one column are in a component, so that the column's mean
// and sd are those of the table.
//
// False-alarm rate: below 1e-4, of ten fits of which seven are right: 98 of 100 were.
func TestCodes(t *testing.T) {
	right := 0
	for range 10 {
		rng := newRand(t)
		rows, column := make([][]float64, 14_000), make([]float64, 14_000)
		for i := range rows {
			a := float64(i%2*6) + rng.NormFloat64()
			rows[i] = []float64{120 + 15*a, 80 + 9*rng.NormFloat64(), a + rng.NormFloat64()}
			if rng.Float64() < .02 {
				rows[i][1] = 999
			}
			column[i] = rows[i][1]
		}
		f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 3, Mu: muOne, MaxComponents: 6, Noise: fresh})
		if f.Model == nil {
			t.Fatal(f.NoRelease)
		}
		mean, square := f.Model.Mean()[1], 0.0
		for i, g := range f.Model.Components {
			square += f.Model.Weights[i] * (g.Cov.At(1, 1) + math.Pow(g.Mean[1]-mean, 2))
		}
		wantMean, wantSD := stat.MeanStdDev(column, nil)
		if off, ratio := math.Abs(mean-wantMean)/wantSD, math.Sqrt(square)/wantSD; off < .12 && ratio > 1/1.5 && ratio < 1.5 {
			right++
		} else {
			t.Logf("mean off by %.3f sd, sd %.2f times the table's", off, ratio)
		}
	}
	if right < 7 {
		t.Errorf("%d of 10 right", right)
	}
}
