package noise

import (
	"fmt"
	"math"
	"math/bits"
)

// MinRate is the least rate that DiscreteLaplace takes, 2^-48.
//
// A result of magnitude 2^60 or more then has probability below e^(-2^12) < 2^-5900.
const MinRate = 0x1p-48

// DiscreteLaplace draws an integer j with probability proportional to e^(-gamma|j|), that is
//
//	P(j) = (e^gamma - 1)/(e^gamma + 1) e^(-gamma|j|), exactly.
//
// gamma is any finite float64 of at least MinRate, taken as the dyadic rational that it
// is. To an integer answer a of L1 sensitivity S it gives gamma S-DP: the ratio of
// probabilities of a result r is e^(gamma(|r-a'| - |r-a|)) <= e^(gamma|a-a'|) in each
// coordinate.
//
// Exact: of all pairs of a sign and a magnitude, each magnitude y has probability
// proportional to e^(-gamma y) with either sign; throwing (-, 0) away leaves every integer once.
//
// DiscreteLaplace panics if gamma is NaN, infinite or below MinRate.
//
// Source: [CKS20] Algorithm 2 of the paper on the discrete Gaussian.
// Differs: the block length of the magnitude is the power of two next to 1/gamma, so that
// any float64 gamma can be taken, not the denominator of a rational one.
func DiscreteLaplace(src Source, gamma float64) int64 {
	if !(gamma >= MinRate && gamma <= math.MaxFloat64) {
		panic(fmt.Sprintf("noise: DiscreteLaplace wants a finite γ ≥ 2^-48, got %v", gamma))
	}
	for {
		y := geometric(src, gamma)
		if src.Uint64()>>63 == 0 {
			return int64(y)
		}
		if y != 0 {
			return -int64(y)
		}
	}
}

// geometric returns y with probability e^(-gamma y) (1 - e^(-gamma)).
//
// Exact: with T = 2^s, y = T v + u for one v >= 0 and one u in [0, T), and
// e^(-gamma y) = e^(-gamma T v) e^(-gamma u). v counts how often a coin of probability e^(-gamma T)
// was true before it first was false; u is uniform, kept with probability e^(-gamma u)
// and drawn afresh otherwise. 1 <= gamma T < 2 if gamma < 1, so that neither takes long.
func geometric(src Source, gamma float64) uint64 {
	s := uint(0)
	if _, e := math.Frexp(gamma); gamma < 1 {
		s = uint(1 - e) // 2^(e-1) <= gamma < 2^e, and e <= 0
	}
	// that it reaches 2^15, where y below may not fit an int64, has probability below e^(-2^15)
	var v uint64
	for expMinus(src, gamma, 1<<s) {
		v++
	}
	for {
		u := src.Uint64() & (1<<s - 1)
		if expMinus(src, gamma, u) {
			return v<<s + u
		}
	}
}

// Exponential draws an index i with probability proportional to e^(gamma * scores[i]), exactly.
//
// Exact: a uniform index is kept with probability e^(-gamma(max - scores[i])) and drawn
// afresh otherwise. How many are drawn depends on the scores, on average at most
// len(scores) of them: this is the one function here whose time depends on data (see
// the package comment). gamma is any finite float64 >= 0; it panics on others and on no
// scores.
func Exponential(src Source, gamma float64, scores []int64) int {
	best := scores[0]
	for _, q := range scores {
		best = max(best, q)
	}
	for {
		i := Uniform(src, uint64(len(scores)))
		if expMinus(src, gamma, uint64(best)-uint64(scores[i])) {
			return int(i)
		}
	}
}

// expMinus returns true with probability e^(-gamma k), exactly, for any finite float64 gamma >= 0,
// taken as the dyadic rational that it is, and any integer k >= 0. It panics on other gamma.
//
// Exact: gamma k = n + x with an integer n and 0 <= x < 1, computed without rounding: n draws of
// probability e^(-1) and one of probability e^(-x) must all be true. (An n beyond 2^64 counts as
// 2^64-1: that so many draws are true has probability e^(-2^64).)
//
// Source: [CKS20] Algorithm 1 of the paper on the discrete Gaussian.
// Differs: e^(-x) by von Neumann's runs of uniform deviates, as in [KARNEY16] Algorithm H.
func expMinus(src Source, gamma float64, k uint64) bool {
	if !(gamma >= 0 && gamma <= math.MaxFloat64) {
		panic(fmt.Sprintf("noise: expMinus wants a finite γ ≥ 0, got %v", gamma))
	}
	if gamma == 0 || k == 0 {
		return true
	}
	m, e := dyadic(gamma)
	hi, lo := bits.Mul64(m, k)
	n, x := split(hi, lo, e)
	for range n {
		if !evenRun(src, newDeviate(src)) { // x = 1, and u1 < 1
			return false
		}
	}
	u := newDeviate(src)
	return !below(&u, src, x) || evenRun(src, u)
}

// evenRun reports whether the longest run x > u1 > .. > u_N of independent uniforms has an even
// length, given u = u1 < x.
//
// For any n the event x > u1 > .. > u_n has probability x^n/n!, so, with N = 0 where u1 >= x, which
// is even too, N is even with probability sum (-x)^n/n! = e^(-x).
func evenRun(src Source, u Deviate) bool {
	for even := false; ; even = !even {
		v := newDeviate(src)
		if !v.Less(src, &u) {
			return even
		}
		u = v
	}
}

// below reports whether u < x, for x = 0.x[0] x[1] .., in base 2^64, with zeros after its last
// digit. Exact: where all digits of x are met, the rest of u is not negative, so u >= x.
func below(u *Deviate, src Source, x []uint64) bool {
	for i, d := range x {
		c := u.Head
		if i > 0 {
			c = u.Digit(src, i-1)
		}
		if c != d {
			return c < d
		}
	}
	return false
}

// split returns the integer part of (hi 2^64 + lo) 2^e, at most 2^64-1, and the digits of the
// fraction in base 2^64.
//
// Digit i >= 0 of the fraction holds the bits of weights 2^(-64i-1) to 2^(-64(i+1)), the integer
// part those of 2^63 to 1; bit j of hi:lo has the weight 2^(j+e). Hence digit i is the 64 bits of
// hi:lo from -64(i+1)-e on, the integer part those from -e on.
func split(hi, lo uint64, e int) (n uint64, x []uint64) {
	from := func(j int) uint64 { // zeros outside hi:lo; in Go, shifts by 64 and more give 0
		switch {
		case j < 0:
			return lo << -j
		case j < 64:
			return lo>>j | hi<<(64-j)
		}
		return hi >> (j - 64)
	}
	n = from(-e)
	if size := bits.Len64(hi); size > 0 && size+e > 0 || size == 0 && bits.Len64(lo)+e > 64 {
		n = math.MaxUint64
	}
	for i := 0; 64*i < -e; i++ {
		x = append(x, from(-64*(i+1)-e))
	}
	return n, x
}

// TruncatedLaplace draws an integer j with probability proportional to e^(-gamma|j|) on {-most, ..,
// most}, exactly: a discrete Laplace variable, drawn afresh until it lies there. How often is a
// matter of gamma and most alone, with probability 1 - e^(-gamma(most+1)) 2/(1+e^(-gamma)) each
// time. It panics where DiscreteLaplace does, and if most is negative.
func TruncatedLaplace(src Source, gamma float64, most int64) int64 {
	if most < 0 {
		panic(fmt.Sprintf("noise: TruncatedLaplace wants a reach of at least 0, got %d", most))
	}
	for {
		if j := DiscreteLaplace(src, gamma); -most <= j && j <= most {
			return j
		}
	}
}
