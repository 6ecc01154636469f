package tyler

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// goe is symmetric noise with sd sigma on the diagonal and sigma/sqrt2 off it; its spectral edge is
// sigma sqrt(2 D).
func goe(rng *rand.Rand, size int, sigma float64) *mat.SymDense {
	s := mat.NewSymDense(size, nil)
	for i := range size {
		s.SetSym(i, i, sigma*rng.NormFloat64())
		for j := range i {
			s.SetSym(i, j, sigma/math.Sqrt2*rng.NormFloat64())
		}
	}
	return s
}

// noisy are the eigenvalues of diag(truth) + GOE with the spectral edge noise, in increasing order.
func noisy(t testing.TB, rng *rand.Rand, truth []float64, noise float64) []float64 {
	t.Helper()
	s := goe(rng, len(truth), noise/math.Sqrt(2*float64(len(truth))))
	for i, v := range truth {
		s.SetSym(i, i, s.At(i, i)+v)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, false) {
		t.Fatal("no eigenvalues")
	}
	return eigen.Values(nil)
}

func repeated(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func meanOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// rootMeanSquare is that of the deviations from c.
func rootMeanSquare(v []float64, c float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += (x - c) * (x - c)
	}
	return math.Sqrt(sum / float64(len(v)))
}

// TestCleanedPools: what the noise did to equal eigenvalues is undone: they keep their mean,
// exactly, and lose most of their spread, the more of it the more there are; all are resolved.
func TestCleanedPools(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, c := range []struct {
		size int
		left float64 // of the spread; two thirds of it remain at size 2, where little can be pooled
	}{{2, .8}, {3, .72}, {6, .64}, {11, .54}, {51, .3}, {101, .23}} {
		const noise, center = .5, 3
		before, after := 0.0, 0.0
		for range 200 {
			lambda := noisy(t, rng, repeated(center, c.size), noise)
			clean, resolved := cleaned(lambda, noise)
			if resolved != c.size {
				t.Fatalf("size %d: %d of %v are resolved", c.size, resolved, lambda)
			}
			if math.Abs(meanOf(clean)-meanOf(lambda)) > 1e-12*center {
				t.Fatalf("size %d: the mean moved from %v to %v", c.size, meanOf(lambda), meanOf(clean))
			}
			before += rootMeanSquare(lambda, meanOf(lambda))
			after += rootMeanSquare(clean, meanOf(lambda))
		}
		t.Logf("size %d: %.2f of the spread is left", c.size, after/before)
		if !(after <= c.left*before) {
			t.Errorf("size %d: %.3f of the noise's spread is left, want at most %v", c.size, after/before, c.left)
		}
	}
}

// TestCleanedSpike: a lonely eigenvalue keeps its place, up to what the overlap with its noisy
// direction costs, noise^2/(2 gap).
//
// Shows: [TYLERPRESS] Section 4.1.
func TestCleanedSpike(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 2))
	for _, size := range []int{2, 3, 11, 51} {
		const noise, top = 1.0, 40.0
		truth := repeated(1, size)
		truth[size-1] = top
		for range 50 {
			lambda := noisy(t, rng, truth, noise)
			clean, _ := cleaned(lambda, noise)
			if off := math.Abs(clean[size-1] - lambda[size-1]); off > noise*noise/(top-3) {
				t.Errorf("size %d: a spike at %v went to %v", size, lambda[size-1], clean[size-1])
			}
		}
	}
}

// TestCleanedEmptyDirections: where half of the eigenvalues are zero and the others large, the
// zeros are pooled: noise of edge `noise` moves none of them by more than a few of the sds that are
// claimed, and at most one in five is taken for more than zero (one in 200 of two, one in 7 of 25,
// whose estimates keep some spread), while all large ones are resolved. The sd that cleaned claims
// for k pooled ones is between that of the mean of all k, noise/sqrt(2 D k), and that of one.
//
// Shows: [TYLERPRESS] Section 4.1.
func TestCleanedEmptyDirections(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	for _, size := range []int{2, 4, 10, 20, 50} {
		const noise = 1.5
		zeros := size / 2
		truth := append(repeated(0, zeros), repeated(50, size-zeros)...)
		one := noise / math.Sqrt(2*float64(size))
		all := one / math.Sqrt(float64(zeros))
		const runs = 400
		wrong, sum2 := 0, 0.0
		for range runs {
			lambda := noisy(t, rng, truth, noise)
			clean, resolved := cleaned(lambda, noise)
			wrong += resolved - (size - zeros)
			if resolved < size-zeros {
				t.Errorf("size %d: only %d of %d large eigenvalues are resolved", size, resolved, size-zeros)
			}
			for _, v := range clean[:zeros] {
				if !(v >= all*.99) {
					t.Fatalf("size %d: an eigenvalue of %v, below the sd %v of any pooled one", size, v, all)
				}
				if v > 6*one {
					t.Errorf("size %d: a zero came out as %v, the noise of one is %v", size, v, one)
				}
			}
			// Moved up by 20, they show what the noise does to a pooled estimate where no floor
			// hides it.
			shifted, _ := cleaned(shift(lambda, 20), noise)
			m := meanOf(shifted[:zeros]) - 20
			sum2 += m * m
		}
		got := math.Sqrt(sum2 / runs)
		t.Logf("size %d: sd of the mean of the zeros %.4f, of all %.4f, of one %.4f; %d of %d resolved by chance", size, got, all, one, wrong, runs*zeros)
		// The large ones push by about noise^2/(4*50); the sd over 400 runs is known to within
		// 6/sqrt(800).
		if got > all*(1+6/math.Sqrt(2*runs))+noise*noise/100 {
			t.Errorf("size %d: the mean of the zeros has an sd of %v, want %v", size, got, all)
		}
		stattest.GoodAtMost(t, wrong, runs*zeros, .2, alarm)
	}
}

func shift(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x + by
	}
	return out
}

// TestCleanedEdges: equal eigenvalues, no noise, hardly any noise: every answer is a number, and
// nothing is changed where there is nothing to clean.
func TestCleanedEdges(t *testing.T) {
	for _, noise := range []float64{0, 1e-200, 1e-12, .3, 1e6} {
		for _, lambda := range [][]float64{{1}, {1, 1}, {2, 2, 2}, {0, 0, 0, 0}, {-1, 0, 1}, {1e-300, 1, 1e15}} {
			clean, resolved := cleaned(lambda, noise)
			if resolved < 0 || resolved > len(lambda) {
				t.Errorf("%v with noise %v: %d resolved", lambda, noise, resolved)
			}
			for i, v := range clean {
				if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || noise > 0 && v == 0 {
					t.Errorf("%v with noise %v: got %v", lambda, noise, clean)
				}
				if noise < 1e-9 && math.Abs(v-math.Max(lambda[i], 0)) > 1e-9*math.Abs(lambda[i])+2*noise {
					t.Errorf("%v with noise %v: got %v, want no change", lambda, noise, clean)
				}
			}
		}
	}
}
