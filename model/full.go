package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
)

const (
	// psdTolerance is the largest asymmetry or negative eigenvalue, relative to the largest
	// eigenvalue with the columns scaled to unit variance, that NewFull takes for rounding and
	// repairs.
	psdTolerance = 1e-9
	// machineEps is the spacing of float64 at 1.
	machineEps = 0x1p-52
	// safePivot is the smallest squared Cholesky pivot of a correlation matrix that is trusted not
	// to be rounding.
	safePivot = 1e-8
)

// Full is an unrestricted covariance, held both as a symmetric matrix Sigma and as a d x d factor F
// with Sigma = F F^T. Make one with NewFull or FullFromFactor.
type Full struct {
	sym    *mat.SymDense
	factor *mat.Dense
}

// NewFull returns the covariance Sigma = sigma, a d x d matrix; it is copied.
//
// It fails if sigma is not square, has an entry that is not finite, is not symmetric, or has a
// negative eigenvalue. Asymmetry and negative eigenvalues up to 1e-9, relative to the largest
// eigenvalue with the columns scaled to unit variance, are taken for rounding and repaired; where
// none needs repair, Dense returns the numbers given.
func NewFull(sigma mat.Matrix) (Full, error) { return newFull("covariance", sigma) }

func newFull(field string, sigma mat.Matrix) (Full, error) {
	sym, err := symmetrised(field, sigma)
	if err != nil {
		return Full{}, err
	}
	factor, repaired, err := psdFactor(field, sym)
	if err != nil {
		return Full{}, err
	}
	if repaired {
		sym = gram(factor)
	}
	return Full{sym: sym, factor: factor}, nil
}

// FullFromFactor returns the covariance Sigma = F F^T for a d x m matrix F, which is copied and
// kept, so that directions survive whose variance is lost to rounding in Sigma. For m != d it keeps
// the d x d triangular factor of the same Sigma. It fails if F is empty or has an entry whose
// square is not finite. A row so small that its variance underflows float64 is a column without
// variance.
func FullFromFactor(f *mat.Dense) (Full, error) {
	d, m := f.Dims()
	if d == 0 || m == 0 {
		return Full{}, fieldError("factor", "at least one row and one column", fmt.Sprintf("%d×%d", d, m), "")
	}
	kept := mat.DenseCopyOf(f)
	if m != d {
		for i := range d {
			if !dense.Finite(floats.Norm(f.RawRowView(i), 2)) {
				return Full{}, notFiniteFactor(i)
			}
		}
		kept = lowerFactor(f)
	}
	for i := range d {
		row := kept.RawRowView(i)
		variance := floats.Dot(row, row)
		if !dense.Finite(variance) {
			return Full{}, notFiniteFactor(i)
		}
		if variance == 0 {
			clear(row)
		}
	}
	return Full{sym: gram(kept), factor: kept}, nil
}

func notFiniteFactor(row int) error {
	return fieldError(fmt.Sprintf("factor row %d", row), "finite numbers with finite squares", "others",
		"scale the column to a larger unit")
}

// Dim returns d.
func (f Full) Dim() int {
	if f.sym == nil {
		return 0
	}
	return f.sym.SymmetricDim()
}

// At returns Sigma_ij.
func (f Full) At(i, j int) float64 {
	checkIndex(i, j, f.Dim())
	return f.sym.At(i, j)
}

// Dense returns Sigma.
func (f Full) Dense() *mat.SymDense {
	out := mat.NewSymDense(f.Dim(), nil)
	out.CopySym(f.sym)
	return out
}

// Factor returns F.
func (f Full) Factor() *mat.Dense { return mat.DenseCopyOf(f.factor) }

// TypeName returns "full".
func (f Full) TypeName() string { return typeFull }

// factorOf returns c.Factor() without the copy; read only.
func factorOf(c Covariance) *mat.Dense {
	if f, ok := c.(Full); ok {
		return f.factor
	}
	return c.Factor()
}

// gram returns F F^T, exactly symmetric.
func gram(f *mat.Dense) *mat.SymDense {
	return symmetric.Of(f.RawMatrix().Rows, func(i, j int) float64 { return floats.Dot(f.RawRowView(i), f.RawRowView(j)) })
}

// lowerFactor returns the d x d lower triangular L with L L^T = F F^T for a d x m matrix F,
// diagonal >=
// 0. Its rounding errors are relative to each row by itself, so rows may have any units.
func lowerFactor(f *mat.Dense) *mat.Dense {
	d, m := f.Dims()
	if m < d {
		wide := mat.NewDense(d, d, nil)
		wide.Slice(0, d, 0, m).(*mat.Dense).Copy(f)
		f = wide
	}
	var lq mat.LQ
	lq.Factorize(f)
	var l mat.Dense
	lq.LTo(&l)
	out := mat.NewDense(d, d, nil)
	for j := range d {
		sign := 1.0
		if l.At(j, j) < 0 {
			sign = -1
		}
		for i := j; i < d; i++ {
			out.Set(i, j, sign*l.At(i, j))
		}
	}
	return out
}

// symmetrised copies sigma into a symmetric matrix, or returns why it cannot.
func symmetrised(field string, sigma mat.Matrix) (*mat.SymDense, error) {
	d, c := sigma.Dims()
	if d != c || d == 0 {
		return nil, fieldError(field, "a square matrix", fmt.Sprintf("%d×%d", d, c), "give one row and one column for each column of the model")
	}
	largest := 0.0
	for i := range d {
		for j := range d {
			if v := sigma.At(i, j); !dense.Finite(v) {
				return nil, fieldError(fmt.Sprintf("%s[%d][%d]", field, i, j), "a finite number", v, "")
			}
		}
		largest = max(largest, sigma.At(i, i))
	}
	out := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			u, l := sigma.At(i, j), sigma.At(j, i)
			if u != l && !(math.Abs(u-l) <= psdTolerance*entryScale(sigma, i, j, largest)) {
				return nil, fieldError(fmt.Sprintf("%s[%d][%d]", field, j, i),
					fmt.Sprintf("the same as %s[%d][%d], %v, because a covariance is symmetric", field, i, j, u), l,
					"write the same number in both places")
			}
			out.SetSym(i, j, u+(l-u)/2)
		}
	}
	return out, nil
}

// entryScale returns the largest size that |Sigma_ij| may have: the product of the columns'
// standard deviations. A column without variance is judged by the largest variance.
func entryScale(sigma mat.Matrix, i, j int, largest float64) float64 {
	sd := func(i int) float64 {
		if v := sigma.At(i, i); v > 0 {
			return math.Sqrt(v)
		}
		return math.Sqrt(largest)
	}
	return sd(i) * sd(j)
}

// psdFactor returns F with F F^T = sym, after setting rounding-sized negative eigenvalues to zero;
// repaired reports whether F F^T differs from sym by more than the rounding of float64.
func psdFactor(field string, sym *mat.SymDense) (factor *mat.Dense, repaired bool, err error) {
	d := sym.SymmetricDim()
	live, repaired, err := liveColumns(field, sym)
	if err != nil {
		return nil, false, err
	}
	factor = mat.NewDense(d, d, nil)
	if len(live) == 0 {
		return factor, repaired, nil
	}
	sd := make([]float64, len(live))
	for a, j := range live {
		sd[a] = math.Sqrt(sym.At(j, j))
	}
	// |r| <= 1 for a covariance; anything grossly larger would only overflow the eigenvalues
	corr := symmetric.Of(len(live), func(a, b int) float64 { return max(-2, min(2, sym.At(live[a], live[b])/sd[a]/sd[b])) })
	root, clipped, err := correlationFactor(field, corr)
	if err != nil {
		return nil, false, err
	}
	for a, j := range live {
		for b := range live {
			factor.Set(j, b, sd[a]*root.At(a, b))
		}
	}
	return factor, repaired || clipped, nil
}

// liveColumns lists the columns of positive variance, having checked that the others are zero up to
// rounding.
func liveColumns(field string, sym *mat.SymDense) (live []int, repaired bool, err error) {
	d, variances := sym.SymmetricDim(), symmetric.DiagonalOf(sym)
	largest := max(0, slices.Max(variances))
	for j, v := range variances {
		if v > 0 {
			live = append(live, j)
			continue
		}
		if v < -psdTolerance*largest {
			return nil, false, fieldError(fmt.Sprintf("%s[%d][%d]", field, j, j), "a variance >= 0", v, "a variance is the square of a standard deviation")
		}
		repaired = repaired || v < 0
		for i := range d {
			c := sym.At(i, j)
			if i == j || c == 0 {
				continue
			}
			if math.Abs(c) > psdTolerance*entryScale(sym, i, j, largest) {
				return nil, false, fieldError(fmt.Sprintf("%s[%d][%d]", field, min(i, j), max(i, j)),
					fmt.Sprintf("0, because column %d has variance 0", j), c, "set it to 0 or give the column a variance")
			}
			repaired = true
		}
	}
	return live, repaired, nil
}

// correlationFactor returns R with R R^T = corr. Eigenvalues within the rounding of float64 of zero
// are zero.
func correlationFactor(field string, corr *mat.SymDense) (root *mat.Dense, clipped bool, err error) {
	n := corr.SymmetricDim()
	if l := safeCholesky(corr); l != nil {
		return l, false, nil
	}
	values, root, ok := symmetric.Eigen(corr)
	if !ok {
		return nil, false, errors.New(field + ": the eigenvalues could not be computed; check the matrix for extreme entries")
	}
	largest := max(values[n-1], 1)
	if values[0] < -psdTolerance*largest {
		return nil, false, fieldError(field, "a positive semi-definite matrix",
			fmt.Sprintf("eigenvalue %.3g with the columns scaled to variance 1", values[0]),
			"shrink the covariances between columns or recompute the matrix in higher precision")
	}
	rounding := 8 * float64(n) * machineEps * largest
	for b, v := range values {
		clipped = clipped || v < -rounding
		if v <= rounding {
			v = 0
		}
		for a := range n {
			root.Set(a, b, root.At(a, b)*math.Sqrt(v))
		}
	}
	return root, clipped, nil
}

// safeCholesky returns the lower Cholesky factor of corr, or nil if corr is close enough to
// singular that the eigenvalues should decide.
func safeCholesky(corr *mat.SymDense) *mat.Dense {
	n := corr.SymmetricDim()
	var chol mat.Cholesky
	if !chol.Factorize(corr) {
		return nil
	}
	var l mat.TriDense
	chol.LTo(&l)
	for i := range n {
		if p := l.At(i, i); p*p < safePivot {
			return nil
		}
	}
	return mat.DenseCopyOf(&l)
}
