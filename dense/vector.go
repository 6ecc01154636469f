package dense

import "math"

// Dot returns the inner product of x and of as many entries of y.
func Dot(x, y []float64) float64 {
	s := 0.0
	y = y[:len(x):len(y)]
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// Norm2 returns the squared Euclidean norm.
func Norm2(x []float64) float64 { return Dot(x, x) }

// Norm returns the Euclidean norm. It is 0 below 1e-162 and infinite above 1e154; see SafeNorm.
func Norm(x []float64) float64 { return math.Sqrt(Dot(x, x)) }

// Reject subtracts from x its part along a unit vector, and returns the length of that part.
func Reject(x, unit []float64) float64 {
	s := Dot(x, unit)
	for i, v := range unit {
		x[i] -= s * v
	}
	return s
}

// Finite reports whether v is neither infinite nor NaN.
func Finite(v float64) bool { return v-v == 0 }

// AllFinite reports whether all numbers are Finite.
func AllFinite(xs []float64) bool {
	for _, x := range xs {
		if !Finite(x) {
			return false
		}
	}
	return true
}
