package privacy

import "math"

// The helpers below are IEEE operations rounded in the direction of their name, exactly: the result
// is the nearest floating-point number on that side, hence the exact result itself whenever it can
// be represented. That matters: spending exactly what is left must not be refused.
//
// Method: round to nearest, find the sign of the rounding error (two-sum for +, a fused
// multiply-add for ·, / and √), and step to the neighbouring number if it lies on the wrong side.
// Where the error term itself may underflow (results under tiny) they step always. NaN gives NaN,
// which every comparison in this package refuses.

// tiny bounds the results whose rounding error is surely representable: 2^-960 > 2^-1022·2^53.
const tiny = 0x1p-960

func up(x float64) float64   { return math.Nextafter(x, math.Inf(1)) }
func down(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

// AddUp returns x + y rounded up.
func AddUp(x, y float64) float64 {
	s := x + y
	b := s - x
	if (x-(s-b))+(y-b) > 0 { // x + y − s, exactly (Knuth's two-sum)
		return up(s)
	}
	return s
}

// AddDown returns x + y rounded down.
func AddDown(x, y float64) float64 { return -AddUp(-x, -y) }

// SubDown returns x − y rounded down.
func SubDown(x, y float64) float64 { return AddDown(x, -y) }

// MulUp returns x·y rounded up.
func MulUp(x, y float64) float64 {
	p := x * y
	if x != 0 && y != 0 && (math.Abs(p) < tiny || math.FMA(x, y, -p) > 0) {
		return up(p)
	}
	return p
}

// MulDown returns x·y rounded down.
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

// SqrtUp returns √x rounded up, NaN if x < 0.
func SqrtUp(x float64) float64 {
	r := math.Sqrt(x)
	if x != 0 && (x < tiny || math.FMA(-r, r, x) > 0) {
		return up(r)
	}
	return r
}

// SqrtDown returns √x rounded down, NaN if x < 0.
func SqrtDown(x float64) float64 {
	r := math.Sqrt(x)
	if x != 0 && (x < tiny || math.FMA(-r, r, x) < 0) {
		return down(r)
	}
	return r
}
