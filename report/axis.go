package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/internal/words"
)

// An axis maps a column to the plane of a picture: x = centre + unit u. The pictures are drawn in
// u, which is of order one whatever the column's scale, and only the ticks' labels are in x.
type axis struct {
	centre, unit float64
	lo, hi       float64 // of u
	constant     bool    // No component has a spread, and all have the same mean.
	ticks        []tick
	// By what a tick's label has to be multiplied, and what added to it; empty for nothing.
	suffix string
}

// A tick is a label at a place u of an axis.
type tick struct {
	at    float64
	label string
}

// u returns the place of a mean on the axis, clipped to numbers that can be drawn.
func (a axis) u(x float64) float64 { return math.Max(-1e6, math.Min(1e6, (x-a.centre)/a.unit)) }

// newAxis returns the axis that shows reach standard deviations of every part on both sides, with
// up to n ticks.
func newAxis(parts []part, j int, reach float64, n int) axis {
	a := axis{centre: centreOf(parts, j)}
	for _, p := range parts {
		a.unit = math.Max(a.unit, math.Max(p.sd[j], math.Min(math.MaxFloat64, math.Abs(p.mean[j]-a.centre))))
	}
	if a.unit == 0 {
		a.constant = true
		a.unit = math.Max(math.Abs(a.centre), math.SmallestNonzeroFloat64)
		a.lo, a.hi = -1, 1
		a.ticks = []tick{{0, withMinus(number(a.centre, 6))}}
		return a
	}
	a.lo, a.hi = math.Inf(1), math.Inf(-1)
	for _, p := range parts {
		a.lo = math.Min(a.lo, a.u(p.mean[j])-reach*p.sd[j]/a.unit)
		a.hi = math.Max(a.hi, a.u(p.mean[j])+reach*p.sd[j]/a.unit)
	}
	margin := (a.hi - a.lo) * 0.06
	a.lo, a.hi = a.lo-margin, a.hi+margin
	// draw only where values are possible
	if lo, hi := math.Max(a.lo, a.u(parts[0].cell(j).Least)), math.Min(a.hi, a.u(parts[0].cell(j).Most)); lo < hi {
		a.lo, a.hi = lo, hi
	}
	if a.mark(n); parts[0].cell(j).Date {
		a.date(n)
	}
	return a
}

// date sets ticks that are dates, of which half as many have room, unless they lie within days or
// millennia.
func (a *axis) date(n int) {
	days := *a
	days.ticks, days.suffix = nil, ""
	days.mark((n + 1) / 2)
	for i, t := range days.ticks {
		day := a.centre + a.unit*t.at
		days.ticks[i].label = dateOf(day)
		if days.ticks[i].label == "" || math.Abs(day-math.Round(day)) > .01 {
			return
		}
	}
	days.suffix = ""
	*a = days
}

// centreOf returns the parts' weighted mean of column j, exactly their mean if they have but one.
func centreOf(parts []part, j int) float64 {
	lo, hi, sum, total := math.Inf(1), math.Inf(-1), 0.0, 0.0
	for _, p := range parts {
		lo, hi = math.Min(lo, p.mean[j]), math.Max(hi, p.mean[j])
		total += p.weight
	}
	for _, p := range parts {
		if total > 0 {
			sum += p.weight / total * p.mean[j]
		} else {
			sum += p.mean[j] / float64(len(parts))
		}
	}
	return math.Max(lo, math.Min(hi, sum))
}

// offsetDigits is the largest number of digits of a tick's label in front of the digit that changes
// from tick to tick; beyond it, labels count from a base that the suffix names.
const offsetDigits = 4

// mark sets ticks and suffix: at most n round numbers, as short as they can be.
func (a *axis) mark(n int) {
	span := a.unit * (a.hi - a.lo)
	if !(span > 1e-300) || math.IsInf(span, 0) {
		return // Outside of what float64 can hold: a picture without ticks.
	}
	digit, power := roundStep(span / float64(n))
	step := float64(digit) * math.Pow10(power)
	base := 0.0
	far := math.Abs(a.centre) + span
	if far/step > math.Pow10(offsetDigits+1) {
		// Rounded to the power of ten above the span: the shortest base that leaves labels of three
		// digits at most.
		digits := max(1, min(17, int(math.Floor(math.Log10(far)))-int(math.Floor(math.Log10(span)))))
		base, _ = strconv.ParseFloat(strconv.FormatFloat(a.centre, 'e', digits-1, 64), 64)
		a.suffix = plusOrMinus(base, digits)
	}
	from := a.centre - base
	first := math.Ceil((from + a.unit*a.lo) / step)
	last := math.Floor((from + a.unit*a.hi) / step)
	widest := math.Max(math.Abs(first), math.Abs(last)) * float64(digit)
	exponent := 0
	if e := power + int(math.Floor(math.Log10(math.Max(widest, 1)))); e > offsetDigits || e < -3 {
		exponent = 3 * int(math.Floor(float64(e)/3))
		a.suffix = "× " + powerOfTen(exponent) + a.suffix
	}
	for i := first; i <= last && len(a.ticks) <= 2*n; i++ {
		label := strconv.FormatFloat(i*float64(digit)*math.Pow10(power-exponent), 'f', max(0, exponent-power), 64)
		if i == 0 {
			label = "0"
		}
		a.ticks = append(a.ticks, tick{(i*step - from) / a.unit, withMinus(label)})
	}
}

// roundStep returns the smallest of 1, 2 and 5 times a power of ten that is at least v.
func roundStep(v float64) (digit, power int) {
	power = int(math.Floor(math.Log10(v)))
	for _, digit = range []int{1, 2, 5} {
		if float64(digit)*math.Pow10(power) >= v {
			return digit, power
		}
	}
	return 1, power + 1
}

// plusOrMinus returns a base of at most the given digits after its sign, whole numbers in full.
func plusOrMinus(v float64, digits int) string {
	sign, size := " + ", math.Abs(v)
	if v < 0 {
		sign = " " + minus + " "
	}
	if size < 1e15 && size == math.Trunc(size) {
		return sign + words.Digits(int(size))
	}
	return sign + number(size, digits)
}

// withMinus returns s with typographic minus signs.
func withMinus(s string) string {
	if len(s) > 0 && s[0] == '-' {
		return minus + s[1:]
	}
	return s
}

// label returns the label of the axis: the column, unless name is empty, and how to read the ticks.
func (a axis) label(name string) string {
	switch {
	case a.suffix == "":
		return name
	case name == "":
		return "ticks " + strings.TrimSpace(a.suffix)
	}
	return name + "  (ticks " + strings.TrimSpace(a.suffix) + ")"
}
