package stattest

import (
	"math"
	"math/big"
)

// RoundedGaussian returns P(round(sigma X) = j) = Phi((j+1/2)/sigma) - Phi((j-1/2)/sigma) for
// X ~ N(0, 1), to a relative error of about 1e-12 as long as it is above 1e-300.
func RoundedGaussian(sigma float64, j int64) float64 {
	x := math.Abs(float64(j)) / sigma // middle of the cell
	h := 0.5 / sigma                  // half its width
	switch {
	case j == 0:
		return math.Erf(h / math.Sqrt2)
	case h*(1+x) < 0.02:
		// A difference would cancel: Taylor in h instead, where odd terms vanish and
		// the first one that is left out is below (h(1+x))^6/5040.
		x2, h2 := x*x, h*h
		series := 1 + h2/6*(x2-1) + h2*h2/120*(x2*x2-6*x2+3)
		return 2 * h * math.Exp(-x2/2) / math.Sqrt(2*math.Pi) * series
	default:
		return 0.5 * (math.Erfc((x-h)/math.Sqrt2) - math.Erfc((x+h)/math.Sqrt2))
	}
}

// RoundedGaussianCells returns the probabilities that round(sigma X) is below lo, equal
// to lo, lo+1, .., hi, and above hi: hi-lo+3 cells, as Tally counts them.
func RoundedGaussianCells(sigma float64, lo, hi int64) []float64 {
	probs := make([]float64, 0, hi-lo+3)
	probs = append(probs, RoundedGaussianCDF(sigma, float64(lo)-1))
	for j := lo; j <= hi; j++ {
		probs = append(probs, RoundedGaussian(sigma, j))
	}
	return append(probs, RoundedGaussianCDF(sigma, -float64(hi)-1))
}

// RoundedGaussianCDF returns P(round(sigma X) <= x) = Phi((⌊x⌋+1/2)/sigma).
func RoundedGaussianCDF(sigma, x float64) float64 {
	return 0.5 * math.Erfc(-(math.Floor(x)+0.5)/sigma/math.Sqrt2)
}

// Tally counts the draws that are below lo, equal to lo, lo+1, .., hi, and above hi:
// hi-lo+3 cells.
func Tally(draws []int64, lo, hi int64) []int {
	counts := make([]int, hi-lo+3)
	for _, j := range draws {
		counts[min(max(j, lo-1), hi+1)-lo+1]++
	}
	return counts
}

// bigPrec is the precision of BigPhi, in bits: 200 to give and the rest to lose to
// cancellation in its series, whose terms grow to e^(z^2/2).
const bigPrec = 1024

// BigPhi returns Phi(z), the distribution function of N(0, 1), to about 200 bits for
// |z| <= 30: a slow reference that shares no code with math.Erfc. Needs |z| <= 30.
//
// Formula: Phi(z) = 1/2 + (2 pi)^(-1/2) sum (-1)^n z^(2n+1)/(2^n n! (2n+1)).
func BigPhi(z *big.Float) *big.Float {
	num := func(x int64) *big.Float { return new(big.Float).SetPrec(bigPrec).SetInt64(x) }
	minusHalfZ2 := num(0).Mul(z, z)
	minusHalfZ2.Quo(minusHalfZ2, num(-2))
	sum, power := num(0), num(0).Set(z)
	for n := int64(0); ; n++ {
		term := num(0).Quo(power, num(2*n+1))
		sum.Add(sum, term)
		// Past the largest term, the next one bounds the rest.
		if term.Sign() == 0 || (n > 450 && term.MantExp(nil) < -300) {
			break
		}
		power.Mul(power, minusHalfZ2).Quo(power, num(n+1))
	}
	sum.Quo(sum, num(0).Sqrt(num(0).Mul(num(2), bigPi())))
	return sum.Add(sum, num(0).SetFloat64(0.5))
}

// bigPi returns pi, by Machin's formula 16 arctan(1/5) - 4 arctan(1/239).
func bigPi() *big.Float {
	one := new(big.Int).Lsh(big.NewInt(1), bigPrec+64)
	arctanInverse := func(x int64) *big.Int {
		sum, power := new(big.Int), new(big.Int).Quo(one, big.NewInt(x))
		for n := int64(0); power.Sign() != 0; n++ {
			sum.Add(sum, new(big.Int).Quo(power, big.NewInt((2*n+1)*(1-2*(n%2)))))
			power.Quo(power, big.NewInt(x*x))
		}
		return sum
	}
	pi := new(big.Int).Mul(arctanInverse(5), big.NewInt(16))
	pi.Sub(pi, new(big.Int).Mul(arctanInverse(239), big.NewInt(4)))
	f := new(big.Float).SetPrec(bigPrec).SetInt(pi)
	return f.SetMantExp(f, -(bigPrec + 64))
}
