package privateem

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// TestLikeOthers: a few rows far out in one column, whose spread in the others is noise, have that
// of all others there; what lies in the midst of the others, or is seen to lie elsewhere in a
// column too, or holds many rows, stays as it is.
func TestLikeOthers(t *testing.T) {
	wide := func(weight, first, second, sd float64) component.Gaussian {
		cov := mat.NewSymDense(3, []float64{4, 0, 1, 0, sd * sd, 0, 1, 0, 1})
		return component.Gaussian{Weight: weight, Mean: []float64{first, second, 0}, Cov: cov, Sigma: 2}
	}
	for _, c := range []struct {
		name string
		in   component.Gaussian
		want bool
	}{
		{"far", wide(.01, 500, 40, 30), true},
		{"in the midst", wide(.01, 5, 4, 30), false},
		{"elsewhere", wide(.01, 500, 4000, 30), false},
		{"many", wide(.3, 500, 40, 30), false},
		{"narrow", wide(.01, 500, .5, 1), false},
	} {
		r := &Rounds{Space: component.Space{Columns: []int{0, 1, 2}}, Form: query.FullForm, Rows: 10000, Factor: math.Sqrt2}
		many := component.Gaussian{Weight: 1 - c.in.Weight, Mean: make([]float64, 3), Cov: symmetric.Identity(3)}
		r.Components = []component.Gaussian{many, c.in}
		r.LikeOthers(.05)
		got := r.Components[1]
		if changed := got.Cov.At(1, 1) != c.in.Cov.At(1, 1); changed != c.want {
			t.Errorf("%s: mean %v, covariance %v", c.name, got.Mean, mat.Formatted(got.Cov))
		}
		if c.want && (got.Mean[0] != 500 || got.Mean[1] != 0 || got.Cov.At(1, 1) != 1 || got.Cov.At(0, 2) != 1) {
			t.Errorf("%s: mean %v, covariance %v", c.name, got.Mean, mat.Formatted(got.Cov))
		}
		if c.in.Cov.At(1, 1) < 1 || r.Components[0].Cov.At(0, 0) != 1 {
			t.Error("what was given is changed")
		}
	}
}
