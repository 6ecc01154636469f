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
