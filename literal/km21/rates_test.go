package km21

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// One row changes the second moment of n truncated rows by sqrt2 gamma^2/n at most in Frobenius
// norm, whatever it is, and orthogonal rows on the sphere do so exactly.
//
// Shows: [KM21] Theorem 3.1.
func TestTruncatedSensitivity(t *testing.T) {
	rng := newRand(t)
	const gamma, n = 3.0, 4
	second := func(row []float64) []float64 {
		rows := [][]float64{row, {0, 0}, {0, 0}, {0, 0}}
		x := alone(t, rows, 2, privacy.ReplaceOne, 1, false, kerneltest.Options{Exact: true})
		m, err := naiveHTPCE(x, "second", begin(2, [2]float64{1, 1}).A, gamma, .5)
		if err != nil {
			t.Fatal(err)
		}
		return []float64{m.At(0, 0), m.At(1, 1), math.Sqrt2 * m.At(0, 1)}
	}
	rows := [][]float64{{gamma * .99999, 0}, {0, gamma * .99999}, {0, 0}, {1e308, -1e308}, {math.NaN(), 1}, {math.Inf(1), 0}, {5, 5}}
	for range 40 {
		r, phi := gamma*1.3*rng.Float64(), 2*math.Pi*rng.Float64()
		rows = append(rows, []float64{r * math.Cos(phi), r * math.Sin(phi)})
	}
	var moments [][]float64
	for _, row := range rows {
		moments = append(moments, second(row))
	}
	most := 0.0
	for _, a := range moments {
		for _, b := range moments {
			most = math.Max(most, math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]))
		}
	}
	if want := math.Sqrt2 * gamma * gamma / n; most > want*(1+1e-3) || most < .99*want {
		t.Errorf("one row changes the moment by up to %v, want %v", most, want)
	}
}

// slope is the exponent of y between two points.
func slope(x1, y1, x2, y2 float64) float64 { return math.Log(y2/y1) / math.Log(x2/x1) }

// exponents are those of the rows that the last release needs where noise rules: of 1/alpha and of
// d, for moments of order 2k.
func exponents(k int) (ofAlpha, ofColumns float64) {
	needed := func(d int, alpha float64) float64 {
		low, high := 1.0, 1e300
		for range 200 {
			n := math.Sqrt(low * high)
			x := design{Constants: Practical(), class: gaussianClass(k), d: d, relation: privacy.ReplaceOne, rows: n, public: n}
			if _, a := x.frobenius(1e-30, .05); a > alpha { // at so small a mu sampling is nothing
				low = n
			} else {
				high = n
			}
		}
		return high
	}
	return slope(1/.1, needed(10, .1), 1/.01, needed(10, .01)), slope(100, needed(100, .1), 1000, needed(1000, .1))
}

// The rate: where noise rules, n grows like alpha^(-k/(k-1)) and d^(2+1/(2(k-1))), measured on the
// analysis with its constants.
//
// Shows: [KM21] Theorem 3.1.
func TestRateOfNoise(t *testing.T) {
	for _, k := range []int{2, 3, 5, 20} {
		ofAlpha, ofColumns := exponents(k)
		t.Logf("k = %d: alpha^-%.3f, d^%.3f", k, ofAlpha, ofColumns)
		q := float64(k)
		if math.Abs(ofAlpha-q/(q-1)) > .02 || math.Abs(ofColumns-2-1/(2*(q-1))) > .05 {
			t.Errorf("k = %d: alpha^-%.3f and d^%.3f, want %.3f and %.3f", k, ofAlpha, ofColumns, q/(q-1), 2+1/(2*(q-1)))
		}
	}
}

// The bias of the mean of clipped whitened rows is at most C d^k/R^(2k-1): laws on the axes of two
// radii, for which moments of order 2k about the mean are C = d^(k-1) E r^2k in the worst
// direction, shifted by a part of the far value along one axis.
//
// Shows: [KSU20] Section 1.
func TestClippedBias(t *testing.T) {
	nearest := 0.0
	for _, k := range []float64{2, 3, 5} {
		for p := 1e-6; p < .4; p *= 1.3 { // of the far value f, the near one at such a place that the mean is 0
			far := math.Sqrt((1 - p) / p)
			near := -p * far / (1 - p) // variance 1
			c := p*math.Pow(far, 2*k) + (1-p)*math.Pow(near, 2*k)
			for radius := 1.0; radius < far; radius *= 1.1 {
				bias := p * (far - radius)
				most := c / math.Pow(radius, 2*k-1)
				if bias > most*(1+1e-9) {
					t.Errorf("k %v, p %v, R %v: the bias is %v, at most %v", k, p, radius, bias, most)
				}
				nearest = math.Max(nearest, bias/most)
			}
		}
	}
	if nearest < .1 {
		t.Errorf("nowhere nearer to the bound than %v of it", nearest)
	}
}
