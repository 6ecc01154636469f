package report

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/words"
)

func onePart(mean, sd float64) []part {
	return []part{{weight: 1, mean: []float64{mean}, sd: []float64{sd}}}
}

// value is what a reader takes a tick for: the label, times and plus what the axis' suffix says.
func value(t *testing.T, label, suffix string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.Replace(label, minus, "-", 1), 64)
	if err != nil {
		t.Fatal(err)
	}
	rest := suffix
	if strings.HasPrefix(rest, "× 10") {
		rest = strings.TrimPrefix(rest, "× 10")
		power, after, _ := strings.Cut(rest, " ")
		for digit, raised := range map[string]string{"-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹"} {
			power = strings.ReplaceAll(power, raised, digit)
		}
		e, err := strconv.Atoi(power)
		if err != nil {
			t.Fatal(err)
		}
		v, err = strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 64)+"e"+strconv.Itoa(e), 64)
		if err != nil {
			t.Fatal(err)
		}
		rest = " " + after
	}
	if rest = strings.TrimSpace(rest); rest != "" {
		base, err := strconv.ParseFloat(strings.NewReplacer(minus+" ", "-", "+ ", "", ",", "").Replace(rest), 64)
		if err != nil {
			t.Fatal(err)
		}
		v += base
	}
	return v
}

// TestTicks: labels are few and short at every scale, and stand where the number that they say
// belongs.
func TestTicks(t *testing.T) {
	for _, at := range []struct{ mean, sd float64 }{
		{0, 1}, {38, 9.5}, {-0.02, 0.001}, {1e-30, 2e-31}, {3e30, 1e30}, {1.7320508e9, 3}, {-2.5e6, 0.01}, {1e15, 2}, {40250, 2000},
		{-1e12, 1e-2}, {123456.789, 1e-3}, {5e-200, 5e-201}, {1e299, 1e150}, {99999, 30000}, {0.5, 1e-9},
	} {
		a := newAxis(onePart(at.mean, at.sd), 0, 3, 6)
		if n := len(a.ticks); n < 2 || n > 8 {
			if at.sd < math.Abs(at.mean)*1e-15 && n > 0 {
				continue
			}
			t.Errorf("mean %v, sd %v: wanted 2 to 8 ticks, got %d", at.mean, at.sd, n)
		}
		for _, tick := range a.ticks {
			if len([]rune(tick.label)) > 7 {
				t.Errorf("mean %v, sd %v: label %q is too long", at.mean, at.sd, tick.label)
			}
			got, want := value(t, tick.label, a.suffix), at.mean+at.sd*tick.at
			if math.Abs(got-want) > 1e-6*at.sd+4e-16*math.Abs(at.mean) {
				t.Errorf("mean %v, sd %v: label %q %q says %v at %v", at.mean, at.sd, tick.label, a.suffix, got, want)
			}
		}
	}
}

func TestConstantAxis(t *testing.T) {
	for _, mean := range []float64{0, 7, -1e300, 5e-324} {
		a := newAxis(onePart(mean, 0), 0, 3, 6)
		if !a.constant || len(a.ticks) != 1 || !(a.lo < 0 && a.hi > 0) || !(a.unit > 0) {
			t.Errorf("mean %v: got %+v", mean, a)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, at := range []struct {
		v      float64
		digits int
		want   string
	}{
		{0, 3, "0"}, {1, 4, "1"}, {0.25, 4, "0.25"}, {1234.5678, 4, "1235"}, {1e-6, 3, "1e-6"}, {1.5e30, 4, "1.5e30"}, {-2.5e-31, 3, "-2.5e-31"},
		{123456, 3, "123456"}, {0.00012345, 3, "0.000123"}, {100, 4, "100"}, {math.Inf(1), 3, "∞"}, {math.NaN(), 3, "?"},
	} {
		if got := number(at.v, at.digits); got != at.want {
			t.Errorf("number(%v, %d): wanted %q, got %q", at.v, at.digits, at.want, got)
		}
	}
	for _, at := range []struct {
		mean, sd float64
		want     string
	}{{171.2512345, 9.391, "171.25 ± 9.39"}, {5, 0, "5 ± 0"}, {0, 1, "0 ± 1"}, {1e9 + 0.5, 2, "1000000000.5 ± 2"}} {
		if got := around(at.mean, at.sd); got != at.want {
			t.Errorf("around(%v, %v): wanted %q, got %q", at.mean, at.sd, at.want, got)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -100: "-100"} {
		if got := words.Digits(n); got != want {
			t.Errorf("words.Digits(%d): wanted %q, got %q", n, want, got)
		}
	}
}
