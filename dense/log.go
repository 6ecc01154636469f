package dense

import (
	"fmt"
	"math"
)

// A Log is the monotone map under which a column of logarithms is fitted: log(1 + (x - Least) /
// Shift), or, where values have a Most, log((x - Least + Shift) / (Most - x + Shift)). The zero Log
// maps nothing.
type Log struct {
	Least float64
	Most  float64 // +Inf where there is none
	Shift float64 // positive
}

// LogOf returns the map of a column with these limits, most +Inf for none, that is recorded in this
// unit, 0 if unknown. The shift is the unit; where that is unknown, 1, or a hundredth of the way
// from least to most if that is less.
func LogOf(least, most, unit float64) Log {
	if unit == 0 {
		unit = math.Min(1, (most/100 - least/100))
	}
	return Log{Least: least, Most: most, Shift: unit}
}

// Maps reports whether l is a map.
func (l Log) Maps() bool { return l.Shift > 0 }

// To maps a value that is at least Least - Shift/2 and at most Most + Shift/2. NaN stays NaN.
func (l Log) To(x float64) float64 {
	if !math.IsInf(l.Most, 1) {
		return math.Log(x/2-l.Least/2+l.Shift/2) - math.Log(l.Most/2-x/2+l.Shift/2) // halves do not overflow
	}
	if q := x/l.Shift - l.Least/l.Shift; !math.IsInf(q, 1) || math.IsInf(x, 1) {
		return math.Log1p(q)
	}
	return math.Log(x/2-l.Least/2) - math.Log(l.Shift) + math.Ln2
}

// From returns the value that To maps to y, at most the largest number.
func (l Log) From(y float64) float64 {
	if !math.IsInf(l.Most, 1) {
		return l.Least - l.Shift + (l.Most-l.Least+2*l.Shift)/(1+math.Exp(-y))
	}
	return math.Min(math.MaxFloat64, l.Least+l.Shift*math.Expm1(y))
}

// Slope returns the derivative of To at x.
func (l Log) Slope(x float64) float64 {
	slope := 1 / (x - l.Least + l.Shift)
	if !math.IsInf(l.Most, 1) {
		slope += 1 / (l.Most - x + l.Shift)
	}
	return slope
}

// String returns the map as a formula of x.
func (l Log) String() string {
	switch {
	case !l.Maps():
		return "x"
	case !math.IsInf(l.Most, 1):
		return fmt.Sprintf("log((x%+g) / (%g - x))", l.Shift-l.Least, l.Most+l.Shift)
	case l.Least == 0 && l.Shift == 1:
		return "log(1 + x)"
	case l.Least == 0:
		return fmt.Sprintf("log(1 + x/%g)", l.Shift)
	}
	return fmt.Sprintf("log(1 + (x%+g)/%g)", -l.Least, l.Shift)
}
