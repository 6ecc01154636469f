package noise

import "math/bits"

// Uniform returns an integer that is uniform on {0, .., n-1}, for secret buckets,
// shuffles and picks. It panics if n is 0.
//
// Exact, because of 2^64 = n q + r with r = 2^64 mod n: for a word w, the high half
// of the 128-bit product w n is the result and the low half says where within its
// interval of 2^64 products the multiple of n fell. Every interval holds q or q+1
// multiples, and exactly q whose low half is >= r; keeping those only leaves each
// result with q words.
//
// Source: [LEMIRE19] Algorithm 5.
func Uniform(src Source, n uint64) uint64 {
	if n == 0 {
		panic("noise: Uniform wants n ≥ 1, got 0")
	}
	hi, lo := bits.Mul64(src.Uint64(), n)
	if lo < n { // r < n, so the division is seldom needed
		for r := -n % n; lo < r; {
			hi, lo = bits.Mul64(src.Uint64(), n)
		}
	}
	return hi
}

// Tag returns a uniform 64-bit word, for keys that must not collide: among t
// tags, some two are equal with probability at most t^2/2^65.
func Tag(src Source) uint64 { return src.Uint64() }
