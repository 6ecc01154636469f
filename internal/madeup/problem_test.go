package madeup

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

var specs = []Spec{
	{Columns: 2, Components: 2, Distance: 6}, {Columns: 5, Components: 5, Distance: 9}, {Columns: 1, Components: 3, Distance: 3},
	{Columns: 10, Components: 3, Distance: 14}, {Columns: 2, Components: 10, Distance: 13}, {Columns: 3, Components: 1},
}

// least is the distance of the closest pair.
func least(gs []model.Gaussian) float64 {
	var means [][]float64
	for _, g := range gs {
		means = append(means, g.Mean)
	}
	return closest(means, means)
}

func TestSeparationHolds(t *testing.T) {
	for _, s := range specs {
		for seed := range uint64(20) {
			m, err := s.Truth(seed)
			if err != nil {
				t.Fatal(err)
			}
			if s.Components == 1 {
				continue
			}
			if got := least(m.Components) / unit; math.Abs(got-s.Distance) > 1e-6*s.Distance {
				t.Errorf("%+v seed %d: the closest pair is %v apart", s, seed, got)
			}
		}
	}
}

// The first rows of a longer table are those of a shorter one, and a seed says everything.
func TestDrawIsAFunctionOfTheSeed(t *testing.T) {
	for _, s := range specs {
		a, err := s.Draw(7, 50)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Draw(7, 80)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Draw(8, 50)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(a.Rows, b.Rows.Slice(0, 50, 0, s.Columns)) {
			t.Errorf("%+v: a longer table of the same seed begins with other rows", s)
		}
		if mat.Equal(a.Rows, c.Rows) {
			t.Errorf("%+v: two seeds have the same rows", s)
		}
	}
}

// Labelled rows lie around the means of their labels with the covariance they should have. The
// bounds are at 5 standard errors: a false alarm in fewer than 1 of 10^5 changes of the seeds.
func TestRows(t *testing.T) {
	const n = 40_000
	in, err := Spec{Columns: 3, Components: 2, Distance: 20}.Draw(3, n)
	if err != nil {
		t.Fatal(err)
	}
	square, count := make([]float64, 2), make([]float64, 2)
	for i, label := range in.Labels {
		// -2 log of the density relative to that at the mean is the squared Mahalanobis distance.
		g := in.Truth.Components[label]
		square[label] += 2 * (LogDensity(g, g.Mean) - LogDensity(g, in.Rows.RawRowView(i)))
		count[label]++
	}
	for j := range square {
		if mean := square[j] / count[j]; math.Abs(mean-3) > 5*math.Sqrt(6/count[j]) || math.Abs(count[j]/n-.5) > 2.5/math.Sqrt(n) {
			t.Errorf("component %d: mean squared Mahalanobis distance %v of %v rows, want 3", j, mean, count[j])
		}
	}
}

// A copy of the truth with its components in another order has no error at all.
func TestPermutedTruthIsExact(t *testing.T) {
	for _, s := range specs {
		m, err := s.Truth(5)
		if err != nil {
			t.Fatal(err)
		}
		k := len(m.Components)
		var w []float64
		var gs []model.Gaussian
		for i := range k {
			w, gs = append(w, m.Weights[(i+1)%k]), append(gs, m.Components[(i+1)%k])
		}
		turned, err := model.New(nil, w, gs)
		if err != nil {
			t.Fatal(err)
		}
		if got := WorstMean(m, turned); got != 0 {
			t.Errorf("%+v: %v", s, got)
		}
	}
}

func TestWorstMean(t *testing.T) {
	cov, err := model.NewDiagonal([]float64{4, 1})
	if err != nil {
		t.Fatal(err)
	}
	at := func(x, y float64) model.Gaussian { return model.Gaussian{Mean: []float64{x, y}, Cov: cov} }
	mixture := func(w []float64, gs ...model.Gaussian) *model.Mixture {
		m, err := model.New(nil, w, gs)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	truth := mixture([]float64{.25, .75}, at(0, 0), at(100, 0))
	if got := WorstMean(truth, mixture([]float64{.7, .2, .1}, at(98, 0), at(0, .2), at(50, 50))); got != 1 {
		t.Errorf("a surplus component: %v", got)
	}
	if got := WorstMean(truth, mixture([]float64{1}, at(90, 0))); got != 45 {
		t.Errorf("a missing component: %v", got)
	}
}

// EM from the truth has the error of the sample: at n rows per component a mean is off by about
// sqrt(d/n) Mahalanobis, and by more than 4 times that in fewer than 1 of 10^9 tables.
func TestReference(t *testing.T) {
	in, err := Spec{Columns: 4, Components: 3, Distance: 10}.Draw(2, 6000)
	if err != nil {
		t.Fatal(err)
	}
	m, err := in.Reference(3)
	if err != nil {
		t.Fatal(err)
	}
	if got, most := WorstMean(in.Truth, m), 4*math.Sqrt(4/1900.); got > most || got == 0 {
		t.Errorf("a worst mean of %v, want it in (0, %v]", got, most)
	}
}

func TestFaultySpecs(t *testing.T) {
	for _, s := range []Spec{{}, {Columns: 2}, {Columns: 2, Components: 2}, {Columns: 2, Components: 2, Distance: -1}} {
		if _, err := s.Draw(1, 1); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
}
