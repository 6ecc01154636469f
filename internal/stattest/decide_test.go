package stattest

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// recorder is a testing.TB that notes failures instead of failing.
type recorder struct {
	testing.TB
	failed, fatal bool
	text          string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed, r.text = true, fmt.Sprintf(format, args...)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal, r.text = true, fmt.Sprintf(format, args...)
	panic(r)
}

// record runs a test and returns how it ended.
func record(test func(t testing.TB)) (r *recorder) {
	r = &recorder{}
	defer func() {
		if x := recover(); x != nil && x != any(r) {
			panic(x)
		}
	}()
	test(r)
	return r
}

// wantPair checks that exactly one of Good and Bad fails, and which.
func wantPair(t *testing.T, name string, accepted bool, good, bad func(t testing.TB)) {
	t.Helper()
	g, b := record(good), record(bad)
	if g.fatal || b.fatal || g.failed == b.failed {
		t.Fatalf("%s: want one of Good and Bad to fail, got Good %+v, Bad %+v", name, *g, *b)
	}
	if g.failed == accepted {
		t.Errorf("%s: accepted = %v, want %v (%s%s)", name, !g.failed, accepted, g.text, b.text)
	}
}

func TestFitDecides(t *testing.T) {
	probs := []float64{0.25, 0.25, 0.5}
	for _, c := range []struct {
		name     string
		observed []int
		probs    []float64
		accepted bool
	}{
		{"as expected", []int{250, 250, 500}, probs, true},
		{"one deviation off", []int{265, 245, 490}, probs, true},
		{"far off", []int{400, 100, 500}, probs, false},
		{"impossible cell", []int{250, 250, 499, 1}, append(probs[:3:3], 0), false},
		{"impossible cell, empty", []int{250, 250, 500, 0}, append(probs[:3:3], 0), true},
		// Cells that are too small are pooled with neighbours; too many draws still show.
		{"pooled", []int{0, 505, 495, 0}, []float64{1e-4, 0.4999, 0.4999, 1e-4}, true},
		{"pooled, off", []int{200, 340, 460, 0}, []float64{0.01, 0.24, 0.75, 0}, false},
	} {
		wantPair(t, c.name, c.accepted,
			func(t testing.TB) { GoodFit(t, c.observed, c.probs, FalseAlarm) },
			func(t testing.TB) { BadFit(t, c.observed, c.probs, FalseAlarm) })
	}
}

func TestSameLawDecides(t *testing.T) {
	for _, c := range []struct {
		name     string
		a, b     []int
		accepted bool
	}{
		{"equal", []int{100, 200, 300}, []int{100, 200, 300}, true},
		{"other size", []int{100, 200, 300}, []int{1010, 1980, 3010}, true},
		{"empty cells", []int{100, 0, 300}, []int{100, 0, 300}, true},
		{"different", []int{100, 200, 300}, []int{300, 200, 100}, false},
		{"only in one", []int{0, 600, 600}, []int{100, 500, 600}, false},
	} {
		wantPair(t, c.name, c.accepted,
			func(t testing.TB) { GoodSameLaw(t, c.a, c.b, FalseAlarm) },
			func(t testing.TB) { BadSameLaw(t, c.a, c.b, FalseAlarm) })
	}
}

func TestKSDecides(t *testing.T) {
	const n = 2000
	even := make([]float64, n) // the most even sample of U(0, 1)
	for i := range even {
		even[i] = (float64(i) + 0.5) / n
	}
	coins := make([]float64, n)
	for i := range coins {
		coins[i] = float64(i % 2)
	}
	uniform := func(x float64) float64 { return min(max(x, 0), 1) }
	coin := func(p float64) func(float64) float64 {
		return func(x float64) float64 {
			switch {
			case x < 0:
				return 0
			case x < 1:
				return 1 - p
			}
			return 1
		}
	}
	for _, c := range []struct {
		name     string
		xs       []float64
		cdf      func(float64) float64
		accepted bool
	}{
		{"uniform", even, uniform, true},
		{"shifted a little", even, func(x float64) float64 { return uniform(x + 0.05) }, true},
		{"shifted", even, func(x float64) float64 { return uniform(x + 0.08) }, false},
		{"coin", coins, coin(0.5), true},
		{"biased coin", coins, coin(0.6), false},
		// At every integer F_n and this agree; between them they do not.
		{"jumps at the wrong place", coins, func(x float64) float64 { return uniform((x + 1) / 2) }, false},
		{"NaN", append([]float64{math.NaN()}, even...), uniform, false},
	} {
		wantPair(t, c.name, c.accepted,
			func(t testing.TB) { GoodKS(t, c.xs, c.cdf, FalseAlarm) },
			func(t testing.TB) { BadKS(t, c.xs, c.cdf, FalseAlarm) })
	}
	p, _ := ks(t, even, func(x float64) float64 { return uniform(x + 0.05) })
	if d := 0.05 + 0.5/n; math.Abs(p-2*math.Exp(-2*n*d*d)) > 1e-12 {
		t.Errorf("p = %v for D = %v", p, d)
	}
}

func TestProportionDecides(t *testing.T) {
	const n = 10000
	for _, c := range []struct {
		successes            int
		two, atMost, atLeast bool
		p                    float64
		name                 string
	}{
		{5000, true, true, true, 0.5, "on it"},
		{5200, true, true, true, 0.5, "four deviations above"},
		{5400, false, false, true, 0.5, "eight above"},
		{4600, false, true, false, 0.5, "eight below"},
		{0, true, true, true, 0, "never"},
		{1, false, false, true, 0, "once, but impossible"},
		{n, true, true, true, 1, "always"},
		{n - 1, false, true, false, 1, "not always, but sure"},
	} {
		name := fmt.Sprintf("%d of %d, p = %v, %s", c.successes, n, c.p, c.name)
		wantPair(t, "two-sided "+name, c.two,
			func(t testing.TB) { GoodProportion(t, c.successes, n, c.p, FalseAlarm) },
			func(t testing.TB) { BadProportion(t, c.successes, n, c.p, FalseAlarm) })
		wantPair(t, "at most "+name, c.atMost,
			func(t testing.TB) { GoodAtMost(t, c.successes, n, c.p, FalseAlarm) },
			func(t testing.TB) { BadAtMost(t, c.successes, n, c.p, FalseAlarm) })
		wantPair(t, "at least "+name, c.atLeast,
			func(t testing.TB) { GoodAtLeast(t, c.successes, n, c.p, FalseAlarm) },
			func(t testing.TB) { BadAtLeast(t, c.successes, n, c.p, FalseAlarm) })
	}
}

func TestMeanDecides(t *testing.T) {
	xs := []float64{1, 2, 3, 6}
	for _, c := range []struct {
		mean, sigma float64
		accepted    bool
	}{{3, 1, true}, {5.9, 1, true}, {6.1, 1, false}, {-0.1, 1, false}, {3.1, 0.01, false}} {
		// 5.9: z = 5.8; 6.1: z = 6.2; alpha is at z = 6.11.
		wantPair(t, fmt.Sprint(c), c.accepted,
			func(t testing.TB) { GoodMean(t, xs, c.mean, c.sigma, FalseAlarm) },
			func(t testing.TB) { BadMean(t, xs, c.mean, c.sigma, FalseAlarm) })
	}
	wantPair(t, "NaN", false,
		func(t testing.TB) { GoodMean(t, []float64{math.NaN()}, 0, 1, FalseAlarm) },
		func(t testing.TB) { BadMean(t, []float64{math.NaN()}, 0, 1, FalseAlarm) })
}

func TestMisuseIsFatal(t *testing.T) {
	half := []float64{0.5, 0.5}
	for text, test := range map[string]func(t testing.TB){
		"sum to 1":            func(t testing.TB) { GoodFit(t, []int{500, 500}, []float64{0.5, 0.4}, FalseAlarm) },
		"probs must be ≥ 0":   func(t testing.TB) { GoodFit(t, []int{500, 500}, []float64{1.5, -0.5}, FalseAlarm) },
		"equally many cells":  func(t testing.TB) { GoodFit(t, []int{500}, half, FalseAlarm) },
		"cannot fail":         func(t testing.TB) { GoodFit(t, []int{20, 20}, half, FalseAlarm) },
		"wanted draws":        func(t testing.TB) { BadSameLaw(t, []int{500, 500}, []int{0, 0}, FalseAlarm) },
		"counts must be ≥ 0":  func(t testing.TB) { BadFit(t, []int{-1, 500}, half, FalseAlarm) },
		"alpha must be":       func(t testing.TB) { GoodFit(t, []int{500, 500}, half, 0) },
		"got none":            func(t testing.TB) { GoodKS(t, nil, math.Erf, FalseAlarm) },
		"0 ≤ successes ≤ n":   func(t testing.TB) { GoodProportion(t, 3, 2, 0.5, FalseAlarm) },
		"wanted draws and si": func(t testing.TB) { GoodMean(t, []float64{1}, 0, 0, FalseAlarm) },
		"got NaN at": func(t testing.TB) {
			BadKS(t, []float64{1}, math.Log, FalseAlarm)
			BadKS(t, []float64{-1}, math.Log, FalseAlarm)
		},
	} {
		if r := record(test); !r.fatal || !strings.Contains(r.text, text) {
			t.Errorf("want a fatal %q, got fatal = %v, %q", text, r.fatal, r.text)
		}
	}
}

// TestEnough: trials may end as soon as GoodAtLeast passes if all others fail, and not before.
func TestEnough(t *testing.T) {
	t.Setenv("GAUZE_LONG", "")
	const n, p = 30, .55
	for successes := range n + 1 {
		judged := record(func(t testing.TB) { GoodAtLeast(t, successes, n, p, FalseAlarm) })
		if got := Enough(successes, n, p, FalseAlarm); got == judged.failed {
			t.Errorf("%d of %d: %v", successes, n, got)
		}
	}
	if t.Setenv("GAUZE_LONG", "1"); Enough(n, n, p, FalseAlarm) {
		t.Error("a long run ends early")
	}
}
