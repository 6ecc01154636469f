package dense

import (
	"cmp"
	"math"
	"slices"
)

// Sweeps bounds the sweeps of Jacobi's method over all pairs. Convergence is quadratic; 6 or 7 are
// usual at n = 20.
const Sweeps = 60

// Orthogonalize turns the n rows of w, without loss of digits, into orthogonal ones: it replaces w
// by Q w, Q orthogonal, and sets norms to the norms of the new rows, which are the singular values
// of w, unordered. w'w stays as it is, so the normalised rows are its eigenvectors and the squared
// norms its eigenvalues: with the accuracy of w, which the product would halve. Rows are 0 or 1e-70
// to 1e75 long; all norms are NaN if one is longer, or not finite.
//
// By Jacobi's one-sided method. It allocates nothing.
func Orthogonalize(w []float64, n int, norms []float64) {
	for sweep, done := 0, false; sweep < Sweeps && !done; sweep++ {
		done = true
		squares(w, n, norms)
		for p := range n {
			for q := p + 1; q < n; q++ {
				a, b := w[p*n:p*n+n], w[q*n:q*n+n]
				x := Dot(a, b)
				if !(x*x > 0x1p-100*(norms[p]*norms[q])) {
					continue
				}
				done = false
				half := (norms[q] - norms[p]) / 2
				t := x / (math.Abs(half) + math.Sqrt(half*half+x*x))
				if half < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(1+t*t)
				Turn(a, b, c, t*c)
				norms[p], norms[q] = norms[p]-t*x, norms[q]+t*x
			}
		}
	}
	squares(w, n, norms)
	for i, x := range norms[:n] {
		norms[i] = math.Sqrt(x)
	}
}

// squares sets norms to the squared norms of the rows of w, or all to NaN if products of two could
// overflow.
func squares(w []float64, n int, norms []float64) {
	most := 0.0
	for i := range n {
		norms[i] = Norm2(w[i*n : i*n+n])
		most = max(most, norms[i])
	}
	if !(most < 1e150) {
		for i := range n {
			norms[i] = math.NaN()
		}
	}
}

// Eigen returns the eigenvalues, ascending, and the orthonormal eigenvectors, as columns, of a
// symmetric matrix, up to some units in the last place of its largest entry; all NaN if it is not
// finite. It does not change a.
func Eigen(a []float64, n int) (values, vectors []float64) {
	values, vectors = make([]float64, n), make([]float64, n*n)
	largest := 0.0
	for _, x := range a[:n*n] {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		largest = 1
	}
	// a over its largest entry has eigenvalues of at most n, so the sum with this is positive
	// definite
	shift := 2 * float64(n)
	w, norms, order := make([]float64, n*n), make([]float64, n), make([]int, n)
	for i, x := range a[:n*n] {
		w[i] = x / largest
	}
	for i := range n {
		w[i*n+i] += shift
		order[i] = i
	}
	Orthogonalize(w, n, norms)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(norms[i], norms[j]) })
	for c, from := range order {
		values[c] = (norms[from] - shift) * largest
		for i := range n {
			vectors[i*n+c] = w[from*n+i] / norms[from]
		}
	}
	return values, vectors
}

// Turn rotates two rows.
func Turn(a, b []float64, c, s float64) {
	for i, v := range a {
		a[i], b[i] = c*v-s*b[i], s*v+c*b[i]
	}
}
