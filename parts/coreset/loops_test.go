package coreset

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// plain are the loops of any length that those of fixed length stand for.
type plain struct{ points [][]float64 }

func (p plain) center(shares []float64, q int) (mean []float64, mass float64) {
	mean = make([]float64, q)
	for i, g := range shares {
		mass += g
		for l, x := range p.points[i] {
			mean[l] += g * x
		}
	}
	for l := range mean {
		mean[l] /= mass + massFloor
	}
	return mean, mass
}

func (p plain) scatter(shares, mean []float64) []float64 {
	q := len(mean)
	out, diff := make([]float64, q*q), make([]float64, q)
	for i, g := range shares {
		for l, m := range mean {
			diff[l] = p.points[i][l] - m
		}
		for a, v := range diff {
			v *= g
			for b := a; b < q; b++ {
				out[a*q+b] += v * diff[b]
			}
		}
	}
	return out
}

func (p plain) logDensities(inverse, mean []float64, logWeight float64) (out []float64) {
	q := len(mean)
	for _, x := range p.points {
		z2 := 0.0
		for a := range q {
			z := 0.0
			for b, v := range inverse[a*q : a*q+a+1] {
				z += v * (x[b] - mean[b])
			}
			z2 += z * z
		}
		out = append(out, logWeight-z2/2)
	}
	return out
}

// Loops of fixed length give the numbers of the plain loops, bit by bit, where the compiler does
// not fuse multiplications and additions; and the steps that are left out once one hardly changes
// the likelihood would together have changed it by no more than so many of them may.
func TestFastLoopsChangeNothing(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the compiler may fuse the two loops' operations differently")
	}
	for q := 1; q <= mostCoordinates; q++ {
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
				p := pointsOf(c)
				assign := p.parted(k, rng.Float64)
				a, b := newEM(p, assign), newEM(p, assign)
				a.run(t.Context(), emSteps)
				for range emSteps {
					b.expect()
					b.maximise()
				}
				b.expect()
				if off := math.Abs(a.loglik-b.loglik) / c.Total; !(off <= emSteps*settled) {
					t.Errorf("%d coordinates, own cells %v, %d components: the likelihoods differ by %g nats per row", q, own, k, off)
				}
				a.sameAs(t, plain{c.Points})
			}
		}
	}
}

// sameAs compares the loops on the state of a fit.
func (e *em) sameAs(t *testing.T, p plain) {
	t.Helper()
	n, q := len(e.p.weight), e.p.q
	mean, scatter, density := make([]float64, q), make([]float64, q*q), make([]float64, n)
	for j := range e.k {
		shares := e.shares[j*n : (j+1)*n]
		mass := e.center(shares, mean)
		want, all := p.center(shares, q)
		e.scatter(shares, mean, scatter)
		if mass != all || !slices.Equal(mean, want) || !slices.Equal(scatter, p.scatter(shares, mean)) {
			t.Errorf("%d coordinates, component %d: mass, mean or scatter differ", q, j)
		}
		if _, ok := inverseFactor(e.inverse, e.cov[j*q*q:(j+1)*q*q], q); !ok {
			continue
		}
		if e.logDensities(density, mean, math.Log(.3)); !slices.Equal(density, p.logDensities(e.inverse, mean, math.Log(.3))) {
			t.Errorf("%d coordinates, component %d: densities differ", q, j)
		}
	}
}
