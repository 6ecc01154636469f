package estimatetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Tests of methods for one distribution whose tails may be heavy, at (1, 1e-6) unless stated
// otherwise.
const (
	heavyEpsilon = 1
	heavyDelta   = 1e-6
)

// A Bar is the error of the covariance that a method is to reach on rows of a t distribution: one
// that few single runs exceed, and one that hardly more than a tenth of them do.
type Bar struct {
	Nu, Columns, Rows int
	Few, Tenth        float64
}

// Bars fails the test where the median of the errors of 9 runs (60 in a long test) at condition
// number 1e6, unknown mean, is above Few (Tenth), or a run releases nothing. Runs of more than
// 100,000 cells are for long tests.
//
// False alarms: if a run exceeds Few with probability .03 at most, five of nine do with 126 .03^5 =
// 3e-6 at most; if one exceeds Tenth with .2, thirty of sixty do with 4e-8.
func Bars(t *testing.T, rng *rand.Rand, e estimate.Estimator, bars []Bar) {
	t.Helper()
	for _, b := range bars {
		runs, most := 9, b.Few
		if Long() {
			runs, most = 60, b.Tenth
		} else if b.Rows*b.Columns > 100000 {
			continue
		}
		errors := HeavyErrors(t, rng, e, fmt.Sprint("t", b.Nu), b.Columns, b.Rows, runs, privacy.ReplaceOne)
		m := Median(errors)
		t.Logf("%s t%d d=%d n=%d: median error %.4f of %d, up to %.4f", e.Name(), b.Nu, b.Columns, b.Rows, m, len(errors), slices.Max(append(errors, 0)))
		if len(errors) < runs || m > most {
			t.Errorf("%s t%d d=%d n=%d: median error %.3f in %d of %d runs, want %.3f in all", e.Name(), b.Nu, b.Columns, b.Rows, m, len(errors), runs, most)
		}
	}
}

// HeavyErrors returns the errors of the covariance in repeated fits of fresh rows of a law with
// condition number 1e6, without refusals.
func HeavyErrors(t *testing.T, rng *rand.Rand, e estimate.Estimator, law string, d, n, runs int, rel privacy.Relation) (errors []float64) {
	t.Helper()
	for range runs {
		s, rows := Sampled(t, madeup.Population{Columns: d, Kappa: 1e6, Offset: 10, Law: law}, rng.Uint64(), n)
		if f := RunChecked(t, e, heavyCase(rows, d, rel)); f.Model != nil {
			g := f.Model.Components[0]
			errors = append(errors, s.Truth.Errors(g.Mean, g.Cov.Factor()).Covariance)
		}
	}
	return errors
}

func heavyCase(rows [][]float64, d int, rel privacy.Relation) Case {
	return Case{Rows: rows, Columns: d, Relation: rel, Mu: privacy.MuOf(heavyEpsilon, heavyDelta), Components: 1, Noise: kerneltest.Options{Fresh: true}}
}

// Sampled draws a table of a population, and returns its rows.
func Sampled(t *testing.T, p madeup.Population, seed uint64, n int) (*madeup.Sample, [][]float64) {
	t.Helper()
	s, err := p.Draw(seed, n)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = s.Rows.RawRowView(i)
	}
	return s, rows
}

// Median returns the middle of values, the upper one of two; infinite for none.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.Inf(1)
	}
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

// Shapes fails the test unless diagonal and spherical covariances of t rows with five degrees of
// freedom come out: medians of five runs each, over sqrt d, of the errors of covariance and mean.
func Shapes(t *testing.T, rng *rand.Rand, e estimate.Estimator, covariance, mean float64) {
	t.Helper()
	for i, rel := range relations {
		for j, shape := range shapes[1:] {
			for _, d := range []int{2, 9} {
				if i != j && !Long() {
					continue
				}
				var ofCovariance, ofMean []float64
				for range 5 {
					c, m := shapeErrors(t, rng, e, rel, shape, d)
					ofCovariance, ofMean = append(ofCovariance, c/math.Sqrt(float64(d))), append(ofMean, m/math.Sqrt(float64(d)))
				}
				if c, m := Median(ofCovariance), Median(ofMean); !(c < covariance && m < mean) {
					t.Errorf("%s %v %v d=%d: errors %.3f and %.3f over sqrt d", e.Name(), rel, shape, d, c, m)
				}
			}
		}
	}
}

func shapeErrors(t *testing.T, rng *rand.Rand, e estimate.Estimator, rel privacy.Relation, shape estimate.CovarianceType, d int) (covariance, mean float64) {
	t.Helper()
	p := madeup.Population{Columns: d, Offset: 1000, Law: "t5", Axes: true}
	if shape == estimate.Diagonal {
		p.Units = 3
	}
	s, rows := Sampled(t, p, rng.Uint64(), 20000)
	c := heavyCase(rows, d, rel)
	c.Covariance = shape
	f := RunChecked(t, e, c)
	if f.Model == nil {
		t.Fatalf("no release: %+v", f.NoRelease)
	}
	g := f.Model.Components[0]
	one := mat.NewDense(d, d, nil)
	for j := range d {
		one.Set(j, j, math.Sqrt(g.Cov.At(j, j)))
	}
	got := s.Truth.Errors(g.Mean, one)
	return got.Covariance, got.Mean
}

var (
	relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
	shapes    = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}
)

// EveryTable fails the test unless, whatever the rows are, a fit ends in a sound model or in a
// reason, within its plan and its budget. Of the grid a random part is run.
func EveryTable(t *testing.T, rng *rand.Rand, e estimate.Estimator) {
	t.Helper()
	settings := []struct{ d, n int }{{1, 2000}, {2, 4000}, {3, 3000}, {9, 6000}, {12, 20}}
	runs, epsilons := 1, []float64{.3, 1, 3}
	if Long() {
		runs, epsilons = 60, []float64{1e-3, .1, 1, 10, 1e6}
		settings = append(settings, struct{ d, n int }{2, 20000}, struct{ d, n int }{20, 20000})
	}
	for _, table := range Hard() {
		for range runs {
			s, eps := settings[rng.IntN(len(settings))], epsilons[rng.IntN(len(epsilons))]
			c := Case{Rows: table.Rows(rng, s.n, s.d), Columns: s.d, Mu: privacy.MuOf(eps, heavyDelta), Components: 1,
				Relation: relations[rng.IntN(2)], Covariance: shapes[rng.IntN(3)], Noise: kerneltest.Options{Seed: rng.Uint64()}}
			if RunChecked(t, e, c); t.Failed() {
				t.Fatalf("%s on %s: d %d n %d epsilon %v %v %v", e.Name(), table.Name, s.d, s.n, eps, c.Relation, c.Covariance)
			}
		}
	}
}

// Replayed fails the test unless the questions and prices of a fit are functions of its answers: on
// a neighbouring table the same answers lead to the same questions; and where all queries are sums,
// no path loses more than mu^2.
func Replayed(t *testing.T, rng *rand.Rand, e estimate.Estimator) {
	t.Helper()
	for i, shape := range shapes {
		for _, d := range []int{2, 9} {
			if d == 9 && i != rng.IntN(3) && !Long() {
				continue
			}
			_, rows := Sampled(t, madeup.Population{Columns: d, Kappa: 100, Offset: 10, Law: "t3"}, rng.Uint64(), 5000)
			row := make([]float64, d)
			for j := range row {
				row[j] = [...]float64{1e308, math.NaN(), 0, 40}[rng.IntN(4)]
			}
			c := Case{Rows: rows, Columns: d, Relation: privacy.AddRemoveOne, Mu: 1, Components: 1, Covariance: shape,
				Noise: kerneltest.Options{Seed: rng.Uint64()}}
			f, loss := Neighbours(t, e, c, append(slices.Clone(rows), row))
			if f.Model == nil {
				t.Errorf("%s %v d=%d: %+v", e.Name(), shape, d, f.Outcome)
				continue
			}
			if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
				t.Errorf("%s %v: a path loses mu^2 = %v of %v", e.Name(), shape, loss.Path, limit)
			}
			var own, again kerneltest.Transcript
			c.Relation, c.Noise.Record = privacy.ReplaceOne, &own
			Run(t, e, c)
			c.Rows, c.Noise = append(slices.Clone(rows[1:]), row), kerneltest.Options{Replay: &own, Record: &again}
			if Run(t, e, c); !SameQuestions(own, again) {
				t.Errorf("%s %v d=%d: the same released values led to other questions", e.Name(), shape, d)
			}
		}
	}
}

// NoiseOnly fails the test unless, if the kernel's noise is up to a thousand times what it says, a
// fit still ends in a sound model or in a reason.
func NoiseOnly(t *testing.T, rng *rand.Rand, e estimate.Estimator) {
	t.Helper()
	runs := 30
	if Long() {
		runs = 1000
	}
	hard := Hard()
	for range runs {
		d := []int{1, 2, 5, 9}[rng.IntN(4)]
		c := Case{Rows: hard[rng.IntN(len(hard))].Rows(rng, 1500, d), Columns: d, Mu: 2, Components: 1, Relation: relations[rng.IntN(2)],
			Covariance: shapes[rng.IntN(3)], Noise: kerneltest.Options{Seed: rng.Uint64(), NoiseFactor: math.Pow(1000, rng.Float64())}}
		RunChecked(t, e, c)
	}
}

// TooFewRows fails the test unless, at a third of the rows, there is no release, or a sane one.
func TooFewRows(t *testing.T, rng *rand.Rand, e estimate.Estimator) {
	t.Helper()
	for _, d := range []int{1, 2, 5} {
		for _, rel := range relations {
			n := int(e.Expect(estimate.Problem{Columns: d, Relation: rel, Mu: privacy.MuOf(heavyEpsilon, heavyDelta)}).RowsNeeded / 3)
			for _, v := range HeavyErrors(t, rng, e, "t5", d, n, 4, rel) {
				if rel == privacy.ReplaceOne || !(v < 5) {
					t.Errorf("%s d=%d n=%d %v: released with error %v", e.Name(), d, n, rel, v)
				}
			}
		}
	}
}
