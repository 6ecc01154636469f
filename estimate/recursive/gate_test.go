package recursive

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// gaussAt is a round component in d coordinates.
func gaussAt(weight, sd float64, mean ...float64) component.Gaussian {
	cov := mat.NewSymDense(len(mean), nil)
	cov.ScaleSym(sd*sd, symmetric.Identity(len(mean)))
	return component.Gaussian{Weight: weight, Mean: mean, Cov: cov, Uncertainty: component.StartUncertainty()}
}

// tree2 is a root in two columns of five, cut in three along columns 0 and 1, whose second kid is
// cut in two along column 2; and a point of each leaf, in the order of leaves.
func tree2() (f *Finder, points [][]float64) {
	const d = 5
	flat := component.Flat(d)
	f = &Finder{Space: flat, Run: ofRows(1000), radius: 100, clip: 100, Rest: 1}
	w := f.Whole()
	n := &node{view: w, at: gaussAt(1, 6, 0, 0, 0, 0, 0)}
	n.at.Cov.SetSym(0, 0, 40)
	n.at.Cov.SetSym(1, 1, 38)
	f.root, f.View = n, w
	cut := func(n *node, q int, centers ...[]float64) {
		u, values := symmetric.Principal(n.at.Cov, q)
		f.box(n, u, values)
		n.fits = &fits{set: &coreset.Coreset{Dim: q, Total: n.at.Weight * f.Rows}, rows: f.Rows}
		n.tree = coreset.NewDroppingTree(n.look.frame(flat), slices.Repeat([]float64{1}, q), 1, 1, 0, drops)
		m := &coreset.Mixture{}
		for _, c := range centers {
			at := n.look.down(c)
			m.Weights, m.Means = append(m.Weights, 1/float64(len(centers))), append(m.Means, at)
			s := mat.NewSymDense(q, nil)
			s.ScaleSym(.25, symmetric.Identity(q))
			m.Covs, m.Cells = append(m.Covs, s), append(m.Cells, slices.Repeat([]float64{1}, q))
		}
		n.split(m, f.Rows)
	}
	cut(n, 2, []float64{-8, 0, 0, 0, 0}, []float64{8, 0, 0, 0, 0}, []float64{0, 9, 0, 0, 0})
	n.kids[1].at.Cov.SetSym(2, 2, 400)
	cut(n.kids[1], 1, []float64{8, 0, -7, 0, 0}, []float64{8, 0, 7, 0, 0})
	return f, [][]float64{{-8, 0, 0, 0, 0}, {8, 0, -7, 0, 0}, {8, 0, 7, 0, 0}, {0, 9, 0, 0, 0}}
}

// TestLeafOrder: the leaves of the partition are the nodes' leaves, in order, and rows of a known
// mixture fall into their own; rows beyond the ball and rows far from every component fall into
// none.
func TestLeafOrder(t *testing.T) {
	f, points := tree2()
	rng := newRand(t)
	p := f.partition()
	leaves := f.root.leaves()
	if err := p.Validate(5); err != nil || p.Leaves() != 4 || len(leaves) != 4 {
		t.Fatalf("%d leaves for %d nodes: %v", p.Leaves(), len(leaves), err)
	}
	var rows []float64
	var want []int
	for i, c := range points {
		for l := range 3 {
			agree(t, "a leaf's mean", leaves[i].view.Up(leaves[i].at.Mean)[l], c[l])
		}
		for range 200 {
			for _, v := range c {
				rows = append(rows, v+.4*rng.NormFloat64())
			}
			want = append(want, i)
		}
	}
	for _, outlier := range [][]float64{{0, 0, 0, 0, 101}, {-8, -60, 0, 0, 0}, {math.NaN(), 0, 0, 0, 0}, {8, 0, 60, 0, 0}} {
		rows, want = append(rows, outlier...), append(want, -1)
	}
	got := make([]int, len(want))
	p.Sorter(5).Sort(got, rows)
	for i, w := range want {
		if got[i] != w {
			t.Errorf("row %v is in leaf %d, want %d", rows[i*5:(i+1)*5], got[i], w)
		}
	}
	total := 0.0
	for _, n := range leaves {
		total += n.at.Weight
	}
	agree(t, "weights of the leaves", total, 1)
}
