package model

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
)

// Gaussian is N(Mean, Cov) over d columns.
type Gaussian struct {
	Mean []float64  // d numbers of size at most 1e300, in the columns' units. Required.
	Cov  Covariance // d x d. Required.
}

// Dim returns d.
func (g Gaussian) Dim() int { return len(g.Mean) }

func (g Gaussian) validate(mean, cov string, d int) error {
	var faults []error
	if len(g.Mean) != d || d == 0 {
		faults = append(faults, fieldError(mean, countOf(max(d, 1), "number"), countOf(len(g.Mean), "number"), "give one for each column"))
	}
	for j, v := range g.Mean {
		faults = append(faults, checkMean(fmt.Sprintf("%s[%d]", mean, j), v))
	}
	if g.Cov == nil || g.Cov.Dim() != d || d == 0 {
		got := "none"
		if g.Cov != nil {
			got = fmt.Sprintf("%d×%d", g.Cov.Dim(), g.Cov.Dim())
		}
		return errors.Join(append(faults, fieldError(cov, fmt.Sprintf("a %d×%d matrix", max(d, 1), max(d, 1)), got,
			"make it with NewFull, NewDiagonal or NewSpherical"))...)
	}
	for j := range d {
		faults = append(faults, checkVariance(fmt.Sprintf("%s[%d][%d]", cov, j, j), g.Cov.At(j, j)))
	}
	return errors.Join(faults...)
}

// maxMean bounds the size of a mean, so that differences and sums of means stay finite.
const maxMean = 1e300

func checkMean(field string, v float64) error {
	if !(math.Abs(v) <= maxMean) {
		return fieldError(field, "a finite number of size at most 1e300", v, "scale the column to a larger unit")
	}
	return nil
}

// inOrder returns the covariance of the columns index, in that order.
func inOrder(c Covariance, index []int) Covariance {
	if c, ok := c.(Diagonal); ok {
		return Diagonal{spherical: c.spherical, variances: taken(c.variances, index)}
	}
	sym := symmetric.Of(len(index), func(a, b int) float64 { return c.At(index[a], index[b]) })
	return Full{sym: sym, factor: takeRows(factorOf(c), index)}
}

// taken returns the values of x at index; nil for none.
func taken[T any](x []T, index []int) (out []T) {
	for _, i := range index {
		out = append(out, x[i])
	}
	return out
}

// takeRows copies the rows index of f.
func takeRows(f *mat.Dense, index []int) *mat.Dense {
	_, m := f.Dims()
	out := mat.NewDense(len(index), m, nil)
	for a, i := range index {
		out.SetRow(a, f.RawRowView(i))
	}
	return out
}

// countOf writes "1 number" or "3 numbers".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
