package dense

import (
	"math"
	"slices"
)

// Simplex returns the vector of that sum without negative numbers that is nearest to noisy ones, in
// units of their sds.
func Simplex(rows, sds []float64, total float64) []float64 {
	sum := func(t float64) (s float64) {
		for i, n := range rows {
			s += math.Max(0, n-t*sds[i]*sds[i])
		}
		return s
	}
	low, high := 0.0, 0.0
	for i, n := range rows {
		v := sds[i] * sds[i]
		low = math.Min(low, -(total+math.Abs(n))/v)
		high = math.Max(high, (math.Abs(n)+1)/v)
	}
	for range 100 {
		if mid := low/2 + high/2; sum(mid) > total {
			low = mid
		} else {
			high = mid
		}
	}
	out, all := make([]float64, len(rows)), sum(high)
	for i, n := range rows {
		switch {
		case all > 0:
			out[i] = math.Max(0, n-high*sds[i]*sds[i]) * total / all
		case n == slices.Max(rows):
			out[i] = total
		}
	}
	return out
}
