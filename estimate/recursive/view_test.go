package recursive

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/component"
)

func randomView(rng *rand.Rand, d, l int) View {
	v, _ := symmetric.Principal(randomCov(rng, d), l)
	return View{origin: randomPoint(rng, d), V: v}
}

func orthonormal(t *testing.T, v *mat.Dense) {
	t.Helper()
	var g mat.Dense
	g.Mul(v.T(), v)
	if !mat.EqualApprox(&g, symmetric.Identity(g.RawMatrix().Rows), 1e-9) {
		t.Errorf("the columns are not orthonormal: %v", mat.Formatted(&g))
	}
}

// TestViewRoundTrips: down undoes up; up of down is the nearest point of the view's plane; of
// composes; frame is down of the table's rows.
func TestViewRoundTrips(t *testing.T) {
	rng := newRand(t)
	for range 100 {
		d := 1 + rng.IntN(7)
		l := 1 + rng.IntN(d)
		w := randomView(rng, d, l)
		orthonormal(t, w.V)
		y, x := randomPoint(rng, l), randomPoint(rng, d)
		near := func(what string, got, want []float64) {
			t.Helper()
			for i := range want {
				agree(t, what, got[i], want[i])
			}
		}
		near("down of up", w.down(w.Up(y)), y)
		foot := w.Up(w.down(x))
		left := make([]float64, d)
		for i := range left {
			left[i] = w.origin[i] + x[i] - foot[i]
		}
		near("what is left of x", w.down(left), make([]float64, l))
		q := 1 + rng.IntN(l)
		u, _ := symmetric.Principal(randomCov(rng, l), q)
		mid := randomPoint(rng, l)
		in := w.of(mid, u)
		orthonormal(t, in.V)
		z, at := in.down(x), w.down(x)
		for j := range q {
			want := 0.0
			for i := range l {
				want += u.At(i, j) * (at[i] - mid[i])
			}
			agree(t, "of", z[j], want)
		}
		s := component.Space{}
		raw := make([]float64, d)
		for i := range d {
			c, unit := rng.NormFloat64(), math.Exp(rng.NormFloat64())
			s.Columns, s.Center, s.Scale = append(s.Columns, i), append(s.Center, c), append(s.Scale, unit)
			raw[i] = c + unit*x[i]
		}
		frame := w.frame(s)
		for j := range l {
			got := 0.0
			for i := range d {
				got += frame.W[j][i] * (raw[i] - frame.Center[i])
			}
			agree(t, "frame", got, at[j])
		}
	}
}

// TestLift: the view sees a lifted Gaussian as it was; orthogonal to the view its variance is the
// rest, and nothing is correlated.
func TestLift(t *testing.T) {
	rng := newRand(t)
	for range 50 {
		d := 2 + rng.IntN(5)
		l := 1 + rng.IntN(d-1)
		w := randomView(rng, d, l)
		g := component.Gaussian{Weight: .3, Mean: randomPoint(rng, l), Cov: randomCov(rng, l)}
		up := w.Lift(g, 7)
		back := w.see(up)
		if !mat.EqualApprox(back.Cov, g.Cov, 1e-9) || back.Weight != .3 {
			t.Errorf("seen again: %+v, want %+v", back, g)
		}
		for i := range g.Mean {
			agree(t, "mean", back.Mean[i], g.Mean[i])
		}
	}
}
