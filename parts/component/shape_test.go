package component

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

// exact are the sums without noise of n rows N(mean, cov) in a ball that holds them all.
func exact(n float64, mean []float64, cov *mat.SymDense) (s Sums, how Clipping) {
	d := len(mean)
	s = Sums{Count: n, Second: mat.NewSymDense(d, nil), SecondSD: 3, TraceSD: 3}
	for i := range d {
		s.Sum = append(s.Sum, n*mean[i])
		for j := i; j < d; j++ {
			s.Second.SetSym(i, j, n*(cov.At(i, j)+mean[i]*mean[j]))
		}
		s.Trace += s.Second.At(i, i)
	}
	return s, Clipping{L: mat.DenseCopyOf(symmetric.Identity(d)), Law: ClippedGaussian(d, 1e4)}
}

// TestPooled: of components of one shape and one size in their frames it is that shape, and they do
// not differ; of others it is the mean, and how they differ is seen beyond the noise. The noise is
// that of all over the rows of all.
func TestPooled(t *testing.T) {
	rng := newRand(t)
	for range 100 {
		d, k := 2+rng.IntN(5), 2+rng.IntN(4)
		g := randomGauss(rng, d)
		size := mat.Trace(g.Cov) / float64(d)
		g.Cov.ScaleSym(1/size, g.Cov)
		var sums []Sums
		var how []Clipping
		rows := 0.0
		for range k {
			n := 1000 * (1 + rng.Float64())
			s, h := exact(n, g.Mean, g.Cov)
			sums, how, rows = append(sums, s), append(how, h), rows+n
		}
		got := Pooled(query.FullForm, sums, how)
		for i := range d {
			for j := i; j < d; j++ {
				want := g.Cov.At(i, j)
				if i == j {
					want--
				}
				if e := got.Excess.At(i, j) - want; math.Abs(e) > 1e-6*(1+math.Abs(want)) {
					t.Fatalf("entry %d, %d is %v, want %v", i, j, got.Excess.At(i, j), want)
				}
			}
		}
		if want := 3 * math.Sqrt(float64(k)) / rows; math.Abs(got.SD/want-1) > 1e-6 {
			t.Errorf("noise %v, want %v", got.SD, want)
		}
		if got.Differ != 0 {
			t.Errorf("like components differ by %v", got.Differ)
		}
		other := mat.NewSymDense(d, nil)
		other.CopySym(g.Cov)
		other.SetSym(0, 0, other.At(0, 0)+1)
		other.SetSym(1, 1, other.At(1, 1)+.5)
		sums[0], how[0] = exact(1500, g.Mean, other)
		if got := Pooled(query.FullForm, sums, how); !(got.Differ > 1e-3/float64(d*d)) {
			t.Errorf("a component that differs does so by %v", got.Differ)
		}
	}
}

// TestAlike: components keep their sizes and get one shape, which is theirs where they have one
// already.
func TestAlike(t *testing.T) {
	rng := newRand(t)
	for range 100 {
		d := 1 + rng.IntN(6)
		a, b := randomGauss(rng, d), randomGauss(rng, d)
		logDet := func(c *mat.SymDense) float64 { _, _, l := symmetric.Factor(c); return l }
		was := []float64{logDet(a.Cov), logDet(b.Cov)}
		cs := []Gaussian{a, b}
		for range 2 { // the second time changes nothing
			ShareShape(cs)
			var ratio mat.SymDense
			ratio.ScaleSym(cs[1].Cov.At(0, 0)/cs[0].Cov.At(0, 0), cs[0].Cov)
			if !mat.EqualApprox(&ratio, cs[1].Cov, 1e-8) {
				t.Fatalf("shapes %v and %v", mat.Formatted(cs[0].Cov), mat.Formatted(cs[1].Cov))
			}
			for j, w := range was {
				if math.Abs(logDet(cs[j].Cov)-w) > 1e-6 {
					t.Fatalf("log determinant %v, want %v", logDet(cs[j].Cov), w)
				}
			}
		}
	}
}

// TestRecenter: a sphere moves to where the rows are, all in one place far out in its frame, and
// becomes as narrow as they lie about it, but for the noise; without rows it grows no wider.
func TestRecenter(t *testing.T) {
	d, n := 50, 1000.0
	c := Gaussian{Weight: .5, Mean: make([]float64, d), Cov: symmetric.Scaled(4, symmetric.Identity(d)), Uncertainty: StartUncertainty()}
	at := make([]float64, d)
	for i := range at {
		at[i] = .9
	}
	s, how := exact(n, at, symmetric.Scaled(.01, symmetric.Identity(d)))
	how.L = mat.DenseCopyOf(symmetric.Scaled(2, symmetric.Identity(d)))
	s.SumSD, s.CountSD = .05*n, 1
	got := Update{Rows: 2 * n}.Recenter(c, s, how)
	for i, m := range got.Mean {
		if math.Abs(m-2*.9) > 1e-3 {
			t.Errorf("coordinate %d of the mean is %v", i, m)
		}
	}
	if v := got.Cov.At(0, 0) / 4; v < .01+.05*.05 || v > .01+3*.05*.05 {
		t.Errorf("size %v", v)
	}
	s.Trace, s.CountSD, s.SumSD = -5*s.Trace, n, 20*n
	if v := (Update{Rows: 2 * n}).Recenter(c, s, how).Cov.At(0, 0); v > 4 {
		t.Errorf("without rows it has the variance %v", v)
	}
}

// TestPooledDiagonal: of the diagonal form it is the diagonal that components have in common.
func TestPooledDiagonal(t *testing.T) {
	want := []float64{.5, 1, 1.5}
	s, how := exact(1000, []float64{1, -1, .5}, symmetric.Diagonal(want))
	s.Second = symmetric.OnlyDiagonal(s.Second, false)
	got := Pooled(query.DiagonalForm, []Sums{s, s}, []Clipping{how, how})
	for i, v := range want {
		if math.Abs(got.Excess.At(i, i)-(v-1)) > 1e-6 || got.Excess.At(0, 1) != 0 || got.Excess.At(1, 2) != 0 {
			t.Errorf("excess %v", mat.Formatted(got.Excess))
		}
	}
}

// TestOf: a shape that is known from all is what they have in common where they do not differ, its
// own where they do beyond noise, and never has a variance of none or less, whatever noise said.
func TestOf(t *testing.T) {
	rng := newRand(t)
	for range 20 {
		d, k, n := 3+rng.IntN(10), 30, 1e5
		differ := []float64{0, .8}[rng.IntN(2)]
		var sums []Sums
		var how []Clipping
		var truth []*mat.SymDense
		for range k {
			c := symmetric.Of(d, func(i, j int) float64 {
				if i != j {
					return 0
				}
				return math.Exp(differ * rng.NormFloat64())
			})
			c = symmetric.Scaled(float64(d)/mat.Trace(c), c)
			s, h := exact(n, make([]float64, d), c)
			s.SecondSD = .2 * n
			for i := range d {
				for j := i; j < d; j++ {
					sd := s.SecondSD
					if i != j {
						sd /= math.Sqrt2
					}
					s.Second.SetSym(i, j, s.Second.At(i, j)+sd*rng.NormFloat64())
				}
			}
			sums, how, truth = append(sums, s), append(how, h), append(truth, c)
		}
		shape := Pooled(query.FullForm, sums, how)
		raw, drawn := 0.0, 0.0
		for j, c := range truth {
			own := symmetric.Scaled(1/n, sums[j].Second)
			excess := symmetric.Of(d, func(a, b int) float64 {
				if a == b {
					return own.At(a, b) - 1
				}
				return own.At(a, b)
			})
			got, left := shape.of(excess, 1, .2, n)
			if values, ok := symmetric.Eigenvalues(symmetric.OnlyDiagonal(got, false)); !ok || slices.Min(values) <= 0 || left < 0 {
				t.Fatalf("variances %v, in doubt by %v", values, left)
			}
			var off mat.Dense
			off.Sub(own, c)
			raw += sq(mat.Norm(&off, 2))
			off.Sub(got, c)
			drawn += sq(mat.Norm(&off, 2))
		}
		if most := raw * []float64{.3, .6}[min(1, int(2*differ))]; drawn > most {
			t.Errorf("%d columns that differ by %v: squared error %v, %v as measured", d, differ, drawn, raw)
		}
	}
}
