package blocks

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/internal/stattest"
)

// The tests of the mask's law make fewer than 200 statistical decisions at stattest.FalseAlarm
// each: their false-alarm rate is below 2e-7.
const alpha = stattest.FalseAlarm

func runs() int {
	if os.Getenv("GAUZE_LONG") != "" {
		return 20_000
	}
	return 2000
}

func ideal(r *rand.Rand) func() *big.Float {
	return func() *big.Float { return big.NewFloat(r.NormFloat64()) }
}

// sampled are the numbers of n released components, by coordinate: weight, mean, lower triangle of
// the root.
func sampled(n int, release func() Component) [][]float64 {
	var out [][]float64
	for range n {
		c := release()
		x := append([]float64{c.Weight}, c.Mean...)
		for i := range c.Mean {
			x = append(x, c.Root[i*len(c.Mean):i*len(c.Mean)+i+1]...)
		}
		for j, v := range x {
			if len(out) <= j {
				out = append(out, nil)
			}
			out[j] = append(out[j], v)
		}
	}
	return out
}

// tallies counts a and b in the 20 cells that a third sample, of the first law, makes.
func tallies(cells, a, b []float64) (x, y []int) {
	edges := slices.Clone(cells)
	slices.Sort(edges)
	count := func(xs []float64) []int {
		n := make([]int, 20)
		for _, v := range xs {
			at, _ := slices.BinarySearch(edges, v)
			n[min(19, at*20/len(edges))]++
		}
		return n
	}
	return count(a), count(b)
}

// products adds to the coordinates the products of two of them, less their means in the sample ref:
// how they go together.
func products(xs, ref [][]float64) [][]float64 {
	out := slices.Clone(xs)
	for i := range xs {
		for j := range i {
			p, mi, mj := make([]float64, len(xs[0])), mean(ref[i]), mean(ref[j])
			for n := range p {
				p[n] = (xs[i][n] - mi) * (xs[j][n] - mj)
			}
			out = append(out, p)
		}
	}
	return out
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// A law is known by a sample, its products included, and the cells that another sample makes.
type law struct{ sample, ref, cells [][]float64 }

func lawOf(release func() Component) law {
	ref := sampled(runs()/4, release)
	return law{products(sampled(runs(), release), ref), ref, products(ref, ref)}
}

// compare compares every coordinate, and all products of two.
func (l law) compare(t *testing.T, good bool, other func() Component) {
	t.Helper()
	b := products(sampled(runs(), other), l.ref)
	caught := false
	for i := range b {
		x, y := tallies(l.cells[i], l.sample[i], b[i])
		if good {
			stattest.GoodSameLaw(t, x, y, alpha)
		} else {
			caught = caught || quietly(func() { stattest.GoodSameLaw(silent{t}, x, y, alpha) })
		}
	}
	if !good && !caught {
		t.Error("a law that is another one was not told apart")
	}
}

// silent turns a failure of a Good... test into a panic that quietly reports.
type silent struct{ testing.TB }

func (silent) Errorf(string, ...any) { panic(silent{}) }

func quietly(f func()) (failed bool) {
	defer func() {
		if x := recover(); x != nil {
			_, failed = x.(silent)
			if !failed {
				panic(x)
			}
		}
	}()
	f()
	return false
}

// lift is sqrt(Weight) [[Root, Mean], [0, 1]].
func lift(c Component) []float64 {
	d := len(c.Mean)
	n := d + 1
	l := make([]float64, n*n)
	for i := range d {
		copy(l[i*n:], c.Root[i*d:i*d+d])
		l[i*n+d] = c.Mean[i]
	}
	l[n*n-1] = 1
	for i := range l {
		l[i] *= math.Sqrt(c.Weight)
	}
	return l
}

// TestMaskedLaw: what is released has the same law in another frame, whose root is turned and
// skewed and whose place and weight are others; and not the same law for another matrix, with other
// noise, or where the frame's root is turned and the matrix is not.
func TestMaskedLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const d, eta = 2, .2
	n := d + 1
	f := Component{Weight: .4, Mean: []float64{5, -3}, Root: []float64{2, 0, 1, .5}}
	x := []float64{1.8, .3, .1, .3, .6, -.2, .1, -.2, 1.1}
	of := func(f Component, x []float64, eta float64) func() Component {
		return func() Component { return Masked([]Component{f}, [][]float64{x}, eta, ideal(r))[0] }
	}
	g := Component{Weight: .9, Mean: []float64{4, -1}, Root: []float64{.3, 2, -1.5, .7}}
	change, _ := dense.Invert(lift(g), n)
	change = dense.Mul(change, lift(f), n, n, n)
	root := slices.Clone(x)
	dense.Cholesky(root, n)
	base := lawOf(of(f, x, eta))
	base.compare(t, true, of(g, gram(dense.Mul(change, root, n, n, n), n), eta))

	turned := f
	turned.Root = dense.Mul(f.Root, []float64{.6, -.8, .8, .6}, d, d, d)
	base.compare(t, false, of(turned, x, eta))
	base.compare(t, false, of(f, x, .6*eta))
	larger := slices.Clone(x)
	larger[4] *= 1.7
	base.compare(t, false, of(f, larger, eta))
}

func identity(n int) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		m[i*n+i] = 1
	}
	return m
}

// TestMaskedParametersLaw: any root of the covariance gives the same law, and the mean's noise has
// the covariance's shape, not the masked one's.
func TestMaskedParametersLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const d = 2
	c := Component{Weight: .4, Mean: []float64{5, -3}, Root: []float64{2, 0, 1, .5}}
	turned := c
	turned.Root = dense.Mul(c.Root, rotation(r, d), d, d, d)
	of := func(c Component, w, m, s float64) func() Component {
		return func() Component { return MaskedParameters([]Component{c}, w, m, s, ideal(r))[0] }
	}
	first := lawOf(of(c, .1, .3, .2))
	first.compare(t, true, of(turned, .1, .3, .2))
	for _, other := range []func() Component{of(c, .15, .3, .2), of(c, .1, .45, .2), of(c, .1, .3, .3),
		of(Component{Weight: .4, Mean: c.Mean, Root: []float64{2, 0, .5, .5}}, .1, .3, .2)} {
		first.compare(t, false, other)
	}
	xs := first.sample
	stattest.GoodMean(t, xs[0], .4, .1, alpha)
	stattest.GoodMean(t, xs[1], 5, .3*2, alpha)
	stattest.GoodMean(t, xs[2], -3, .3*math.Hypot(1, .5), alpha)
	stattest.GoodKS(t, xs[1], func(x float64) float64 { return .5 * math.Erfc(-(x-5)/(.3*2)/math.Sqrt2) }, alpha)
	stattest.BadKS(t, xs[1], func(x float64) float64 { return .5 * math.Erfc(-(x-5)/(.3*3)/math.Sqrt2) }, alpha)
}

// TestMaskedMoments: read back into the frame, M has mean (1+eta^2 D) I and entries of variance 2
// eta^2 + D eta^4, twice that on the diagonal.
func TestMaskedMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const d, eta = 2, .25
	n := d + 1
	f := Component{Weight: .4, Mean: []float64{5, -3}, Root: []float64{.3, 2, -1.5, .7}}
	back, _ := dense.Invert(lift(f), n)
	entries := make([][]float64, n*n)
	for range runs() {
		m := gram(dense.Mul(back, lift(Masked([]Component{f}, [][]float64{identity(n)}, eta, ideal(r))[0]), n, n, n), n)
		for i, x := range m {
			entries[i] = append(entries[i], x)
		}
	}
	for i := range n {
		for j := range n {
			want, variance := 0.0, eta*eta*(2+float64(n)*eta*eta)
			if i == j {
				want, variance = 1+eta*eta*float64(n), 2*variance
			}
			xs := entries[i*n+j]
			stattest.GoodMean(t, xs, want, math.Sqrt(variance), alpha)
			stattest.BadMean(t, xs, want+3*eta*eta, math.Sqrt(variance), alpha)
			// the squares' sd is near sqrt 2 of their mean, and surely below 2
			for k, x := range xs {
				xs[k] = (x - want) * (x - want) / variance
			}
			stattest.GoodMean(t, xs, 1, 2, alpha)
			stattest.BadMean(t, xs, 1.5, 2, alpha)
		}
	}
}
