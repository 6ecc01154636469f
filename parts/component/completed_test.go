package component

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCrossGain compares C and VC with a quadrature over the angle, of which the integrand is
// smooth.
func TestCrossGain(t *testing.T) {
	for _, d := range []int{1, 2, 5, 20, 100, 1000} {
		k := float64(d)
		for _, r2 := range []float64{.3*k + .5, k, k + 2*math.Sqrt(k), k + 6*math.Sqrt(k) + 25, 8 * (k + 6*math.Sqrt(k) + 25)} {
			lg, _ := math.Lgamma(k / 2)
			gain, variance := 0.0, 0.0
			const steps = 40000
			for i := range steps {
				sin, cos := math.Sincos((float64(i) + .5) / steps * math.Pi / 2)
				q, rest := r2*sin*sin, r2*cos*cos
				weight := math.Exp((k/2-1)*math.Log(q)-q/2-k/2*math.Ln2-lg) * 2 * r2 * sin * cos * math.Pi / 2 / steps
				gain += q * math.Sqrt(rest) * weight / k
				variance += q * rest * weight / k
			}
			l := ClippedGaussian(d, r2)
			if math.Abs(l.C/gain-1) > 1e-4 || math.Abs(l.VC/variance-1) > 1e-4 {
				t.Errorf("d = %d, R^2 = %v: C = %v, VC = %v, want %v, %v", d, r2, l.C, l.VC, gain, variance)
			}
		}
	}
}

// TestRestPart: by simulation of the noise, the variance of the joined mean of |z|^2 is what is
// said, no other part has less of it, and with a number of rows that is hardly known it is no more
// than that of the diagonal alone.
func TestRestPart(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	const draws = 40000
	for _, d := range []int{1, 2, 10, 50, 100} {
		k := float64(d)
		for _, r2 := range []float64{.7 * k, k + 6*math.Sqrt(k)} {
			law := ClippedGaussian(d, r2)
			for _, count := range []float64{0, .003, .03, .3} { // the relative sd of the number of rows
				const noise = .02
				said, variance := law.RestPart(noise*noise, count*count)
				trace := law.A * k
				at := func(part float64) float64 {
					sum, all := 0.0, 0.0
					for range draws {
						off := count * rng.NormFloat64()
						m1 := trace + noise*math.Sqrt(k)*rng.NormFloat64() - trace*off
						m2 := trace + noise*rng.NormFloat64() + (r2-trace)*off
						v := (1-part)*m1 + part*m2 - trace
						sum, all = sum+v, all+v*v
					}
					return (all - sum*sum/draws) / draws
				}
				best := at(said)
				if math.Abs(best/variance-1) > .06 {
					t.Errorf("d = %d, R^2 = %v, count %v: a variance of %v, said %v", d, r2, count, best, variance)
				}
				for _, other := range []float64{0, k / (k + 1), said - .1, said + .1} {
					if at(other) < best*.94 {
						t.Errorf("d = %d, R^2 = %v, count %v: part %v has less variance than %v", d, r2, count, other, said)
					}
				}
			}
		}
	}
}

// TestCrossPart: on Gaussian rows, the means by z and by c z are both the mean, their difference
// has the variance that is said, and the joined mean no more than either.
func TestCrossPart(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	const rows, tables, shift = 300, 3000, .1
	for _, d := range []int{1, 3} {
		r2 := 1.2*float64(d) + 1
		law := ClippedGaussian(d, r2)
		for _, noise := range [][2]float64{{0, 0}, {.1, .1}, {.3, .05}, {.02, .3}} {
			part, apart2 := law.CrossPart(noise[0]*noise[0], noise[1]*noise[1], rows)
			var mean, square [4]float64 // of the first, the second, their difference, both joined
			for range tables {
				first, second := noise[0]*rng.NormFloat64(), noise[1]*rng.NormFloat64()
				for range rows {
					z, q := shift+rng.NormFloat64(), 0.0
					for range d - 1 {
						v := rng.NormFloat64()
						q += v * v
					}
					q += z * z
					first += math.Sqrt(math.Min(1, r2/q)) * z / rows
					second += math.Sqrt(math.Max(0, r2-q)) * z / rows
				}
				a, b := first/law.A1, second/law.C
				for i, v := range []float64{a, b, a - b, (1-part)*a + part*b} {
					mean[i] += v / tables
					square[i] += v * v / tables
				}
			}
			for i := range square {
				square[i] -= mean[i] * mean[i]
			}
			for _, i := range []int{0, 1, 3} {
				if math.Abs(mean[i]-shift) > 6*math.Sqrt(square[i]/tables)+.004 {
					t.Errorf("d = %d, noise %v: mean %d is %v", d, noise, i, mean[i])
				}
			}
			if math.Abs(square[2]/apart2-1) > .2 {
				t.Errorf("d = %d, noise %v: the difference has the variance %v, said %v", d, noise, square[2], apart2)
			}
			if square[3] > 1.05*math.Min(square[0], square[1]) {
				t.Errorf("d = %d, noise %v: joined %v, of %v and %v", d, noise, square[3], square[0], square[1])
			}
		}
	}
}
