package dense

// Mul is the product of a, n x m, and b, m x p.
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

// AddSquare adds scale times v v' to the lower triangle of the leading block of a, n x n, that is
// as large as v.
func AddSquare(a, v []float64, n int, scale float64) {
	for i, x := range v {
		x *= scale
		row := a[i*n : i*n+i+1]
		for j, y := range v[:i+1] {
			row[j] += x * y
		}
	}
}
