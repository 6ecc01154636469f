package estimate

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

func TestValidateCovariance(t *testing.T) {
	for _, c := range []struct {
		known [][]float64
		d     int
		shape CovarianceType
	}{
		{nil, 3, Full}, {[][]float64{{2}}, 1, Full}, {[][]float64{{4, .5}, {.5, 9}}, 2, Full}, {[][]float64{{4, 0}, {0, 9}}, 2, Diagonal},
		{[][]float64{{4, 0}, {0, 4}}, 2, Spherical}, {[][]float64{{1e-200, 0}, {0, 1e200}}, 2, Full}, {[][]float64{{1, .9999999}, {.9999999, 1}}, 2, Full},
		{[][]float64{{3, .1}, {.1 + 1e-12, 3}}, 2, Full},
	} {
		if err := ValidateCovariance(c.known, c.d, c.shape); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []struct {
		known [][]float64
		d     int
		shape CovarianceType
		part  string
	}{
		{[][]float64{}, 1, Full, "0 rows"},
		{[][]float64{{1}}, 2, Full, "wanted 2 x 2 numbers, got 1 rows"},
		{[][]float64{{1, 0}, {0}}, 2, Full, "1 in row 2"},
		{[][]float64{{1, 0}, {0, -1}}, 2, Full, "-1 for column 2"},
		{[][]float64{{0}}, 1, Full, "positive variances"},
		{[][]float64{{math.NaN()}}, 1, Full, "positive variances"},
		{[][]float64{{math.Inf(1)}}, 1, Full, "positive variances"},
		{[][]float64{{1, math.NaN()}, {0, 1}}, 2, Full, "finite numbers"},
		{[][]float64{{1, math.Inf(1)}, {math.Inf(1), 1}}, 2, Full, "finite numbers"},
		{[][]float64{{1, .1}, {.2, 1}}, 2, Full, "a symmetric matrix, got 0.2 and 0.1"},
		{[][]float64{{1, 2}, {2, 1}}, 2, Full, "the eigenvalue -1"},
		{[][]float64{{1, 1}, {1, 1}}, 2, Full, "positive definite"},
		{[][]float64{{1, 0, 0}, {0, 1e-30, 1e-15}, {0, 1e-15, 1}}, 3, Full, "positive definite"},
		{[][]float64{{4, .5}, {.5, 9}}, 2, Diagonal, "--covariance diagonal"},
		{[][]float64{{4, 0}, {0, 9}}, 2, Spherical, "--covariance spherical"},
	} {
		err := ValidateCovariance(c.known, c.d, c.shape)
		var field *privacy.FieldError
		if !errors.As(err, &field) || field.Field != "known_covariance" || field.Fix == "" || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%+v: got %v, want %q", c.known, err, c.part)
		}
	}
}

// A known covariance is named where a method makes no use of it.
func TestUnusedCovariance(t *testing.T) {
	p := Problem{KnownCovariance: [][]float64{{1}}, Facts: Facts{Moments: 4}}
	if got := Unused(ignorant{}, p); len(got) != 2 || got[1] != "covariance of every component" {
		t.Errorf("got %q", got)
	}
	if got := Unused(user{uses: Uses{Covariance: true}}, p); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}
