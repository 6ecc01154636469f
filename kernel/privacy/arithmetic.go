package privacy

import "math"

// The helpers below are IEEE operations rounded in the direction of their name, exactly: the result
// is the nearest floating-point number on that side, hence the exact result itself whenever it can
// be represented. That matters: spending exactly what is left must not be refused.
//
// Method: round to nearest, find the sign of the rounding error (two-sum for +, a fused
// multiply-add for *, / and sqrt), and step to the neighbouring number if the result lies on the
// wrong side. Where the error term itself may underflow (results under tiny) they always step. NaN
// gives NaN, which every comparison in this package refuses.

// tiny bounds the results whose rounding error is surely representable: 2^-960 > 2^-1022*2^53.
const tiny = 0x1p-960

func up(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// AddUp returns x + y rounded up.
func AddUp(x, y float64) float64 {
	s := x + y
	b := s - x
	if (x-(s-b))+(y-b) > 0 { // x + y - s, exactly (Knuth's two-sum)
		return up(s)
	}
	return s
}

// SubDown returns x - y rounded down.
func SubDown(x, y float64) float64 { return -AddUp(-x, y) }

// MulUp returns x y rounded up.
func MulUp(x, y float64) float64 {
	p := x * y
	if x != 0 && y != 0 && (math.Abs(p) < tiny || math.FMA(x, y, -p) > 0) {
		return up(p)
	}
	return p
}

// MulDown returns x y rounded down.
func MulDown(x, y float64) float64 { return -MulUp(-x, y) }

// DivUp returns x/y rounded up. It panics if y is not positive.
func DivUp(x, y float64) float64 {
	if !(y > 0) {
		panic("privacy: DivUp: the divisor must be positive")
	}
	q := x / y
	if x != 0 && (math.Abs(q) < tiny || math.Abs(x) < tiny || math.FMA(-q, y, x) > 0) {
		return up(q)
	}
	return q
}

// DivDown returns x/y rounded down. It panics if y is not positive.
func DivDown(x, y float64) float64 { return -DivUp(-x, y) }

// SqrtUp returns sqrt x rounded up, NaN if x < 0.
func SqrtUp(x float64) float64 { return root(x, 1) }

// SqrtDown returns sqrt x rounded down, NaN if x < 0.
func SqrtDown(x float64) float64 { return root(x, -1) }

// root returns sqrt x, or its neighbour on the given side unless sqrt x is surely on that side.
func root(x float64, side int) float64 {
	r := math.Sqrt(x)
	if x != 0 && (x < tiny || float64(side)*math.FMA(-r, r, x) > 0) {
		return math.Nextafter(r, math.Inf(side))
	}
	return r
}

// Safety returns a bound on the error of a computed logarithm x, many times larger than the true
// one.
//
// The logarithms computed here are sums of a few terms, none larger than a small multiple of |x|+1,
// each with a relative error of a few 2^-53, plus the logarithm of a quadrature whose relative
// error is under 2e-13. So the true error is under 2e-13 + |x| 2^-50, and Safety is at least 4
// times that.
func Safety(x float64) float64 { return 1e-12 + math.Abs(x)*0x1p-48 }

// Nodes of the trapezoidal rule in s = ln t: from -40 to 4 in steps of 1/16.
const (
	nodeStep  = 1.0 / 16
	nodeFirst = -40.0
	nodeLast  = 4.0
)

// nodes holds e^s for each node s.
var nodes = func() (t []float64) {
	for s := nodeFirst; s <= nodeLast; s += nodeStep {
		t = append(t, math.Exp(s))
	}
	return t
}()

// laplaceIntegral returns I(a, mu) = integral from 0 to Inf of e^(-at-t^2/2) (1 - e^(-mu t)) dt for
// a >= -1 and 0 < mu <= +Inf.
//
// With R(x) = Phi(-x)/phi(x) = integral from 0 to Inf of e^(-xt-t^2/2) dt (Mills' ratio) it is R(a)
// - R(a+mu), and R(a) if mu = +Inf. As an integral its terms are all positive, so nothing cancels,
// however close a+mu is to a.
//
// Error: relative, under 2e-13. Substitute t = e^s/(1+|a|) and use the trapezoidal rule with step
// h.
//   - Discretisation: the integrand w(s) is analytic in |Im s| <= pi/8. There |1-e^(-z)| <=
//     min(2,|z|) <= 2.32 (1-e^(-|z|)) for the rotated z = mu t, and the exponent is at most -a
//     cos(pi/8) |t| - cos(pi/4) |t|^2/2; rescaling |t| by sqrt cos(pi/4) gives integral of |w(s+i
//     theta)|ds <= 4 I, for every a >= -1. So the relative error is at most 8/(e^(2 pi(pi/8)/h) -
//     1) < 6e-17 ([TW14] Theorem 5.1).
//   - Cutting at s = -40 and s = 4 loses a share of at most 9 e^-40 and e^-50.
//   - Each exponential has an argument of at most 45 where its term matters: relative error 2^-47;
//     the sum of 705 positive terms adds at most 705*2^-53.
func laplaceIntegral(a, mu float64) float64 {
	scale := 1 / (1 + math.Abs(a))
	var sum float64
	for _, node := range nodes {
		t := node * scale
		sum += t * math.Exp(-t*(a+t/2)) * -math.Expm1(-mu*t)
	}
	return sum * nodeStep
}

var logSqrt2Pi = math.Log(2*math.Pi) / 2

// logUpperTail returns ln Phi(-x), to within Safety.
func logUpperTail(x float64) float64 {
	if x < 1 {
		return math.Log(math.Erfc(x/math.Sqrt2) / 2)
	}
	return -x*x/2 - logSqrt2Pi + math.Log(laplaceIntegral(x, math.Inf(1)))
}

// ThresholdQuantile returns z = Phi^-1(1-s), rounded up, for s given by its logarithm: Phi(-z) <=
// s.
//
// A stability threshold that may fail with probability s stands z noise standard deviations above
// the largest count that must be hidden. The logarithm keeps s meaningful where s itself underflows
// (epsilon in the thousands). It panics unless logS <= ln(1/2).
func ThresholdQuantile(logS float64) float64 {
	if !(logS <= -math.Ln2) {
		panic("privacy: ThresholdQuantile: the failure probability must be at most 1/2")
	}
	if math.IsInf(logS, -1) {
		return math.Inf(1)
	}
	return lastQuantile.of(logS, 0, func() float64 {
		return leastWhere(func(z float64) bool {
			l := logUpperTail(z)
			return l+Safety(l) <= logS
		})
	})
}

// LargestWhere returns a number x with ok(x): the largest, if ok changes once, from true to false.
// 0 needs no check.
func LargestWhere(ok func(float64) bool) float64 {
	x, _ := boundary(func(x float64) bool { return !ok(x) })
	return x
}

// leastWhere returns a number x >= 0 with ok(x): the least, if ok changes once, from false to true.
func leastWhere(ok func(float64) bool) float64 {
	if ok(0) {
		return 0
	}
	_, x := boundary(ok)
	if !ok(x) {
		panic("privacy: no solution below 1e20")
	}
	return x
}

// boundary returns two neighbouring numbers in [0, 1e20]: over is false at the first (or it is 0)
// and true at the second (or it is 1e20). It bisects on the bits of positive numbers, which are
// ordered as the numbers are.
func boundary(over func(float64) bool) (below, above float64) {
	lo, hi := uint64(0), math.Float64bits(1e20)
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; over(math.Float64frombits(mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return math.Float64frombits(lo), math.Float64frombits(hi)
}
