package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
)

// Covariance is a d x d symmetric positive semi-definite matrix Sigma. Diagonal and Full are its
// implementations; values are immutable and what the methods return is the caller's own.
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

// Diagonal is a covariance whose columns are uncorrelated; scoring and sampling need no matrix.
// Make one with NewDiagonal or, with one variance for all columns, NewSpherical.
type Diagonal struct {
	variances []float64
	spherical bool
}

// NewSpherical returns the d x d covariance variance I. It fails if d < 1 or the variance is
// negative or not finite.
func NewSpherical(d int, variance float64) (Diagonal, error) {
	if d < 1 {
		return Diagonal{}, fieldError("dimension", "at least 1", d, "give the number of columns")
	}
	if err := checkVariance("variance", variance); err != nil {
		return Diagonal{}, err
	}
	return Diagonal{variances: slices.Repeat([]float64{variance}, d), spherical: true}, nil
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
func (c Diagonal) Dense() *mat.SymDense { return symmetric.Diagonal(c.variances) }

// Factor returns diag(sqrt variances).
func (c Diagonal) Factor() *mat.Dense {
	out := mat.NewDense(len(c.variances), len(c.variances), nil)
	for i, v := range c.variances {
		out.Set(i, i, math.Sqrt(v))
	}
	return out
}

// TypeName returns "diagonal" or "spherical".
func (c Diagonal) TypeName() string {
	if c.spherical {
		return typeSpherical
	}
	return typeDiagonal
}

func (c Diagonal) sds() []float64 {
	sd := make([]float64, len(c.variances))
	for i, v := range c.variances {
		sd[i] = math.Sqrt(v)
	}
	return sd
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

// rowNorms returns the norms of F's rows: the columns' standard deviations.
func rowNorms(f *mat.Dense) []float64 {
	r, _ := f.Dims()
	out := make([]float64, r)
	for i := range out {
		out[i] = floats.Norm(f.RawRowView(i), 2)
	}
	return out
}
