package literal

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The chi^2-divergence of N(mu, 1) from N(0, 1), of which everything else follows, by quadrature.
func TestChiSquare(t *testing.T) {
	for _, mu := range []float64{.1, .5, 1, 2} {
		const step = 1e-3
		sum := 0.0
		for x := -10.0; x < 14; x += step {
			p, q := math.Exp(-(x-mu)*(x-mu)/2), math.Exp(-x*x/2)
			sum += (p - q) * (p - q) / q * step / math.Sqrt(2*math.Pi)
		}
		if want := math.Expm1(mu * mu); !near(sum, want, 1e-6) {
			t.Errorf("mu %v: %v, want %v", mu, sum, want)
		}
	}
}

// The bias' term of lower_proof.md, step 5: sum_H ⟨H, kB + Bk^T⟩ = sum (d+1-j) B_jj over an
// orthonormal basis of symmetric H.
func TestBiasTerm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 2, 5} {
		b := mat.NewSymDense(d, nil)
		want := 0.0
		for i := range d {
			for j := i; j < d; j++ {
				b.SetSym(i, j, rng.NormFloat64())
			}
			want += float64(d-i) * b.At(i, i)
		}
		got := 0.0
		for i := range d {
			for j := 0; j <= i; j++ {
				h, k := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
				if i == j {
					h.Set(i, i, 1)
					k.Set(i, i, .5)
				} else {
					h.Set(i, j, math.Sqrt(.5))
					h.Set(j, i, math.Sqrt(.5))
					k.Set(i, j, math.Sqrt(.5))
				}
				var kb, hm mat.Dense
				kb.Mul(k, b)
				hm.Add(&kb, kb.T())
				hm.MulElem(&hm, h)
				got += mat.Sum(&hm)
			}
		}
		if !near(got, want, 1e-9) {
			t.Errorf("d=%d: %v, want %v", d, got, want)
		}
	}
}

// A clip is what a ball of radius^2 r2 makes of the standard Gaussian rows in it: g = min(1, r2/q)
// for q = |z|^2.
type clip struct{ r2, a, b1, slope, v, vm float64 }

// clips draws rows of d columns and clips them to some balls.
func clips(d int) (out []clip) {
	const draws = 20000
	rng := rand.New(rand.NewPCG(uint64(d), 7))
	qs := make([]float64, draws)
	for i := range qs {
		for range d {
			z := rng.NormFloat64()
			qs[i] += z * z
		}
	}
	fd := float64(d)
	for r2 := .1 * fd; r2 < 4*fd+30; r2 *= 1.2 {
		c := clip{r2: r2}
		for _, q := range qs {
			g := math.Min(1, r2/q)
			c.slope += math.Sqrt(g) * q / fd / draws // of the mean, by Stein's identity
			c.a += g * q / fd / draws
			c.b1 += g * q * q / (fd * (fd + 2)) / draws
			c.v += g * g * q * q / (fd * (fd + 2)) / draws
		}
		c.vm = c.v*(fd+2) - c.a*c.a*fd
		out = append(out, c)
	}
	return out
}

// best is about the least root mean square error, over radii, of the Gaussian mechanism that is
// told where the truth is and whitens by it, inverts the clipping to first order (so that it still
// estimates and does not say what it was told) and shrinks as well as can be.
func best(clips []clip, d int, n, mu float64, rel privacy.Relation) (covariance, mean float64) {
	fd := float64(d)
	covariance, mean = math.Inf(1), math.Inf(1)
	for _, c := range clips {
		first, second := 2*math.Sqrt(c.r2), math.Sqrt2*c.r2 // sensitivities of the sums
		if rel == privacy.AddRemoveOne {
			first, second = math.Sqrt(c.r2), c.r2 // with the number of rows for nothing
		}
		noise := first / (n * mu)
		mean = math.Min(mean, math.Sqrt(fd*(c.a/n+noise*noise))/c.slope)
		noise = second / (n * mu)
		common := c.b1 + fd*(c.b1-c.a)/2 // the trace's response, the other directions' being b1
		variance := (fd*(fd+1)/2-1)*(2*c.v/n+noise*noise)/(c.b1*c.b1) + (c.vm/n+noise*noise)/(common*common)
		// alpha times an unbiased estimate has error^2 alpha^2 variance + d (alpha-1)^2.
		covariance = math.Min(covariance, math.Sqrt(variance*fd/(variance+fd)))
	}
	return covariance, mean
}

// Nothing beats the bound: not the Gaussian mechanism that is told what to whiten by, up to the
// errors of the draws above. And the bound is no more than a small factor below that.
func TestLowerBoundHolds(t *testing.T) {
	const draws, factor = .02, 4
	for _, d := range []int{1, 2, 5, 20, 50} {
		clips := clips(d)
		for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			for _, mu := range []float64{.05, .2367, 1, 3} {
				for _, n := range []float64{10, 100, 1000, 1e4, 1e6} {
					b := LowerBoundOf(estimate.Problem{Columns: d, Relation: rel, Mu: mu}, n)
					cov, mean := best(clips, d, n, mu, rel)
					if !(b.Covariance <= cov*(1+draws)) || !(b.Mean <= mean*(1+draws)) {
						t.Errorf("%v d=%d n=%g mu=%g: the bound %+v is above what the Gaussian mechanism reaches, %v and %v", rel, d, n, mu, b, cov, mean)
					}
					if cov > factor*b.Covariance || mean > factor*b.Mean {
						t.Errorf("%v d=%d n=%g mu=%g: the bound %+v is far below %v and %v", rel, d, n, mu, b, cov, mean)
					}
				}
			}
		}
	}
}

func TestLowerBoundShapes(t *testing.T) {
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, n := range []float64{10, 1e3, 1e5} {
			at := func(shape estimate.CovarianceType, d int, mu float64) LowerBound {
				return LowerBoundOf(estimate.Problem{Columns: d, Relation: rel, Mu: mu, Covariance: shape}, n)
			}
			for _, mu := range []float64{.01, .2, 2} {
				full, diagonal, spherical := at(estimate.Full, 6, mu), at(estimate.Diagonal, 6, mu), at(estimate.Spherical, 6, mu)
				// The estimate 0 has error sqrt d for every shape: no bound is above it.
				if !(spherical.Covariance <= diagonal.Covariance && diagonal.Covariance <= full.Covariance && full.Covariance < math.Sqrt(6)) {
					t.Errorf("n=%g mu=%g: full %v, diagonal %v, spherical %v", n, mu, full, diagonal, spherical)
				}
				if one := at(estimate.Full, 1, mu); !near(one.Covariance, at(estimate.Diagonal, 1, mu).Covariance, 1e-12) ||
					!near(one.Covariance, at(estimate.Spherical, 1, mu).Covariance, 1e-12) {
					t.Errorf("n=%g mu=%g: in one column all shapes are one", n, mu)
				}
				if full.Covariance < full.PlainCovariance || full.Mean < full.PlainMean {
					t.Errorf("privacy lowers the bound: %+v", full)
				}
			}
		}
	}
	if got := LowerBoundOf(estimate.Problem{Columns: 3, Mu: 1}, 0); got != (LowerBound{}) {
		t.Errorf("without rows: %+v", got)
	}
}

// What was measured makes sense: errors are not far below those without privacy nor, where privacy
// costs little, far above.
func TestTableIsSane(t *testing.T) {
	for _, p := range catalog.MeasuredErrors().Points() {
		if p.Method != "gaussian" || p.Released < 3 || p.Columns < 5 || p.Shape == estimate.Spherical {
			// the fewer numbers are estimated, the farther below the root mean square a median can
			// be
			continue
		}
		bound := LowerBoundOf(estimate.Problem{Columns: p.Columns, Relation: p.Relation, Mu: p.Mu, Covariance: p.Shape}, float64(p.Rows))
		if p.Covariance < .5*bound.Covariance || p.Mean < .4*bound.Mean || p.Covariance > 100*bound.Covariance {
			t.Errorf("%+v: the lower bound is %+v", p, bound)
		}
	}
}

func near(a, b, relative float64) bool { return math.Abs(a-b) <= relative*math.Abs(b) }
