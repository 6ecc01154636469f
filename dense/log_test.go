package dense

import (
	"math"
	"testing"
)

// TestLog: From undoes To between the limits and half a unit beyond, Slope is the derivative, and
// no value that float64 holds is mapped to none.
func TestLog(t *testing.T) {
	for _, l := range []Log{LogOf(0, math.Inf(1), 0), LogOf(0, math.Inf(1), 1), LogOf(-1e6, math.Inf(1), 100), LogOf(0, 1, 0), LogOf(0, 100, .1), LogOf(-40, 1e6, 1)} {
		if !l.Maps() {
			t.Fatalf("%v maps nothing", l)
		}
		last, most := math.Inf(-1), math.Min(l.Most, l.Least+1e9)
		for i := range 1001 {
			x := l.Least - l.Shift/2 + (most-l.Least+l.Shift)*float64(i)/1000
			y := l.To(x)
			if !(y > last) {
				t.Fatalf("%v: %v after %v at %v", l, y, last, x)
			}
			if last = y; math.Abs(l.From(y)-x) > 1e-9*(math.Abs(x)+most-l.Least) {
				t.Errorf("%v: %v comes back as %v", l, x, l.From(y))
			}
			h := 1e-4 / l.Slope(x)
			if d := (l.To(x+h) - l.To(x-h)) / (2 * h); math.Abs(d-l.Slope(x)) > 1e-4*l.Slope(x) && i > 0 && i < 1000 {
				t.Errorf("%v: the slope at %v is %v, want %v", l, x, l.Slope(x), d)
			}
		}
	}
	for _, l := range []Log{LogOf(0, math.Inf(1), 1e-10), LogOf(-math.MaxFloat64, math.Inf(1), 1), LogOf(-math.MaxFloat64, math.MaxFloat64, 0)} {
		if y := l.To(math.MaxFloat64); math.IsNaN(y) || math.IsInf(y, 0) {
			t.Errorf("%+v maps the largest number to %v", l, y)
		}
	}
	if x := LogOf(0, math.Inf(1), 0).From(1000); x != math.MaxFloat64 {
		t.Errorf("1000 comes back as %v", x)
	}
	if !math.IsNaN(LogOf(0, math.Inf(1), 0).To(math.NaN())) || (Log{}).Maps() {
		t.Error("a missing value, or no map")
	}
}
