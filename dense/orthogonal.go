package dense

// LQ returns the lower triangular L, n x n with a diagonal that is not negative, of a = L Q, where
// a is n x m and the rows of Q are orthonormal, or 0 where a's rows are dependent. It spoils a. Row
// by row backward stable: rows may be of very different sizes, of about 1e-150 to 1e150.
//
// By the modified method of Gram and Schmidt.
func LQ(a []float64, n, m int) []float64 { return LQBy(a, n, m, Norm) }

// LQBy returns LQ with rows measured by norm.
func LQBy(a []float64, n, m int, norm func([]float64) float64) []float64 {
	l := make([]float64, n*n)
	for j := range n {
		q := a[j*m : j*m+m]
		length := norm(q)
		l[j*n+j] = length
		for c := range q {
			if length != 0 {
				q[c] /= length
			}
		}
		for i := j + 1; i < n; i++ {
			l[i*n+j] = Reject(a[i*m:i*m+m], q)
		}
	}
	return l
}
