package dense

// Dot is the inner product of x and of as many entries of y.
func Dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// Norm2 is the squared Euclidean norm.
func Norm2(v []float64) float64 {
	t := 0.0
	for _, x := range v {
		t += x * x
	}
	return t
}

// Finite says whether v is neither infinite nor NaN.
func Finite(v float64) bool { return v-v == 0 }

// AllFinite says whether all numbers are Finite.
func AllFinite(xs []float64) bool {
	for _, x := range xs {
		if !Finite(x) {
			return false
		}
	}
	return true
}
