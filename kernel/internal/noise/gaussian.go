package noise

import (
	"fmt"
	"math"
)

// maxSigma is the largest sigma that Round takes, 2^55.
//
// A result outside int64 then needs |X| >= 2^8, which has probability below
// 2^-47000; see Round for what happens then.
const maxSigma = 1 << 55

// Gaussian draws from an ideal Gaussian, rounded to integers.
//
// Not safe for concurrent use, as its Source is not.
type Gaussian struct {
	src   Source
	coins uint64 // Invariant: the low toss bits are uniform and unused, the rest is zero.
	toss  int
}

// NewGaussian returns a sampler that takes its words from src.
func NewGaussian(src Source) *Gaussian { return &Gaussian{src: src} }

// Forget discards the coins and the entropy that are drawn and not used, so that the next draws
// come from fresh entropy of the operating system. Sessions call it before every measurement: a
// copy of the memory made between two measurements (a restored virtual machine) then shares no
// noise with its original.
//
// Every word is independent of all others, so no law changes. A source of another type, which a
// test brings, is left as it is.
func (g *Gaussian) Forget() {
	if e, ok := g.src.(*Entropy); ok {
		*e, *g = Entropy{}, Gaussian{src: e}
	}
}

// Round returns round(sigma X) for X ~ N(0, 1), with round to the nearest integer
// (ties have probability 0), in units of the caller's grid:
//
//	P(Round(sigma) = j) = Phi((j+1/2)/sigma) - Phi((j-1/2)/sigma), exactly.
//
// sigma is any float64 in (0, maxSigma], taken as the dyadic rational that it is. The
// magnitude saturates at 2^63-1. Rounding and saturation are functions of sigma X alone,
// so whatever privacy the ideal Gaussian gives to an integer answer, the sum of
// the answer and this noise has too: round(a + sigma X) = a + round(sigma X) for integers a.
//
// Round panics if sigma is NaN, infinite, zero, negative or above maxSigma.
//
// Source: [KARNEY16] Algorithm N.
// Differs: instead of copying digits to the result, k + x is scaled by sigma in integer
// arithmetic, with as many digits of x as make the rounding certain.
func (g *Gaussian) Round(sigma float64) int64 {
	if !(sigma > 0 && sigma <= maxSigma) {
		panic(fmt.Sprintf("noise: Round wants 0 < σ ≤ 2^55, got %v", sigma))
	}
	k, x := g.halfNormal()
	j := roundScaled(g.src, k, &x, sigma)
	if g.coin() {
		return -j
	}
	return j
}

// halfNormal returns an integer k and a deviate x with k + x distributed as |X|,
// X ~ N(0, 1).
//
// Exact: a round proposes k with probability proportional to e^(-k/2), keeps it with probability
// e^(-k(k-1)/2), draws x uniformly and keeps both with probability e^(-x(2k+x)/2).
// The exponents add up to -(k+x)^2/2, so the pair that is kept has a density
// proportional to e^(-(k+x)^2/2) on {0, 1, ..} x [0, 1]; k+x covers [0, Inf) once. A round that
// fails starts afresh, which does not change this law; one in about two succeeds.
func (g *Gaussian) halfNormal() (uint64, Deviate) {
	for {
		k := g.geometric()
		if !g.allHalf(k) {
			continue
		}
		x := newDeviate(g.src)
		if g.keep(k, &x) {
			return k, x
		}
	}
}

// geometric returns k with probability e^(-k/2) (1 - e^(-1/2)): how often
// expHalf was true before it first was false. (That k reaches 2^32, where integers
// below would overflow, has probability below 2^(-3*10^9).)
func (g *Gaussian) geometric() (k uint64) {
	for g.expHalf() {
		k++
	}
	return k
}

// allHalf returns true with probability e^(-k(k-1)/2): k(k-1) independent draws
// of expHalf are all true.
func (g *Gaussian) allHalf(k uint64) bool {
	for range k * (k - 1) { // none for k = 0 either
		if !g.expHalf() {
			return false
		}
	}
	return true
}

// keep returns true with probability e^(-x(2k+x)/2), given x: k+1 independent
// draws of expPart are all true.
func (g *Gaussian) keep(k uint64, x *Deviate) bool {
	for range k + 1 {
		if !g.expPart(k, x) {
			return false
		}
	}
	return true
}

// expHalf returns true with probability e^(-1/2).
//
// Exact (von Neumann): for independent uniforms u1, u2, .., the event
// 1/2 > u1 > .. > u_n has probability (1/2)^n/n!, as one of the n! orders of n uniforms
// below 1/2. The number N of uniforms in the longest such run is even with
// probability sum (-1/2)^n/n! = e^(-1/2).
//
// Source: [KARNEY16] Algorithm H.
func (g *Gaussian) expHalf() bool {
	if g.coin() { // u1 >= 1/2
		return true
	}
	last := Deviate{Head: g.src.Uint64() >> 1} // u1, given that its first bit is 0
	for even := false; ; even = !even {
		u := newDeviate(g.src)
		if !u.Less(g.src, &last) {
			return even
		}
		last = u
	}
}

// expPart returns true with probability e^(-x (2k+x)/(2k+2)), given x.
//
// Exact, as expHalf: a run x > u1 > .. > u_n has probability x^n/n!; with an
// independent event of probability q = (2k+x)/(2k+2) at each of its steps it has
// (xq)^n/n!, and its length is even with probability sum (-xq)^n/n! = e^(-xq).
//
// Source: [KARNEY16] Algorithm B.
func (g *Gaussian) expPart(k uint64, x *Deviate) bool {
	last := x // not a copy: digits of x that are drawn here must stay drawn
	var u, v Deviate
	for even := true; ; even = !even {
		u = newDeviate(g.src)
		if !u.Less(g.src, last) || !g.step(k, x) {
			return even
		}
		v = u
		last = &v
	}
}

// step returns true with probability (2k+x)/(2k+2), given x: out of 2k+2 equally
// likely cases, 2k are true, one is false and one is true when a fresh uniform is
// below x.
//
// Source: [KARNEY16] Algorithm C.
func (g *Gaussian) step(k uint64, x *Deviate) bool {
	switch Uniform(g.src, 2*k+2) {
	case 0:
		return false
	case 1:
		u := newDeviate(g.src)
		return u.Less(g.src, x)
	default:
		return true
	}
}

// coin returns true with probability 1/2. It spends one word on 64 tosses, because
// words of entropy are most of the cost of a draw.
func (g *Gaussian) coin() bool {
	if g.toss == 0 {
		g.coins, g.toss = g.src.Uint64(), 64
	}
	heads := g.coins&1 == 1
	g.coins >>= 1
	g.toss--
	return heads
}

// dyadic returns integers m < 2^53 and e with sigma = m 2^e, for a finite sigma > 0.
func dyadic(sigma float64) (m uint64, e int) {
	const fractionBits = 52
	b := math.Float64bits(sigma)
	m, e = b&(1<<fractionBits-1), int(b>>fractionBits)
	if e == 0 { // subnormal: no implicit leading one
		return m, -1074
	}
	return m | 1<<fractionBits, e - 1075
}
