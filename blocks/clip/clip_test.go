package clip

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLawMonteCarlo compares the closed forms with simulation. Each figure is a mean of 4e5 draws; the tolerance is 6 standard
// errors of a bounded variable, so a false alarm has probability below 1e-8 per figure.
func TestLawMonteCarlo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 2, 5, 10} {
		for _, r2 := range []float64{.7 * float64(d), 2*float64(d) + 3} {
			l := Gaussian(d, r2)
			const n = 400000
			var a, a1, b1 float64
			for range n {
				q := 0.0
				for range d {
					x := rng.NormFloat64()
					q += x * x
				}
				g := math.Min(1, r2/q)
				a += g * q / float64(d)
				a1 += q * math.Sqrt(g) / float64(d)
				b1 += g * q * q / float64(d*(d+2))
			}
			for _, c := range []struct{ got, want, sd float64 }{{a / n, l.A, r2 / float64(d)}, {a1 / n, l.A1, 2}, {b1 / n, l.B1, 3}} {
				if math.Abs(c.got-c.want) > 6*c.sd/math.Sqrt(n) {
					t.Errorf("d=%d r2=%v: got %v, want %v", d, r2, c.got, c.want)
				}
			}
		}
	}
}

func TestLawUnclipped(t *testing.T) {
	l := Gaussian(3, 1e4)
	for _, v := range []float64{l.A, l.A1, l.B1, l.TraceGain(), l.V} {
		if math.Abs(v-1) > 1e-9 {
			t.Errorf("without clipping every factor is 1, got %+v", l)
		}
	}
}
