package dense

// Mul returns the product of a, n x m, and b, m x p.
func Mul(a, b []float64, n, m, p int) []float64 {
	out := make([]float64, n*p)
	for i := 0; i < n; i++ {
		row := out[i*p : i*p+p]
		for k, f := range a[i*m : i*m+m] {
			for c, x := range b[k*p : k*p+p] {
				row[c] += f * x
			}
		}
	}
	return out
}

// Identity returns the n x n identity.
func Identity(n int) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = 1
	}
	return a
}

// Gram returns a a', of a square a.
func Gram(a []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[i*n+j] = Dot(a[i*n:i*n+n], a[j*n:j*n+n])
		}
	}
	return out
}
