package coreset

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// Loops of fixed length, and steps left out because they would repeat the last, give the numbers of
// the plain loops, bit by bit, where the compiler does not fuse multiplications and additions.
func TestFastLoopsChangeNothing(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the compiler may fuse the two loops' operations differently")
	}
	for q := 1; q <= fewCoordinates; q++ {
		for _, own := range []float64{0, .5} {
			rng := rand.New(rand.NewPCG(uint64(q), 7))
			c := &Coreset{Dim: q, OwnCells: own}
			for i := range 300 {
				x, v := make([]float64, q), make([]float64, q)
				for l := range x {
					x[l], v[l] = rng.NormFloat64()+float64(5*(i%3)), .01*float64(1+i%2)
				}
				w := 1 + 100*rng.Float64()
				c.Points, c.Cells, c.Weights, c.Total = append(c.Points, x), append(c.Cells, v), append(c.Weights, w), c.Total+w
			}
			for k := 1; k <= 5; k++ {
				fast, plain := pointsOf(c), pointsOf(c)
				plain.few = nil
				assign := fast.parted(k, rng.Float64)
				a, b := newEM(fast, assign), newEM(plain, assign)
				a.run(t.Context(), emSteps)
				for range emSteps {
					b.expect()
					b.maximise()
				}
				b.expect()
				if a.loglik != b.loglik || !slices.Equal(a.w, b.w) || !slices.Equal(a.mean, b.mean) || !slices.Equal(a.cov, b.cov) || !slices.Equal(a.shares, b.shares) {
					t.Errorf("%d coordinates, own cells %v, %d components: the fits differ", q, own, k)
				}
			}
		}
	}
}
