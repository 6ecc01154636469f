package madeup

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

var specs = []Spec{
	{Columns: 2, Components: 2, Separation: 6},
	{Columns: 5, Components: 5, Separation: 4, Covariance: Ellipsoid, Uneven: true},
	{Columns: 1, Components: 3, Distance: 3},
	{Columns: 10, Components: 3, Separation: 6, Covariance: Conditioned, Kappa: 1000},
	{Columns: 2, Components: 10, Separation: 4},
	{Columns: 5, Components: 4, Distance: 12, Weights: []float64{.05, .15, .3, .5}},
	{Columns: 3, Components: 1, TailDegrees: 3},
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
			want := s.Distance
			if want == 0 {
				want = s.Separation * math.Sqrt(float64(s.Components))
			}
			if got := least(m.Components) / spectral(m.Components); math.Abs(got-want) > 1e-6*want {
				t.Errorf("%+v seed %d: the closest pair is %v apart, want %v", s, seed, got, want)
			}
		}
	}
}

// spectral is the root of the largest eigenvalue, by the eigenvalues themselves.
func spectral(gs []model.Gaussian) float64 {
	most := 0.0
	for _, g := range gs {
		var e mat.EigenSym
		if !e.Factorize(g.Cov.Dense(), false) {
			return math.NaN()
		}
		most = max(most, floats.Max(e.Values(nil)))
	}
	return math.Sqrt(most)
}

func TestShapes(t *testing.T) {
	s := Spec{Columns: 4, Components: 2, Separation: 6, Covariance: Conditioned, Kappa: 100}
	m, err := s.Truth(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range m.Components {
		var e mat.EigenSym
		e.Factorize(g.Cov.Dense(), false)
		v := e.Values(nil)
		if got := v[3] / v[0]; math.Abs(got-100) > 1e-6 {
			t.Errorf("condition number %v, want 100", got)
		}
	}
	s = Spec{Columns: 4, Components: 3, Separation: 6, Covariance: Ellipsoid, Uneven: true}
	for seed := range uint64(20) {
		if m, err = s.Truth(seed); err != nil {
			t.Fatal(err)
		}
		if w := floats.Min(m.Weights); math.Abs(w-.1) > 1e-12 {
			t.Errorf("smallest weight %v, want .1", w)
		}
		for _, g := range m.Components {
			var e mat.EigenSym
			e.Factorize(g.Cov.Dense(), false)
			v := e.Values(nil)
			if v[0] < unit*unit*leastEigenvalue*(1-1e-9) || v[3] > unit*unit*(1+1e-9) {
				t.Errorf("eigenvalues %v, want all in [%v, %v]", v, unit*unit*leastEigenvalue, unit*unit)
			}
		}
	}
	two, err := Spec{Columns: 2, Components: 2, Separation: 6, Uneven: true}.Truth(1)
	if err != nil || math.Abs(two.Weights[0]-.1) > 1e-12 || math.Abs(two.Weights[1]-.9) > 1e-12 {
		t.Errorf("weights %v, %v, want .1 and .9", two.Weights, err)
	}
}

func TestGroups(t *testing.T) {
	for _, ratio := range []float64{10, 1e6} {
		s := Spec{Columns: 3, Components: 6, Separation: 6, ScaleRatio: ratio}
		for seed := range uint64(10) {
			m, err := s.Truth(seed)
			if err != nil {
				t.Fatal(err)
			}
			wide, narrow := m.Components[:3], m.Components[3:]
			if got := spectral(wide) / spectral(narrow); math.Abs(got/ratio-1) > 1e-9 {
				t.Errorf("the groups' scales are in the ratio %v, want %v", got, ratio)
			}
			for _, g := range [][]model.Gaussian{wide, narrow} {
				want := 6 * math.Sqrt(6)
				// The offset costs digits: means are 300 units from the origin, the narrow group
				// 1e-6 wide.
				if got := least(g) / spectral(g); math.Abs(got-want) > 1e-5*want {
					t.Errorf("ratio %v: the closest pair within a group is %v apart, want %v", ratio, got, want)
				}
			}
			across := math.Inf(1)
			for _, a := range wide {
				for _, b := range narrow {
					across = min(across, floats.Distance(a.Mean, b.Mean, 2)/spectral(wide))
				}
			}
			if math.Abs(across-groupDistance) > 1e-6 {
				t.Errorf("the groups are %v apart, want %v", across, groupDistance)
			}
		}
	}
}

// The first rows of a longer table are those of a shorter one, and a seed says everything.
func TestDrawIsAFunctionOfTheSeed(t *testing.T) {
	for _, s := range append(specs, Spec{Columns: 3, Components: 2, Separation: 6, OutlierShare: .1, OutlierFrom: 100, OutlierTo: 1e9}) {
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

// Labelled rows lie around the means of their labels with the covariance they should have, and
// outliers where they should. The bounds are at 5 standard errors or more: a false alarm in fewer
// than 1 of 10^5 changes of the seeds.
func TestRows(t *testing.T) {
	const n = 40_000
	s := Spec{Columns: 3, Components: 2, Distance: 20, Covariance: Ellipsoid, OutlierShare: .05, OutlierFrom: 1e2, OutlierTo: 1e4}
	in, err := s.Draw(3, n)
	if err != nil {
		t.Fatal(err)
	}
	centre := in.Truth.Mean()
	stray := 0
	square, count := make([]float64, 2), make([]float64, 2)
	for i, label := range in.Labels {
		row := in.Rows.RawRowView(i)
		if label == strayRow {
			stray++
			if far := floats.Distance(row, centre, 2) / unit; far < 1e2*(1-1e-9) || far > 1e4*(1+1e-9) {
				t.Fatalf("an outlier is %v away", far)
			}
			continue
		}
		// -2 log of the density relative to that at the mean is the squared Mahalanobis distance.
		g := in.Truth.Components[label]
		square[label] += 2 * (LogDensity(g, g.Mean) - LogDensity(g, row))
		count[label]++
	}
	if math.Abs(float64(stray)/n-.05) > 5*math.Sqrt(.05*.95/n) {
		t.Errorf("%d of %d rows are stray, want 5 %%", stray, n)
	}
	for j := range square {
		if mean := square[j] / count[j]; math.Abs(mean-3) > 5*math.Sqrt(6/count[j]) {
			t.Errorf("component %d: mean squared Mahalanobis distance %v, want 3", j, mean)
		}
	}
}

// A t of nu degrees of freedom has nu/(nu-2) times the covariance of its scale matrix; nu = 8 has a
// fourth moment to bound the error of.
func TestTails(t *testing.T) {
	const n, nu = 40_000, 8
	in, err := Spec{Columns: 1, Components: 1, TailDegrees: nu}.Draw(1, n)
	if err != nil {
		t.Fatal(err)
	}
	sum, fourth := 0.0, 0.0
	for i := range n {
		z := (in.Rows.At(i, 0) - in.Truth.Components[0].Mean[0]) / unit
		sum += z * z / n
		fourth += math.Pow(z, 4) / n
	}
	if want := nu / (nu - 2.0); math.Abs(sum-want) > 5*math.Sqrt(fourth/n) {
		t.Errorf("variance %v, want %v", sum, want)
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
		got, err := Compare(m, turned, 200)
		if err != nil {
			t.Fatal(err)
		}
		if got.WorstMean != 0 || got.MedianBound > 1e-6 || got.MedianTV > 1e-6 || got.WorstWeight != 0 || got.Found != k || got.Missed != 0 || got.SurplusWeight != 0 {
			t.Errorf("%+v: %+v", s, got)
		}
		for i, j := range got.Partner {
			if (j+1)%k != i {
				t.Errorf("component %d has partner %d", i, j)
			}
		}
	}
}

func TestCompare(t *testing.T) {
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
	got, err := Compare(truth, mixture([]float64{.7, .2, .1}, at(98, 0), at(0, .2), at(50, 50)), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.WorstMean != 1 || got.Found != 3 || got.Missed != 0 || math.Abs(got.SurplusWeight-.1) > 1e-12 || math.Abs(got.WorstWeight-.05) > 1e-12 {
		t.Errorf("a surplus component: %+v", got)
	}
	// KL of equal covariances is half the squared distance: 1/2 and .04/2, so the bounds are 1/2
	// and .1.
	if math.Abs(got.MedianBound-.3) > 1e-9 {
		t.Errorf("median bound %v, want .3", got.MedianBound)
	}
	got, err = Compare(truth, mixture([]float64{1}, at(90, 0)), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.WorstMean != 45 || got.Missed != 1 || got.Partner[0] != -1 || got.Partner[1] != 0 {
		t.Errorf("a missing component: %+v", got)
	}
}

// EM from the truth has the error of the sample: at n rows per component a mean is off by about
// sqrt(d/n) Mahalanobis, and by more than 4 times that in fewer than 1 of 10^9 tables.
func TestReference(t *testing.T) {
	s := Spec{Columns: 4, Components: 3, Separation: 6, Covariance: Ellipsoid, OutlierShare: .02, OutlierFrom: 1e3, OutlierTo: 1e6}
	in, err := s.Draw(2, 6000)
	if err != nil {
		t.Fatal(err)
	}
	m, err := in.Reference(3)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Compare(in.Truth, m, 0)
	if err != nil {
		t.Fatal(err)
	}
	if most := 4 * math.Sqrt(4/1900.); got.WorstMean > most || got.WorstMean == 0 || got.MedianBound > .2 {
		t.Errorf("%+v, want a worst mean in (0, %v]", got, most)
	}
}

func TestFaultySpecs(t *testing.T) {
	for _, s := range []Spec{
		{}, {Columns: 2, Components: 2}, {Columns: 2, Components: 2, Separation: 6, Covariance: Conditioned}, {Columns: 2, Components: 11, Separation: 6, Uneven: true},
		{Columns: 2, Components: 2, Separation: 6, Weights: []float64{1}}, {Columns: 2, Components: 1, ScaleRatio: 3},
		{Columns: 2, Components: 2, Separation: 6, OutlierShare: .1},
	} {
		if _, err := s.Draw(1, 1); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
}
