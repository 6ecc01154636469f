package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// roundRat is round(sigma(k + x)) in rationals, for an x all of whose digits are given,
// with ties upwards; sure is false if digits below them could change it.
func roundRat(k uint64, digits []uint64, sigma float64) (j int64, sure bool) {
	x, unit := new(big.Rat), big.NewRat(1, 1)
	base := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64))
	for _, d := range digits {
		unit.Quo(unit, base)
		x.Add(x, new(big.Rat).Mul(unit, new(big.Rat).SetInt(new(big.Int).SetUint64(d))))
	}
	x.Add(x, new(big.Rat).SetInt(new(big.Int).SetUint64(k)))
	s := new(big.Rat).SetFloat64(sigma)
	scale := func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, s) }
	half := big.NewRat(1, 2)
	low := new(big.Rat).Add(scale(x), half)
	high := new(big.Rat).Add(scale(new(big.Rat).Add(x, unit)), half)
	floor := new(big.Int).Div(low.Num(), low.Denom())
	// The upper end itself is not reached: a result that starts there does not count.
	ceil := new(big.Int).Div(new(big.Int).Sub(new(big.Int).Add(high.Num(), high.Denom()), big.NewInt(1)), high.Denom())
	sure = new(big.Int).Sub(ceil, floor).Cmp(big.NewInt(1)) <= 0
	if !floor.IsInt64() {
		return math.MaxInt64, sure
	}
	return floor.Int64(), sure
}

// scales returns sigma's of all sizes: all exponents, random and extreme fractions.
func scales(rng *rand.Rand) (sigmas []float64) {
	for e := -1074; e <= 55; e++ {
		step := 1 + rng.Float64()
		if e == 55 {
			step = 1
		}
		sigmas = append(sigmas, math.Ldexp(step, e))
		sigmas = append(sigmas, math.Nextafter(math.Ldexp(1, e), 0))
	}
	for len(sigmas) < 4000 { // where rounding is not trivial
		sigmas = append(sigmas, math.Ldexp(1+rng.Float64(), rng.IntN(68)-13))
	}
	kept := sigmas[:0]
	for _, s := range sigmas {
		if s > 0 && s <= maxSigma {
			kept = append(kept, s)
		}
	}
	return kept
}

// TestRoundScaled compares the roundings in words and in big integers with one in
// rationals, on random digits and on digits next to a tie.
func TestRoundScaled(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 0))
	inWords, undecided := 0, 0
	for _, sigma := range scales(rng) {
		m, e := dyadic(sigma)
		if math.Ldexp(float64(m), e) != sigma {
			t.Fatalf("dyadic(%v) = %d·2^%d", sigma, m, e)
		}
		k := uint64(rng.IntN(9))
		if sigma < 0.25 && sigma > 1e-5 { // a k that does not make it 0 at once
			k = rng.Uint64N(uint64(2 / sigma))
		} else if rng.IntN(20) == 0 {
			k = rng.Uint64N(1 << 12)
		}
		heads := []uint64{0, 1, math.MaxUint64, rng.Uint64()}
		for _, head := range append(heads, nextToTie(rng, k, sigma)...) {
			digits := []uint64{head, rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}
			if checkWords(t, k, digits, sigma) {
				inWords++
			} else {
				undecided++
			}
			checkBig(t, k, digits, sigma)
		}
	}
	t.Logf("%d roundings decided in words, %d not", inWords, undecided)
	if inWords < 5000 || undecided < 1000 {
		t.Errorf("%d roundings decided in words, %d not: want many of both", inWords, undecided)
	}
}

// checkWords checks that roundWords is right, and decides just when it can.
func checkWords(t *testing.T, k uint64, digits []uint64, sigma float64) (decided bool) {
	t.Helper()
	want, sure := roundRat(k, digits[:1], sigma)
	m, e := dyadic(sigma)
	got, ok := roundWords(k, digits[0], m, e)
	if can := sure && k < 1<<10 && sigma < 1<<53; ok != can {
		t.Fatalf("in words: round(%v·(%d + 0.%#x)): decided is %v, want %v", sigma, k, digits[:1], ok, can)
	}
	if ok && got != want {
		t.Fatalf("in words: round(%v·(%d + 0.%#x)) = %d, want %d", sigma, k, digits[:1], got, want)
	}
	return ok
}

// checkBig checks that roundBig and roundScaled are right and draw no digit more
// than they must, whether or not some are there already.
func checkBig(t *testing.T, k uint64, digits []uint64, sigma float64) {
	t.Helper()
	needed := 1
	want, sure := roundRat(k, digits[:1], sigma)
	for !sure && needed < len(digits) {
		needed++
		want, sure = roundRat(k, digits[:needed], sigma)
	}
	if !sure {
		t.Fatalf("the reference itself is not sure: k = %d, digits %x, σ = %v", k, digits, sigma)
	}
	m, e := dyadic(sigma)
	src, x := script(digits[1:]), Deviate{Head: digits[0]}
	if got := roundBig(&src, k, &x, m, e); got != want || len(x.tail) != needed-1 {
		t.Fatalf("in big integers: round(%v·(%d + 0.%#x)) = %d from %d digits, want %d from %d",
			sigma, k, digits, got, 1+len(x.tail), want, needed)
	}
	src, x = script(digits[2:]), Deviate{Head: digits[0], tail: digits[1:2:2]}
	if got := roundScaled(&src, k, &x, sigma); got != want || len(x.tail) > max(needed-1, 1) {
		t.Fatalf("round(%v·(%d + 0.%#x)) = %d from %d digits, want %d from %d",
			sigma, k, digits, got, 1+len(x.tail), want, needed)
	}
}

// nextToTie returns heads around an x with sigma(k + x) = j + 1/2, if there is one.
func nextToTie(rng *rand.Rand, k uint64, sigma float64) []uint64 {
	lo, hi := sigma*float64(k), sigma*float64(k+1)
	j := math.Floor(lo+rng.Float64()*(hi-lo)) + 0.5
	x := new(big.Rat).SetFloat64(j)
	x.Quo(x, new(big.Rat).SetFloat64(sigma))
	x.Sub(x, new(big.Rat).SetInt(new(big.Int).SetUint64(k)))
	x.Mul(x, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64)))
	head := new(big.Int).Div(x.Num(), x.Denom())
	if !head.IsUint64() {
		return nil
	}
	h := head.Uint64() // the tie is in [h, h+1)
	return []uint64{h - 1, h, h + 1}
}

// TestRoundSaturates: |k + x| >= 2^8 is beyond int64 at the largest sigma.
func TestRoundSaturates(t *testing.T) {
	for _, k := range []uint64{1 << 8, 1<<8 + 1, 1 << 20, 1 << 40} {
		src, x := script{1, 2}, Deviate{Head: 5}
		if got := roundScaled(&src, k, &x, maxSigma); got != math.MaxInt64 {
			t.Errorf("k = %d: %d, want 2⁶³−1", k, got)
		}
	}
	// (2^8 - 2^-54) 2^55 = 2^63 - 2.
	src, x := script{1, 2}, Deviate{Head: math.MaxUint64 - 1023}
	if got := roundScaled(&src, 1<<8-1, &x, maxSigma); got != math.MaxInt64-1 {
		t.Errorf("%d, want 2⁶³−2", got)
	}
}

func TestRoundPanics(t *testing.T) {
	g := NewGaussian(NewSeeded(0))
	for _, sigma := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.Nextafter(maxSigma, math.Inf(1))} {
		t.Run(fmt.Sprint(sigma), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("want a panic")
				}
			}()
			g.Round(sigma)
		})
	}
}
