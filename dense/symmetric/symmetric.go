// Package symmetric has the operations on gonum's symmetric matrices that estimators share and
// gonum lacks. They end, without a panic, on any numbers that noise may make of a matrix.
//
// No code that receives rows uses it: any package of the process can replace gonum's arithmetic.
// Such code uses package dense.
package symmetric

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// Of returns the d x d matrix whose entries are f(i, j), asked row by row for i <= j.
func Of(d int, f func(i, j int) float64) *mat.SymDense {
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, f(i, j))
		}
	}
	return s
}

// Diagonal returns the matrix with this diagonal.
func Diagonal(values []float64) *mat.SymDense {
	s := mat.NewSymDense(len(values), nil)
	s.CopySym(mat.NewDiagDense(len(values), values))
	return s
}

// DiagonalOf returns the entries on the diagonal of a square matrix.
func DiagonalOf(m mat.Matrix) []float64 {
	d, _ := m.Dims()
	values := make([]float64, d)
	for i := range values {
		values[i] = m.At(i, i)
	}
	return values
}

// Identity returns the d x d identity.
func Identity(d int) *mat.SymDense { return Diagonal(slices.Repeat([]float64{1}, d)) }

// mostJitter bounds what Factor adds to a diagonal, relative to its entries.
const mostJitter = 1.0

// Factor returns the lower triangle l with cov = l l^T, adding to the diagonal until the
// factorisation succeeds, inv = l^-1 and log det cov. Where adding mostJitter is not enough, as for
// entries that are not numbers, it takes the diagonal alone, with 1 for what is not positive: so it
// ends on any matrix.
func Factor(cov *mat.SymDense) (l, inv *mat.Dense, logDet float64) {
	if values := positiveAlone(cov); values != nil {
		d := len(values)
		l, inv = mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
		for i, v := range values {
			root := math.Sqrt(v)
			l.Set(i, i, root)
			inv.Set(i, i, 1/root)
			logDet += 2 * math.Log(root)
		}
		return l, inv, logDet
	}
	u, logDet := factored(cov)
	t := mat.NewTriDense(cov.SymmetricDim(), mat.Lower, nil)
	t.Copy(u.T())
	l = mat.DenseCopyOf(t)
	lapack64.Trtri(t.RawTriangular())
	return l, mat.DenseCopyOf(t), logDet
}

// LogDet returns the logDet of Factor.
func LogDet(cov *mat.SymDense) (logDet float64) {
	if values := positiveAlone(cov); values != nil {
		for _, v := range values {
			logDet += 2 * math.Log(math.Sqrt(v))
		}
		return logDet
	}
	_, logDet = factored(cov)
	return logDet
}

// positiveAlone returns the diagonal of a matrix that has nothing else, if it is of finite positive
// numbers; else nil. What takes d^3 of other matrices takes d^2 of these.
func positiveAlone(s *mat.SymDense) []float64 {
	return alone(s, func(v float64) bool { return v > 0 && !math.IsInf(v, 1) })
}

// alone returns the diagonal of a matrix that has nothing else, if it is of such numbers; else nil.
func alone(s *mat.SymDense, such func(float64) bool) []float64 {
	raw := s.RawSymmetric()
	values := make([]float64, raw.N)
	for i := range values {
		row := raw.Data[i*raw.Stride:][:raw.N]
		for _, v := range row[i+1:] {
			if v != 0 {
				return nil
			}
		}
		if values[i] = row[i]; !such(row[i]) {
			return nil
		}
	}
	return values
}

// factored returns the transpose of Factor's l, and logDet.
func factored(cov *mat.SymDense) (u *mat.TriDense, logDet float64) {
	d := cov.SymmetricDim()
	s := mat.NewSymDense(d, nil)
	s.CopySym(cov)
	for jitter := 0.0; ; jitter = math.Max(1e-12, 10*jitter) {
		if u, logDet, ok := cholesky(s); ok && dense.Finite(logDet) {
			return u, logDet
		}
		if jitter > mostJitter {
			s = positiveDiagonal(cov)
			continue
		}
		for i := range d {
			s.SetSym(i, i, cov.At(i, i)+jitter*(1+math.Abs(cov.At(i, i))))
		}
	}
}

// cholesky returns the upper triangle u with s = u^T u, and log det s; false if s is not positive
// definite. It is that of mat.Cholesky, without its condition number, which takes longer.
func cholesky(s *mat.SymDense) (u *mat.TriDense, logDet float64, ok bool) {
	d := s.SymmetricDim()
	u = mat.NewTriDense(d, mat.Upper, nil)
	u.Copy(s)
	t := u.RawTriangular()
	_, ok = lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: d, Stride: t.Stride, Data: t.Data})
	for i := range d {
		logDet += 2 * math.Log(t.Data[i*t.Stride+i])
	}
	return u, logDet, ok
}

// positiveDiagonal returns the diagonal of cov, with 1 in place of entries that are not positive
// numbers.
func positiveDiagonal(cov *mat.SymDense) *mat.SymDense {
	s := Identity(cov.SymmetricDim())
	for i := range s.SymmetricDim() {
		if v := cov.At(i, i); v > 0 && !math.IsInf(v, 1) {
			s.SetSym(i, i, v)
		}
	}
	return s
}

// Eigen returns the eigenvalues of s in increasing order and its eigenvectors in columns; false if
// they are not found, or the squares of the entries are too large for float64.
func Eigen(s *mat.SymDense) (values []float64, vectors *mat.Dense, ok bool) {
	var e mat.EigenSym
	// Factorize panics on what is not a number
	if !dense.Finite(Frobenius2(s)) || !e.Factorize(s, true) {
		return nil, nil, false
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors, true
}

// Eigenvalues returns Eigen without vectors, by another method, whose values differ in the last
// digits.
func Eigenvalues(s *mat.SymDense) (values []float64, ok bool) {
	var e mat.EigenSym
	if !dense.Finite(Frobenius2(s)) || !e.Factorize(s, false) {
		return nil, false
	}
	return e.Values(nil), true
}

// Principal returns the q leading eigenvectors of cov (columns) and all eigenvalues, largest first.
func Principal(cov *mat.SymDense, q int) (vec *mat.Dense, values []float64) {
	d := cov.SymmetricDim()
	if diagonal := positiveAlone(cov); diagonal != nil {
		order := make([]int, d)
		values, vec = diagonal, mat.NewDense(d, q, nil)
		floats.Argsort(values, order) // in increasing order
		slices.Reverse(values)
		slices.Reverse(order)
		for j := range q {
			vec.Set(order[j], j, 1)
		}
		return vec, values
	}
	if up, all, ok := Eigen(cov); ok {
		vec, values = mat.NewDense(d, d, nil), make([]float64, d)
		for j := range d {
			values[j] = up[d-1-j]
			for i := range d {
				vec.Set(i, j, all.At(i, d-1-j))
			}
		}
	} else {
		vec, values = mat.DenseCopyOf(Identity(d)), DiagonalOf(cov)
	}
	return mat.DenseCopyOf(vec.Slice(0, d, 0, q)), values
}

// Congruence returns a s a^T.
func Congruence(a *mat.Dense, s mat.Symmetric) *mat.SymDense {
	if values := Scales(a); values != nil {
		return Of(len(values), func(i, j int) float64 { return values[i] * s.At(i, j) * values[j] })
	}
	var t, u mat.Dense
	t.Mul(a, s)
	u.Mul(&t, a.T())
	return Of(u.RawMatrix().Rows, func(i, j int) float64 { return (u.At(i, j) + u.At(j, i)) / 2 })
}

// Scales returns the diagonal of a square matrix that has nothing else; else nil.
func Scales(a *mat.Dense) []float64 {
	raw := a.RawMatrix()
	if raw.Rows != raw.Cols {
		return nil
	}
	for i := range raw.Rows {
		for j, v := range raw.Data[i*raw.Stride:][:raw.Cols] {
			if v != 0 && i != j {
				return nil
			}
		}
	}
	return DiagonalOf(a)
}

// Floored returns s with eigenvalues below low raised to low and above high cut to high; the
// identity if s has no eigenvalues.
func Floored(s *mat.SymDense, low, high float64) *mat.SymDense {
	d := s.SymmetricDim()
	bounded := func(x float64) float64 { return math.Min(math.Max(x, low), high) }
	if values := alone(s, dense.Finite); values != nil {
		return Of(d, func(i, j int) float64 {
			if i != j {
				return 0
			}
			return bounded(values[i])
		})
	}
	values, v, ok := Eigen(s)
	if !ok {
		return Identity(d)
	}
	for i, x := range values {
		values[i] = bounded(x)
	}
	return Congruence(v, Diagonal(values))
}

// FlooredRoot returns s with eigenvalues below low raised to low, and the symmetric root of that;
// two identities if s has no eigenvalues.
func FlooredRoot(s *mat.SymDense, low float64) (floored, root *mat.SymDense) {
	d := s.SymmetricDim()
	values, v, ok := Eigen(s)
	if !ok {
		return Identity(d), Identity(d)
	}
	floored, root = mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	for k, l := range values {
		l = math.Max(l, low)
		column := v.ColView(k)
		floored.SymRankOne(floored, l, column)
		root.SymRankOne(root, math.Sqrt(l), column)
	}
	return floored, root
}

// Between returns a - b, and that in the units of a frame: inv (a - b).
func Between(inv *mat.Dense, a, b []float64) (diff, z *mat.VecDense) {
	diff, z = mat.NewVecDense(len(a), floats.SubTo(make([]float64, len(a)), a, b)), new(mat.VecDense)
	z.MulVec(inv, diff)
	return diff, z
}

// Scaled returns f s.
func Scaled(f float64, s mat.Symmetric) *mat.SymDense {
	out := mat.NewSymDense(s.SymmetricDim(), nil)
	out.ScaleSym(f, s)
	return out
}

// OnlyDiagonal keeps the diagonal, or its mean everywhere on it if spherical.
func OnlyDiagonal(s *mat.SymDense, spherical bool) *mat.SymDense {
	values := DiagonalOf(s)
	if spherical {
		values = slices.Repeat([]float64{s.Trace() / float64(len(values))}, len(values))
	}
	return Diagonal(values)
}

// Frobenius2 returns the squared Frobenius norm.
func Frobenius2(s *mat.SymDense) float64 {
	t := 0.0
	d := s.SymmetricDim()
	for i := range d {
		for j := range d {
			t += s.At(i, j) * s.At(i, j)
		}
	}
	return t
}

// AddMul adds m v to out, each number of it from left to right.
func AddMul(out []float64, m *mat.Dense, v []float64) {
	for i := range out {
		for j, x := range m.RawRowView(i) {
			out[i] += x * v[j]
		}
	}
}

// AddMulT adds m^T v to out, each number of it from top to bottom.
func AddMulT(out []float64, m *mat.Dense, v []float64) {
	for i, y := range v {
		for j, x := range m.RawRowView(i) {
			out[j] += x * y
		}
	}
}

// HypotNorm returns the Euclidean norm, without under- and overflow: one entry after another.
func HypotNorm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s = math.Hypot(s, v)
	}
	return s
}
