package recursive

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/component"
)

// TestSteady: without noise nothing changes but the floor; noise pulls together what does not stand
// out and keeps its sum; what stands out stays.
func TestSteady(t *testing.T) {
	v := []float64{9, 4, 1, 1e-9}
	if steady(v, 0, .01); v[0] != 9 || v[1] != 4 || v[2] != 1 || v[3] != .01 {
		t.Errorf("without noise: %v", v)
	}
	v = []float64{1.2, 1.1, 1, .9, .8}
	if steady(v, 10, 0); stat.StdDev(v, nil) > 1e-12 {
		t.Errorf("in huge noise: %v", v)
	}
	v = []float64{1000, 1.2, 1.1, 1, .9, .8}
	if steady(v, .05, 0); v[0] != 1000 || math.Abs(v[1]+v[2]+v[3]+v[4]+v[5]-5) > 1e-9 || v[1] >= 1.2 || v[5] <= .8 {
		t.Errorf("in some noise: %v", v)
	}
	rng := newRand(t)
	for range 500 {
		d := 1 + rng.IntN(6)
		_, v := symmetric.Principal(randomCov(rng, d), 1)
		low, sigma := math.Exp(-3+rng.NormFloat64()), math.Exp(2*rng.NormFloat64())
		steady(v, sigma, low)
		for i, x := range v {
			if !(x >= low) || i > 0 && x > v[i-1]+1e-12 {
				t.Fatalf("%v with the least %v", v, low)
			}
		}
	}
}

// TestBox: the box of a node's tree lies boxSDs sds around its mean, cut off where the ball ends;
// the root's grows by what private PCA clipped; a node outside the ball has its own sds.
func TestBox(t *testing.T) {
	flat := component.Flat(2)
	for _, c := range []struct {
		name         string
		radius, clip float64
		mean         float64
		root         bool
		low, high    float64 // of the box, in column 0
	}{
		{"inside", 100, 100, 10, false, 10 - 2*boxSDs, 10 + 2*boxSDs},
		{"at the border", 12, 12, 10, false, 10 - 2*boxSDs, 12},
		{"wider than the ball", 5, 5, 0, false, -5, 5},
		{"the root", 100, 50, 0, true, -4 * boxSDs, 4 * boxSDs},
		{"outside", 3, 3, 100, false, 100 - 2*boxSDs, 100 + 2*boxSDs},
	} {
		f := &Finder{Space: flat, radius: c.radius, clip: c.clip}
		n := &node{view: f.Whole(), at: gaussAt(1, 1, c.mean, 0)}
		n.at.Cov.SetSym(0, 0, 4)
		if c.root {
			f.root = n
		}
		u, values := symmetric.Principal(n.at.Cov, 1)
		half := f.box(n, u, values)
		agree(t, c.name+": lower end", n.look.origin[0]-half[0], c.low)
		agree(t, c.name+": upper end", n.look.origin[0]+half[0], c.high)
	}
}

// TestWorthwhile: the directions of the node that has the most of them.
func TestWorthwhile(t *testing.T) {
	with := func(variances ...float64) *node {
		n := &node{at: component.Gaussian{Cov: mat.NewSymDense(len(variances), nil)}}
		for i, v := range variances {
			n.at.Cov.SetSym(i, i, v)
		}
		return n
	}
	for _, c := range []struct {
		nodes []*node
		most  int
		want  int
	}{
		{[]*node{with(1)}, 4, 1},
		{[]*node{with(9, 2, 1)}, 4, 2},
		{[]*node{with(9, 2, 1), with(1, 1, 1)}, 4, 3},
		{[]*node{with(1, 1, 1)}, 2, 2},
	} {
		if got := worthwhile(c.nodes, c.most, 6); got != c.want {
			t.Errorf("%d directions, want %d", got, c.want)
		}
	}
}

// TestSplit: kids share the node's weight, keep its variance where the tree did not look, and have
// the mixture's where it did.
func TestSplit(t *testing.T) {
	f, points := tree2()
	kid := f.root.kids[0]
	for i, want := range []float64{.25, .25, 36, 36, 36} {
		agree(t, "variance of a kid", kid.at.Cov.At(i, i), want)
	}
	for i, n := range f.root.leaves() {
		for l, want := range points[i] {
			agree(t, "mean of a leaf", n.at.Mean[l], want)
		}
	}
	agree(t, "weight of a kid", kid.at.Weight, 1./3)
	agree(t, "weight of a kid's kid", f.root.kids[1].kids[0].at.Weight, 1./6)
}
