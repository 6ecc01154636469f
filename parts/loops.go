package parts

import "math"

// Upto returns the numbers 0, 1, .., n-1.
func Upto(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Map returns what f makes of every element.
func Map[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// Sum returns that of f over the elements, in their order.
func Sum[T any](list []T, f func(T) float64) (sum float64) {
	for _, x := range list {
		sum += f(x)
	}
	return sum
}

// Least narrows [low, high] by geometric means, until its ends differ by that ratio, around the
// place from which on enough is true; there or a little above is its answer.
func Least(low, high, ratio float64, enough func(float64) bool) float64 {
	for high > ratio*low {
		if mid := math.Sqrt(low * high); enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// Bisect narrows an interval around the place where below, true on the left, becomes false.
func Bisect(low, high float64, halvings int, below func(float64) bool) (float64, float64) {
	for range halvings {
		if mid := low/2 + high/2; below(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low, high
}
