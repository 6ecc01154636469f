package tylerpress

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// long reports that the statistical tests that take minutes were asked for.
func long() bool { return estimatetest.Long() }

// heavyErrors are the errors of the covariance in repeated fits of rows of a law with condition
// number 1e6, refusals left out.
func heavyErrors(t *testing.T, e estimate.Estimator, law string, d, n, runs int, rel privacy.Relation) (errors []float64) {
	t.Helper()
	for range runs {
		s := sampled(t, problems.Population{Columns: d, Kappa: 1e6, Offset: 10, Law: law}, n)
		c := estimatetest.Case{Rows: rowsOf(s), Columns: d, Relation: rel, Mu: privacy.MuOf(1, 1e-6), Components: 1}
		c.Noise.Fresh = true
		if f := estimatetest.RunChecked(t, e, c); f.Model != nil {
			g := f.Model.Components[0]
			errors = append(errors, s.Truth.Errors(g.Mean, g.Cov.Factor()).Covariance)
		}
	}
	return errors
}

// sampled is a fresh table of a population.
func sampled(t *testing.T, p problems.Population, n int) *problems.Sample {
	s, err := p.Draw(rand.Uint64(), n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func rowsOf(s *problems.Sample) (rows [][]float64) {
	n, _ := s.Rows.Dims()
	for i := range n {
		rows = append(rows, s.Rows.RawRowView(i))
	}
	return rows
}

// TestEllipticalBars: the errors of the covariance at condition number 1e6, unknown mean, epsilon
// 1. The bars are within 8 % of what [TYLERPRESS] Section 3 measured. Errors of runs vary by half
// of their median at most runs; that the median of 60 is a tenth above the bar, or of 9 a third,
// takes most of them that far off: less than one test in 1e4.
func TestEllipticalBars(t *testing.T) {
	for _, c := range []struct {
		nu, d, n int
		bar      float64
	}{
		{5, 2, 5000, .095}, {5, 5, 10000, .083}, {10, 5, 10000, .073}, {5, 10, 20000, .113}, {10, 10, 20000, .098},
		{5, 5, 100000, .027}, {10, 10, 100000, .041},
	} {
		if !long() && c.n*c.d > 100000 {
			continue
		}
		runs, slack := 9, 1.35
		if long() {
			runs, slack = 60, 1.1
		}
		errors := heavyErrors(t, NewElliptical(), fmt.Sprint("t", c.nu), c.d, c.n, runs, privacy.ReplaceOne)
		m := middle(errors)
		t.Logf("t%d d=%d n=%d: median error %.4f of %d", c.nu, c.d, c.n, m, len(errors))
		if len(errors) < runs || m > slack*c.bar {
			t.Errorf("t%d d=%d n=%d: median error %.3f in %d of %d runs, want %.3f in all", c.nu, c.d, c.n, m, len(errors), runs, c.bar)
		}
	}
}

func middle(x []float64) float64 {
	if len(x) == 0 {
		return math.Inf(1)
	}
	for i := range x {
		for j := range i {
			if x[j] > x[i] {
				x[i], x[j] = x[j], x[i]
			}
		}
	}
	return x[len(x)/2]
}

// TestEllipticalShapes: other relations, shapes and laws end in errors of the size that their rows
// allow. Laplace's law is not elliptical: of 80 errors there the median was .1 and one of ten above
// .4, so that five of nine are above .5 takes a chance below 1e-3, and for the others below 1e-8.
func TestEllipticalShapes(t *testing.T) {
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, law := range []string{"gaussian", "laplace", "t5"} {
			limit := .3
			if law == "laplace" {
				limit = .5
			}
			for _, e := range methods {
				if m := middle(heavyErrors(t, e, law, 3, 8000, 9, rel)); !(m < limit) {
					t.Errorf("%v %s %s: median error %v", rel, law, e.Name(), m)
				}
			}
		}
		for _, shape := range []estimate.CovarianceType{estimate.Diagonal, estimate.Spherical} {
			for _, d := range []int{2, 9} {
				for _, e := range methods {
					t.Run(fmt.Sprint(rel, shape, d, e.Name()), func(t *testing.T) { heavyShape(t, e, rel, shape, d) })
				}
			}
		}
	}
}

func heavyShape(t *testing.T, e estimate.Estimator, rel privacy.Relation, shape estimate.CovarianceType, d int) {
	p := problems.Population{Columns: d, Offset: 1000, Law: "t5", Axes: true}
	if shape == estimate.Diagonal {
		p.Units = 3
	}
	s := sampled(t, p, 20000)
	c := estimatetest.Case{Rows: rowsOf(s), Columns: d, Relation: rel, Mu: privacy.MuOf(1, 1e-6), Components: 1, Covariance: shape}
	c.Noise.Fresh = true
	f := estimatetest.RunChecked(t, e, c)
	if f.Model == nil {
		t.Fatalf("no release: %+v", f.NoRelease)
	}
	g := f.Model.Components[0]
	one := mat.NewDense(d, d, nil)
	for j := range d {
		one.Set(j, j, math.Sqrt(g.Cov.At(j, j)))
	}
	if got := s.Truth.Errors(g.Mean, one); !(got.Covariance < .5*math.Sqrt(float64(d)) && got.Mean < .2*math.Sqrt(float64(d))) {
		t.Errorf("want the truth, got %+v", got)
	}
}
