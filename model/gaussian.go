package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// Gaussian is N(Mean, Cov) over d columns.
type Gaussian struct {
	Mean []float64  // d numbers of size at most 1e300, in the columns' units. Required.
	Cov  Covariance // d x d. Required.
}

// Dim returns d.
func (g Gaussian) Dim() int { return len(g.Mean) }

// Validate reports every fault of g at once, or nil.
func (g Gaussian) Validate() error { return g.validate("mean", "covariance", len(g.Mean)) }

func (g Gaussian) validate(mean, cov string, d int) error {
	var faults []error
	if len(g.Mean) != d || d == 0 {
		faults = append(faults, fieldError(mean, countOf(max(d, 1), "number"), countOf(len(g.Mean), "number"), "give one for each column"))
	}
	for j, v := range g.Mean {
		if err := checkMean(fmt.Sprintf("%s[%d]", mean, j), v); err != nil {
			faults = append(faults, err)
		}
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
		if err := checkVariance(fmt.Sprintf("%s[%d][%d]", cov, j, j), g.Cov.At(j, j)); err != nil {
			faults = append(faults, err)
		}
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

// LogDensity returns log N(row; Mean, Cov) in nats, by the package's convention where Cov is
// degenerate. For more than a few rows use a Scorer. It panics if g is not valid or row has not d
// cells.
func (g Gaussian) LogDensity(row []float64) float64 {
	return g.single().LogDensity(row)
}

// Sample fills dst with one row drawn from g. For more than a few rows use a Sampler. It panics if
// g is not valid or dst has not d cells.
func (g Gaussian) Sample(dst []float64, rng *rand.Rand) {
	mustSampler(g.single()).Row(dst, rng)
}

func (g Gaussian) single() *Mixture {
	return &Mixture{Columns: DefaultColumns(len(g.Mean)), Weights: []float64{1}, Components: []Gaussian{g}}
}

// affine returns the law of scale∘x + shift.
func (g Gaussian) affine(scale, shift []float64) (Gaussian, error) {
	mean := make([]float64, len(g.Mean))
	for j, m := range g.Mean {
		mean[j] = scale[j]*m + shift[j]
		if err := checkMean(fmt.Sprintf("mapped mean[%d]", j), mean[j]); err != nil {
			return Gaussian{}, err
		}
	}
	cov, err := scaledCovariance(g.Cov, scale)
	return Gaussian{Mean: mean, Cov: cov}, err
}

// scaledCovariance returns diag(scale) Sigma diag(scale), of Sigma's own type where that is
// possible.
func scaledCovariance(c Covariance, scale []float64) (Covariance, error) {
	d := c.Dim()
	if u, ok := c.(uncorrelated); ok {
		variances := make([]float64, d)
		alike := true
		for j, sd := range u.sds() {
			variances[j] = scaledVariance(c.At(j, j), sd, scale[j])
			alike = alike && math.Abs(scale[j]) == math.Abs(scale[0])
		}
		if c.TypeName() == typeSpherical && alike {
			return NewSpherical(d, variances[0])
		}
		return NewDiagonal(variances)
	}
	f := mat.DenseCopyOf(factorOf(c))
	sym := mat.NewSymDense(d, nil)
	for i := range d {
		row := f.RawRowView(i)
		for j := range row {
			row[j] *= scale[i]
		}
		for j := i; j < d; j++ {
			sym.SetSym(i, j, scale[i]*c.At(i, j)*scale[j])
		}
	}
	out, err := FullFromFactor(f)
	if err == nil && dense.AllFinite(sym.RawSymmetric().Data) {
		out.sym = sym // one rounding per entry, where F F^T would have d
	}
	return out, err
}

// scaledVariance is variance * scale^2, by way of the standard deviation where scale^2 would leave
// float64's range.
func scaledVariance(variance, sd, scale float64) float64 {
	if v := scale * variance * scale; dense.Finite(v) && v > 0 {
		return v
	}
	return (sd * scale) * (sd * scale)
}

// marginal returns the law of the columns index, in that order.
func (g Gaussian) marginal(index []int) (Gaussian, error) {
	mean := make([]float64, len(index))
	for a, j := range index {
		mean[a] = g.Mean[j]
	}
	cov, err := marginalCovariance(g.Cov, index)
	return Gaussian{Mean: mean, Cov: cov}, err
}

func marginalCovariance(c Covariance, index []int) (Covariance, error) {
	if s, ok := c.(Spherical); ok {
		return NewSpherical(len(index), s.variance)
	}
	if _, ok := c.(uncorrelated); ok {
		variances := make([]float64, len(index))
		for a, j := range index {
			variances[a] = c.At(j, j)
		}
		return NewDiagonal(variances)
	}
	out, err := FullFromFactor(takeRows(factorOf(c), index))
	if err != nil {
		return nil, err
	}
	for a, i := range index {
		for b := a; b < len(index); b++ {
			out.sym.SetSym(a, b, c.At(i, index[b]))
		}
	}
	return out, nil
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
