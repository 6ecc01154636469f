package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/release"
)

// minus is the typographic minus sign.
const minus = "−"

// number returns v with at most digits significant digits: plain from 1e-4 to 1e6, and to 1e15 if
// every digit before the point is significant; else as 1.5e-30.
func number(v float64, digits int) string {
	switch {
	case v == 0:
		return "0"
	case math.IsNaN(v):
		return "?"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	}
	a := math.Abs(v)
	if a >= 1e-4 && a < math.Max(1e6, math.Pow10(min(digits, 15))) {
		s := strconv.FormatFloat(v, 'f', max(0, digits-1-int(math.Floor(math.Log10(a)))), 64)
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if e, err := strconv.Atoi(exponent); err == nil {
		return mantissa + "e" + strconv.Itoa(e)
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// mostDays from 1970-01-01 are written as dates, which have years of four digits then.
const mostDays = 700_000

// dateOf returns days since 1970-01-01 as a date; "" for more than mostDays.
func dateOf(days float64) string {
	if !(math.Abs(days) < mostDays) {
		return ""
	}
	return time.Unix(int64(math.Round(days))*24*60*60, 0).UTC().Format(time.DateOnly)
}

// written returns a value of a column as its cells are written: a date of those of dates, else a
// number.
func written(c release.Column, v float64, digits int) string {
	if c.Kind == release.KindDate {
		if date := dateOf(v); date != "" {
			return date
		}
	}
	return withMinus(number(v, digits))
}

// tabled returns the heading of a column in a table of its figures.
func tabled(c release.Column) string {
	if c.Kind == release.KindDate && c.UnitOfMeasure == "" {
		return c.Called() + " (date; ± in days)"
	}
	return c.Heading()
}

// around returns mean with as many decimals as the standard deviation sd justifies, and both as
// "mean ± sd".
func around(mean, sd float64) string {
	if sd == 0 {
		return number(mean, 6) + " ± 0"
	}
	return number(mean, digitsFor(mean, sd)) + " ± " + number(sd, 3)
}

// digitsFor returns how many significant digits of v are worth writing when differences of a
// hundredth of step matter.
func digitsFor(v, step float64) int {
	if v == 0 || step == 0 {
		return 4
	}
	return min(15, max(3, 3+int(math.Floor(math.Log10(math.Abs(v))))-int(math.Floor(math.Log10(step)))))
}

// rows returns a noisy number of rows as text; it need not be whole.
func rows(v float64) string {
	if math.Abs(v) < 1e15 {
		return words.Digits(int(math.Round(v)))
	}
	return number(v, 4)
}

// percent returns the share v of a whole as text.
func percent(v float64) string {
	switch p := 100 * v; {
	case p == 0:
		return "0 %"
	case p < 0.1:
		return "< 0.1 %"
	case p < 9.95: // 10.0 beside 10 would look like two numbers
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
}

var superscripts = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// powerOfTen returns 10 to the power of e as text.
func powerOfTen(e int) string { return "10" + superscripts.Replace(strconv.Itoa(e)) }
