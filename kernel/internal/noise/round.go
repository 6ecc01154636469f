package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// roundScaled returns round(sigma(k+x)), saturated at 2^63-1, drawing more digits of x
// until the result is certain.
//
// Exact: let sigma = m 2^e, let x start with L digits that make the integer h, and
// lo = (k 2^(64L) + h) m, s = 64L - e. Then sigma(k+x) 2^s is a real number in
// [lo, lo+m), up to an event of probability 0, and so
//
//	⌊(lo + 2^(s-1))/2^s⌋ <= round(sigma(k+x)) <= ⌊(lo + m - 1 + 2^(s-1))/2^s⌋:
//
// when both sides agree, the result does not depend on the digits to come. They
// disagree with probability about sigma 2^(-64L).
func roundScaled(src Source, k uint64, x *Deviate, sigma float64) int64 {
	m, e := dyadic(sigma)
	if j, ok := roundWords(k, x.Head, m, e); ok {
		return j
	}
	return roundBig(src, k, x, m, e)
}

// roundWords returns roundScaled with L = 1 in 128 bits, for k < 2^10 and sigma < 2^53; ok is false
// where it cannot decide.
func roundWords(k, head, m uint64, e int) (j int64, ok bool) {
	if k >= 1<<10 || e > 0 {
		return 0, false
	}
	s := uint(64 - e)
	// lo + m <= (k+1) 2^64 m < 2^127: nothing below overflows 128 bits, nor j an int64.
	if s >= 128 {
		return 0, true // sigma(k+x) < 2^(127-s) <= 1/2
	}
	hi, lo := bits.Mul64(head, m)
	hi += k * m
	// Plus 2^(s-1), of which one word is 0: in Go, 1<<n is 0 for n >= 64.
	lo, carry := bits.Add64(lo, 1<<(s-1), 0)
	hi += carry + 1<<(s-65)
	_, carry = bits.Add64(lo, m-1, 0)
	low, high := hi>>(s-64), (hi+carry)>>(s-64)
	return int64(low), low == high
}

// roundBig returns roundScaled for every k and sigma, starting with the digits that x has.
func roundBig(src Source, k uint64, x *Deviate, m uint64, e int) int64 {
	width := new(big.Int).SetUint64(m)
	digits := new(big.Int).SetUint64(k)
	appendDigit := func(d uint64) { digits.Lsh(digits, 64).Or(digits, new(big.Int).SetUint64(d)) }
	for _, d := range append([]uint64{x.Head}, x.tail...) {
		appendDigit(d)
	}
	for l := 1 + len(x.tail); ; l++ {
		s := uint(64*l - e)
		low := new(big.Int).Lsh(big.NewInt(1), s-1)
		low.Add(low, new(big.Int).Mul(digits, width))
		high := new(big.Int).Add(low, width)
		high.Sub(high, big.NewInt(1))
		if low.Rsh(low, s).Cmp(high.Rsh(high, s)) == 0 {
			if !low.IsInt64() {
				return math.MaxInt64
			}
			return low.Int64()
		}
		appendDigit(x.Digit(src, l-1))
	}
}
