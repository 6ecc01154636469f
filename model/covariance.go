package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// Covariance is a d x d symmetric positive semi-definite matrix Sigma. Spherical, Diagonal and Full
// are its implementations; values are immutable and what the methods return is the caller's own.
type Covariance interface {
	// Dim returns d.
	Dim() int
	// At returns Sigma_ij, in the product of the units of columns i and j. It panics if i or j is
	// out of range.
	At(i, j int) float64
	// Dense returns Sigma as a full matrix.
	Dense() *mat.SymDense
	// Factor returns a d x d matrix F with Sigma = F F^T. A direction without variance is a
	// direction without variance of F.
	Factor() *mat.Dense
	// TypeName returns "full", "diagonal" or "spherical", the covariance_type of a model's JSON.
	TypeName() string
}

// Names of the covariance types in JSON and in TypeName.
const (
	typeFull      = "full"
	typeDiagonal  = "diagonal"
	typeSpherical = "spherical"
)

// Spherical is the covariance v I: the same variance v in every column, none shared. Make one with
// NewSpherical.
type Spherical struct {
	dim      int
	variance float64
}

// NewSpherical returns the d x d covariance variance I. It fails if d < 1 or the variance is
// negative or not finite.
func NewSpherical(d int, variance float64) (Spherical, error) {
	if d < 1 {
		return Spherical{}, fieldError("dimension", "at least 1", d, "give the number of columns")
	}
	if err := checkVariance("variance", variance); err != nil {
		return Spherical{}, err
	}
	return Spherical{dim: d, variance: variance}, nil
}

// Variance returns v.
func (s Spherical) Variance() float64 { return s.variance }

// Dim returns d.
func (s Spherical) Dim() int { return s.dim }

// At returns v on the diagonal and 0 elsewhere.
func (s Spherical) At(i, j int) float64 {
	checkIndex(i, j, s.dim)
	if i == j {
		return s.variance
	}
	return 0
}

// Dense returns v I.
func (s Spherical) Dense() *mat.SymDense { return denseOf(s) }

// Factor returns sqrt v I.
func (s Spherical) Factor() *mat.Dense { return diagonalFactor(s.sds()) }

// TypeName returns "spherical".
func (s Spherical) TypeName() string { return typeSpherical }

func (s Spherical) sds() []float64 {
	sd := make([]float64, s.dim)
	for i := range sd {
		sd[i] = math.Sqrt(s.variance)
	}
	return sd
}

// Diagonal is a covariance whose columns are uncorrelated. Make one with NewDiagonal.
type Diagonal struct {
	variances []float64
}

// NewDiagonal returns the covariance diag(variances), variances[j] in squared units of column j. It
// fails if there is none, or one is negative or not finite. The slice is copied.
func NewDiagonal(variances []float64) (Diagonal, error) {
	if len(variances) == 0 {
		return Diagonal{}, fieldError("variances", "at least one number", "none", "give one variance for each column")
	}
	for j, v := range variances {
		if err := checkVariance(fmt.Sprintf("variances[%d]", j), v); err != nil {
			return Diagonal{}, err
		}
	}
	return Diagonal{variances: append([]float64(nil), variances...)}, nil
}

// Dim returns d.
func (c Diagonal) Dim() int { return len(c.variances) }

// At returns the variance of column i if i = j, else 0.
func (c Diagonal) At(i, j int) float64 {
	checkIndex(i, j, len(c.variances))
	if i == j {
		return c.variances[i]
	}
	return 0
}

// Dense returns diag(variances).
func (c Diagonal) Dense() *mat.SymDense { return denseOf(c) }

// Factor returns diag(sqrt variances).
func (c Diagonal) Factor() *mat.Dense { return diagonalFactor(c.sds()) }

// TypeName returns "diagonal".
func (c Diagonal) TypeName() string { return typeDiagonal }

func (c Diagonal) sds() []float64 {
	sd := make([]float64, len(c.variances))
	for i, v := range c.variances {
		sd[i] = math.Sqrt(v)
	}
	return sd
}

// uncorrelated is what Spherical and Diagonal share, and what lets scoring and sampling skip the
// matrices.
type uncorrelated interface {
	// sds returns the columns' standard deviations.
	sds() []float64
}

func checkVariance(field string, v float64) error {
	if !dense.Finite(v) || v < 0 {
		return fieldError(field, "a finite number >= 0", v, "a variance is the square of a standard deviation")
	}
	return nil
}

func checkIndex(i, j, d int) {
	if i < 0 || j < 0 || i >= d || j >= d {
		panic(fmt.Sprintf("model: covariance index (%d, %d) out of range for %d columns", i, j, d))
	}
}

func denseOf(c Covariance) *mat.SymDense {
	d := c.Dim()
	out := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			out.SetSym(i, j, c.At(i, j))
		}
	}
	return out
}

func diagonalFactor(sd []float64) *mat.Dense {
	out := mat.NewDense(len(sd), len(sd), nil)
	for i, s := range sd {
		out.Set(i, i, s)
	}
	return out
}

// rowNorms returns the norms of F's rows: the columns' standard deviations.
func rowNorms(f *mat.Dense) []float64 {
	r, _ := f.Dims()
	out := make([]float64, r)
	for i := range out {
		out[i] = floats.Norm(f.RawRowView(i), 2)
	}
	return out
}
