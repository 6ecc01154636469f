package axisaligned

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/internal/stattest"
)

// unkind are fits of tables of two clusters, sds of 1, twelve apart in two columns, with further
// columns; the number of components is told in every second one.
func unkind(t *testing.T, runs, n, d int, further func(rng *rand.Rand, row []float64)) (fits []estimatetest.Fit) {
	t.Helper()
	rng := newRand(t)
	for run := range runs {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, d)
			at := 12 * float64(rng.IntN(2))
			rows[i][0], rows[i][1] = at+rng.NormFloat64(), 7-at+rng.NormFloat64()
			further(rng, rows[i])
		}
		c := estimatetest.Case{Rows: rows, Columns: d, Relation: relations[run/2%2], Epsilon: 1, Delta: delta, Components: 2 * (run % 2), Noise: fresh}
		fits = append(fits, estimatetest.RunChecked(t, tested, c))
	}
	return fits
}

func says(f estimatetest.Fit, text string) bool {
	return slices.ContainsFunc(f.Diagnostics.Flags, func(s estimate.Flag) bool { return strings.Contains(s.Text, text) })
}

// TestStrayRows: 4 % of a code in one column are in a component of their own or in the background,
// and the mean and the sd of the column are those of all rows, within a tenth and two fifths; 97 of
// a hundred fits, of which 8 are tried.
func TestStrayRows(t *testing.T) {
	fits := unkind(t, 8, 12000, 3, func(rng *rand.Rand, row []float64) {
		if row[2] = 3 + rng.NormFloat64(); rng.Float64() < .04 {
			row[2] = 999
		}
	})
	mean, sd, right := 3+.04*996, 996*math.Sqrt(.04*.96), 0
	for _, f := range fits {
		if f.Model == nil {
			continue
		}
		at, spread := f.Model.Mean()[2], math.Sqrt(madeup.Covariance(f.Model).At(2, 2))
		if math.Abs(at-mean) < .1*sd && spread > sd/1.4 && spread < 1.4*sd {
			right++
		} else {
			t.Logf("mean %.3g, sd %.3g, want %.3g and %.3g", at, spread, mean, sd)
		}
	}
	stattest.GoodAtLeast(t, right, len(fits), .97, alarm)
}

// TestFewValues: a binary column makes no components where their number is told, and clusters are
// not joined across it; 99 of a hundred fits.
func TestFewValues(t *testing.T) {
	fits := unkind(t, 8, 12000, 3, func(rng *rand.Rand, row []float64) {
		if rng.Float64() < .3 {
			row[2] = 1
		}
	})
	right := 0
	for _, f := range fits {
		if f.Model == nil {
			continue
		}
		sd := 0.0
		for i, g := range f.Model.Components {
			if !f.Diagnostics.Components[i].Background {
				sd = math.Max(sd, math.Sqrt(g.Cov.At(0, 0)))
			}
		}
		if sd < 1.5 && math.Abs(f.Model.Mean()[2]-.3) < .05 {
			right++
		} else {
			t.Logf("sd %.3g, mean %.3g", sd, f.Model.Mean())
		}
	}
	stattest.GoodAtLeast(t, right, len(fits), .99, alarm)
}

// TestCorrelated: a correlation of .8 within components is told, and in columns that are not
// correlated nothing is; 99 of a hundred fits of each kind.
func TestCorrelated(t *testing.T) {
	const told = "correlated within components: columns 1 and 3 (about 0."
	right := 0
	fits := unkind(t, 6, 8000, 3, func(rng *rand.Rand, row []float64) {
		cluster := row[0]
		if cluster > 6 {
			cluster -= 12
		}
		row[2] = .8*cluster + .6*rng.NormFloat64()
	})
	for _, f := range fits {
		if says(f, told) {
			right++
		}
	}
	plain := unkind(t, 6, 8000, 3, func(rng *rand.Rand, row []float64) { row[2] = rng.NormFloat64() })
	for _, f := range plain {
		if f.Model != nil && len(f.Model.Components) == 2 && !says(f, "correlated") {
			right++
		}
	}
	stattest.GoodAtLeast(t, right, len(fits)+len(plain), .99, alarm)
}

// TestLimit: no more components than allowed, and it is said where the limit binds.
func TestLimit(t *testing.T) {
	rng := newRand(t)
	rows := make([][]float64, 12000)
	for i := range rows {
		rows[i] = []float64{12*float64(rng.IntN(3)) + rng.NormFloat64(), 12*float64(rng.IntN(2)) + rng.NormFloat64()}
	}
	f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 2, MaxComponents: 4, Epsilon: 1, Delta: delta, Noise: fresh})
	if f.Model == nil || len(f.Model.Components) > 4 || !says(f, "at most 4 are allowed") {
		t.Errorf("%+v", f.Outcome)
	}
}

// TestPlain: rows in which no places are seen in every column still have means and spreads.
func TestPlain(t *testing.T) {
	rng := newRand(t)
	rows := make([][]float64, 8000)
	for i := range rows {
		rows[i] = []float64{rng.NormFloat64(), 5 + rng.NormFloat64()}
	}
	f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 2, Components: 40, Epsilon: 1, Delta: delta, Relation: relations[1], Noise: fresh})
	if f.Model == nil || len(f.Model.Components) != 1 || !says(f, "this is one Gaussian of all rows") || math.Abs(f.Model.Mean()[1]-5) > .2 {
		t.Errorf("%+v", f.Outcome)
	}
}
