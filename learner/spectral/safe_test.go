package spectral

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
)

// TestSafe: rows of very different sizes, also such that their squares are not in range, have the
// triangle, the norms and the rotations that their digits have at moderate sizes.
func TestSafe(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 7))
	for n := 1; n <= 8; n++ {
		m := n + 3
		a := make([]float64, n*m)
		for i := range a {
			a[i] = g.NormFloat64()
		}
		plain := dense.LQ(slices.Clone(a), n, m)
		norms := make([]float64, n)
		dense.Orthogonalize(slices.Clone(plain), n, norms)
		wide := slices.Clone(a)
		for i := range wide {
			wide[i] = math.Ldexp(wide[i], 800-200*(i/m))
		}
		l := safeLQ(wide, n, m)
		for i := range l {
			if got := math.Ldexp(l[i], 200*(i/n)-800); math.Abs(got-plain[i]) > 1e-13 {
				t.Fatalf("n = %d: entry %d of the triangle is %v, want %v", n, i, got, plain[i])
			}
			l[i] = math.Ldexp(plain[i], 600)
		}
		turns := dense.Identity(n)
		w := slices.Clone(l)
		values := safeOrthogonalize(w, n, n, turns)
		slices.Sort(norms)
		sorted := slices.Sorted(slices.Values(values))
		for i, v := range sorted {
			if math.Abs(math.Ldexp(v, -600)-norms[i]) > 1e-13*norms[n-1] {
				t.Errorf("n = %d: singular value %v, want %v", n, math.Ldexp(v, -600), norms[i])
			}
		}
		for i, v := range dense.Mul(turns, l, n, n, n) {
			if math.Abs(v-w[i]) > 0x1p600*1e-13*norms[n-1] {
				t.Errorf("n = %d: the rotations do not lead to the rows", n)
			}
			w[i] = v
		}
		one := dense.Identity(n)
		for i, v := range dense.Gram(turns, n) {
			if e := math.Abs(v - one[i]); e > 1e-13 {
				t.Errorf("n = %d: the rotations' product is %v from orthogonal", n, e)
			}
		}
	}
	for _, norm := range []func([]float64) float64{safeNorm, symmetric.HypotNorm} {
		if x := norm([]float64{3e300, -4e300}); x != 5e300 {
			t.Errorf("norm %v, want 5e300", x)
		}
	}
	if x := safeOrthogonalize([]float64{0, 0, 0, 2}, 2, 2, nil); !slices.Equal(x, []float64{0, 2}) {
		t.Errorf("norms %v", x)
	}
}
