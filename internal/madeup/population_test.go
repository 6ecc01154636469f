package madeup

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Every law has mean 0 and covariance I: the errors of a sample fall like 1/sqrt n. The samples are
// fixed by their seeds, so this passes or fails for good.
func TestLawsAreStandard(t *testing.T) {
	const n, d = 40_000, 4
	for name := range laws {
		p := Population{Columns: d, Law: name}
		s, err := p.Draw(1, n)
		if err != nil {
			t.Fatal(err)
		}
		if x := s.MeanError / p.MeanRate(n); !(x < 2.5) {
			t.Errorf("%s: the mean is %.1f times the rate off", name, x)
		}
		if name == "t3" { // without fourth moments a sample's covariance has no such rate
			continue
		}
		if x := s.CovarianceError / p.CovarianceRate(n); !(x < 2.5) {
			t.Errorf("%s: the covariance is %.1f times the rate off", name, x)
		}
	}
}

// Half of the entries of t3 lie within .7649, the third quartile of the law with scale 1, over
// sqrt3.
func TestScaleOfT3(t *testing.T) {
	const n = 40_000
	s, err := Population{Columns: 1, Law: "t3"}.Draw(1, n)
	if err != nil {
		t.Fatal(err)
	}
	within := 0.0
	for i := range n {
		if math.Abs(s.Rows.At(i, 0)) < .7648923/math.Sqrt(3) {
			within++
		}
	}
	if sds := (within - n/2) / math.Sqrt(n/4); math.Abs(sds) > 4 {
		t.Errorf("%.0f of %d within the quartiles, %.1f sds off", within, n, sds)
	}
}

// The sample's own mean and covariance, measured as an estimate, have the errors that Draw reports;
// a scaled copy of the truth has the error that one can say.
func TestErrors(t *testing.T) {
	const n = 500
	p := Population{Columns: 5, Kappa: 1e4, Offset: 10, Units: 2}
	s, err := p.Draw(3, n)
	if err != nil {
		t.Fatal(err)
	}
	mean := make([]float64, 5)
	for i := range n {
		floats.AddScaled(mean, 1./n, s.Rows.RawRowView(i))
	}
	centred := mat.NewDense(5, n, nil)
	for i := range n {
		for j, v := range s.Rows.RawRowView(i) {
			centred.Set(j, i, (v-mean[j])/math.Sqrt(n))
		}
	}
	e := s.Truth.Errors(mean, centred)
	if m, c := s.Added(mean, centred); m > 1e-9 || c > 1e-9 {
		t.Errorf("the sample is %v and %v from itself", m, c)
	}
	if math.Abs(e.Mean-s.MeanError) > 1e-6 || math.Abs(e.Covariance-s.CovarianceError) > 1e-6 {
		t.Errorf("%+v, but the sample has errors %v and %v", e, s.MeanError, s.CovarianceError)
	}
	// The truth's factor, 2 % too wide.
	f := mat.NewDense(5, 5, nil)
	for j := range 5 {
		for i := range 5 {
			f.Set(j, i, 1.02*s.Truth.unit[j]*s.Truth.axes.At(j, i)*s.Truth.sd[i])
		}
	}
	if e = s.Truth.Errors(s.Truth.Mean, f); math.Abs(e.Covariance-(1.02*1.02-1)*math.Sqrt(5)) > 1e-9 || e.Mean > 1e-9 {
		t.Errorf("a truth that is 2%% too wide: %+v", e)
	}
	if m, _ := s.Added(s.Truth.Mean, f); math.Abs(m-s.MeanError) > 1e-9 {
		t.Errorf("the true mean is %v from the sample's, which is %v from it", m, s.MeanError)
	}
}

func TestVariances(t *testing.T) {
	if got := (Population{Columns: 3, Kappa: 1e4}).sds(); !floats.EqualApprox(got, []float64{1, .1, .01}, 1e-12) {
		t.Errorf("%v", got)
	}
	if got := (Population{Columns: 1, Kappa: 1e4}).sds(); math.Abs(got[0]-.01) > 1e-15 {
		t.Errorf("d = 1: %v", got)
	}
}

func TestPopulationFaults(t *testing.T) {
	for _, p := range []Population{{}, {Columns: 1, Law: "cauchy"}, {Columns: 1, Kappa: .5}, {Columns: 1, Offset: -1}, {Columns: 1, Units: 301}} {
		if _, err := p.Draw(1, 10); err == nil {
			t.Errorf("%+v is drawn", p)
		}
	}
}
