package gaussian

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts/component"
)

// TestJoin: the diagonal moves to the best of both traces, the mean to the best of both means;
// where these differ by more than noise in one coordinate, the mean stays that of the rows, and so
// does its noise.
func TestJoin(t *testing.T) {
	const d, r2, rows, sd = 3, 4., 2000., .03
	law := component.ClippedGaussian(d, r2)
	release := func(shift, trace, rest, skew float64) component.Sums {
		m := component.Sums{Sum: slices.Repeat([]float64{shift * law.A1}, d), Cross: slices.Repeat([]float64{shift * law.C}, d), Second: symmetric.Identity(d),
			SumSD: sd, CrossSD: sd, SecondSD: sd, Trace: trace, Rest: rest}
		m.Second.ScaleSym(trace/d, m.Second)
		m.Cross[1] += skew * law.C
		return m
	}
	part, _ := law.RestPart(sd*sd, 0)
	if math.Abs(part-d/(d+1.)) > 1e-12 {
		t.Errorf("with a known number of rows the rest has the part %v", part)
	}
	m := join(release(.2, 2.4, 1.3, .05), law, rows, 0)
	if got, want := m.Second.At(2, 2), (2.4+part*(4-1.3-2.4))/d; math.Abs(got-want) > 1e-12 {
		t.Errorf("a diagonal entry of %v, want %v", got, want)
	}
	cross, apart2 := law.CrossPart(sd*sd, sd*sd, rows)
	if want := law.A1 * (.2 + cross*.05); math.Abs(m.Sum[1]-want) > 1e-12 || math.Abs(m.Sum[0]-law.A1*.2) > 1e-12 {
		t.Errorf("a mean of %v, want %v at 1", m.Sum, want)
	}
	if !(m.SumSD < sd) {
		t.Errorf("two means have the noise %v, one of them %v", m.SumSD, sd)
	}
	for _, skew := range []float64{-6 * math.Sqrt(apart2), 6 * math.Sqrt(apart2), math.Inf(1)} {
		m = join(release(.2, 2.4, 1.3, skew), law, rows, 0)
		if floats.Distance(m.Sum, slices.Repeat([]float64{.2 * law.A1}, d), math.Inf(1)) > 1e-12 || m.SumSD != sd {
			t.Errorf("skew %v: a mean of %v with the noise %v", skew, m.Sum, m.SumSD)
		}
	}
}

// TestApart: equal measurements are not apart, and noise of the stated sd hardly ever makes them
// so, in one coordinate or in many; six sds do.
func TestApart(t *testing.T) {
	for _, d := range []int{1, 20, 100} {
		a, b := make([]float64, d), make([]float64, d)
		b[d-1] = 2.9
		if meansApart(a, a, 0) || meansApart(a, b, 1) {
			t.Errorf("d = %d: what noise explains is apart", d)
		}
		if b[d-1] = 6; !meansApart(a, b, 1) {
			t.Errorf("d = %d: six sds are not apart", d)
		}
	}
}

// TestBeyondPart: where rows are just enough for a covariance the count of far rows costs the
// least, unless its noise hid what is there; with few rows and with many it costs the most.
func TestBeyondPart(t *testing.T) {
	f := &Fit{Run: program.Run{Columns: new(program.Columns)}}
	for _, c := range []struct {
		d    int
		rows float64
		want float64
	}{{2, 800, beyondMost}, {2, 50_000, beyondMost}, {20, 5000, beyondLeast}, {20, 5800, beyondLeast}, {20, 50_000, beyondMost}} {
		f.Problem.Columns, f.Problem.Mu, f.Rows, f.Mu2 = c.d, neededMu, c.rows, neededMu*neededMu
		got := f.beyondPart()
		if got != c.want {
			t.Errorf("%d columns, %v rows: %v, want %v", c.d, c.rows, got, c.want)
		}
		if noise := 1 / (neededMu * math.Sqrt(got)); got < beyondMost && noise > 1.001*beyondNoise*c.rows {
			t.Errorf("%d columns, %v rows: noise of %v rows", c.d, c.rows, noise)
		}
	}
}
