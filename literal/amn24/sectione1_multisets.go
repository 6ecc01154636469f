package amn24

import "math"

// multisets returns all multisets of m elements of 0..points-1, each as its counts, in
// lexicographic order: C(points+m-1, m) of them.
func multisets(points, m int) (all [][]int) {
	counts := make([]int, points)
	var place func(at, left int)
	place = func(at, left int) {
		if at == points-1 {
			counts[at] = left
			all = append(all, append([]int(nil), counts...))
			return
		}
		for c := range left + 1 {
			counts[at] = c
			place(at+1, left-c)
		}
	}
	place(0, m)
	return all
}

// choose returns C(n, k) as a float64.
func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return math.Round(c)
}

// changes returns how many elements must be replaced to make b of a, multisets of one size; beyond
// most any number that is.
func changes(a, b []int, most int) int {
	n := 0
	for i, v := range a {
		if n += max(0, v-b[i]); n > most {
			break
		}
	}
	return n
}

// eachSubset calls f with all multisets z <= y of the given size, and the number of subsets of the
// elements of y that look like it. It reuses z.
func eachSubset(y []int, size int, f func(z []int, ways float64)) {
	z := make([]int, len(y))
	var place func(at, left int, ways float64)
	place = func(at, left int, ways float64) {
		if at == len(y) {
			if left == 0 {
				f(z, ways)
			}
			return
		}
		for c := 0; c <= min(left, y[at]); c++ {
			z[at] = c
			place(at+1, left-c, ways*choose(y[at], c))
		}
		z[at] = 0
	}
	place(0, size, 1)
}
