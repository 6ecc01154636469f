package general

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
)

// TestNarrowGroups: two clusters, apart where the table as a whole is narrow and in no column, are
// found.
//
// False-alarm rate: below 1e-5, for two of four fits: 30 of 30 like them, in 4 to 8 columns, were
// right, and one of 30 without directions and narrow axes.
func TestNarrowGroups(t *testing.T) {
	const d, n, runs, least = 5, 14_000, 4, 2
	found := 0
	for i := 0; i < runs && found < least; i++ {
		rng := newRand(t)
		var qr mat.QR
		var axes mat.Dense
		random := mat.NewDense(d, d, nil)
		random.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, random)
		qr.Factorize(random)
		qr.QTo(&axes)
		rows := make([][]float64, n)
		for i := range rows {
			z := mat.NewVecDense(d, nil)
			for j := range d {
				z.SetVec(j, 10*rng.NormFloat64())
			}
			z.SetVec(0, rng.NormFloat64()+8*float64(i%5/3)) // two of five rows there
			var x mat.VecDense
			x.MulVec(&axes, z)
			rows[i] = x.RawVector().Data
		}
		f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: d, Mu: muOne, MaxComponents: 10, Noise: fresh})
		if f.Model == nil {
			t.Fatal(f.NoRelease)
		}
		// one component has no second or third weight
		if groups := append(slices.Clone(f.Model.Weights), 0, 0); groups[0] > .3 && groups[1] > .3 && groups[2] < .05 {
			found++
		}
	}
	if found < least {
		t.Errorf("%d of %d fits found two groups", found, runs)
	}
}

// Axes that begin with a direction describe the same Gaussian, and their first coordinate is along
// it.
func TestAxesFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 66))
	const d = 4
	f := mat.NewDense(d, d, nil)
	f.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, f)
	cov := symmetric.Congruence(f, symmetric.Identity(d))
	a := axesOf(cov)
	v := []float64{.6, 0, -.8, 0}
	b := a.first([][]float64{v})
	var back, one mat.Dense
	back.Mul(b.vec, b.vec.T())
	one.Mul(b.to, b.vec)
	along := 0.0
	for i := range d {
		for j := range d {
			if math.Abs(back.At(i, j)-cov.At(i, j)) > 1e-9 || math.Abs(one.At(i, j)-symmetric.Identity(d).At(i, j)) > 1e-9 {
				t.Fatalf("the axes have the covariance %v, want %v", mat.Formatted(&back), mat.Formatted(cov))
			}
		}
		var w float64 // the first coordinate of a's i-th axis, in its own sd
		for j := range d {
			w += b.to.At(0, j) * a.vec.At(j, i) * math.Sqrt(a.lambda[i])
		}
		along += w * v[i]
	}
	if math.Abs(math.Abs(along)-1) > 1e-9 || b.directed != 1 || a.first(nil) != a {
		t.Errorf("the first coordinate is along the direction by %g", along)
	}
}

// The Gram matrix of directions names the line that two clusters lie on, of equal and of unequal
// sizes, and nothing in a round Gaussian.
func TestUnlikeGaussian(t *testing.T) {
	const d, n = 5, 40_000
	rng := rand.New(rand.NewPCG(2, 66))
	for _, c := range []struct {
		part float64 // of the rows in the second cluster; 0: one Gaussian
	}{{0}, {.5}, {.3}, {.1}} {
		gram := mat.NewSymDense(d+1, nil)
		sd := math.Sqrt(c.part * (1 - c.part))
		for range n {
			x := []float64{directionsLift}
			for range d {
				x = append(x, rng.NormFloat64())
			}
			if c.part > 0 {
				x[3] = .2*x[3] - c.part/sd*.98
				if rng.Float64() < c.part {
					x[3] += .98 / sd
				}
			}
			v := mat.NewVecDense(d+1, x)
			gram.SymRankOne(gram, 1/mat.Dot(v, v), v)
		}
		out := unlikeGaussian(gram, .015)
		if c.part == 0 && len(out) != 0 || c.part > 0 && (len(out) == 0 || math.Abs(out[0][2]) < .95) {
			t.Errorf("%g of the rows in the second cluster: directions %v", c.part, out)
		}
	}
}
