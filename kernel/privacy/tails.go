package privacy

import (
	"math"
)

// QuantileUp returns a q with P(X >= q) <= exp(logTail) for a standard Gaussian X: by bisection on
// math.Erfc, which is good to a relative error far below the margin left here (math.Erfcinv is not:
// it computes Erfinv(1-x)), or, where the tail is close to underflow, Chernoff's bound P(X >= q) <=
// exp(-q^2/2).
func QuantileUp(logTail float64) float64 {
	if logTail <= -600 {
		return SqrtUp(-2 * logTail * (1 + 1e-12))
	}
	tail := math.Exp(logTail) * (1 - 1e-9)
	low, high := 0.0, 40.0
	for range 64 {
		if q := (low + high) / 2; math.Erfc(q/math.Sqrt2)/2 <= tail {
			high = q
		} else {
			low = q
		}
	}
	return high
}

// Threshold returns a T with P(rows + round(sigma X) >= T) <= exp(logTail).
func Threshold(rows, sigma, logTail float64) float64 {
	return rows + 1 + math.Ceil(MulUp(sigma, QuantileUp(logTail)))
}
