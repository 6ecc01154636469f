package recursive

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
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

// spans reports whether axis i lies in the view's plane.
func spans(w View, i int) bool {
	p := 0.0
	for j := range w.Dim() {
		p += sq(w.V.At(i, j))
	}
	return math.Abs(p-1) < 1e-6
}

// TestMeanSpan: the directions between means count alike, however near or far they are; without
// any, the widest direction is taken.
func TestMeanSpan(t *testing.T) {
	for _, far := range []float64{1, 1e9, 1e100} {
		w := meanSpan([]component.Gaussian{gaussAt(.3, 1, 0, 0, 0, 0, 0), gaussAt(.3, 1, far, 0, 0, 0, 0), gaussAt(.4, 1, 0, 1/far, 0, 0, 0)})
		if w.Dim() != 2 || !spans(w, 0) || !spans(w, 1) {
			t.Errorf("differences of %v and %v: %v", far, 1/far, mat.Formatted(w.V))
		}
		orthonormal(t, w.V)
	}
	line := meanSpan([]component.Gaussian{gaussAt(.3, 1, 0, 0, 0), gaussAt(.3, 1, 0, 0, 4), gaussAt(.4, 1, 0, 0, -9)})
	if line.Dim() != 1 || !spans(line, 2) {
		t.Errorf("means on a line: %v", mat.Formatted(line.V))
	}
	wide := gaussAt(1, 1, 2, 2, 2)
	wide.Cov.SetSym(1, 1, 100)
	for _, g := range [][]component.Gaussian{{wide}, {wide, wide}} {
		if w := meanSpan(g); w.Dim() != 1 || !spans(w, 1) {
			t.Errorf("%d components in one place: %v", len(g), mat.Formatted(w.V))
		}
	}
	huge := meanSpan([]component.Gaussian{gaussAt(.5, 1, 1e308, 0), gaussAt(.5, 1, -1e308, 0)})
	if !dense.AllFinite(huge.V.RawMatrix().Data) {
		t.Errorf("a difference that overflows: %v", mat.Formatted(huge.V))
	}
}

// TestRounder: the trace is kept, more noise makes rounder, and no component becomes quite round or
// stays as it is.
func TestRounder(t *testing.T) {
	s := mat.NewSymDense(2, []float64{9, 2, 2, 1})
	last := math.Inf(1)
	for _, sigma := range []float64{1e-6, .05, .2, 1e6} {
		out := rounder(s, component.Gaussian{Mean: make([]float64, 2), Sigma: sigma})
		agree(t, "trace", mat.Trace(out), 10)
		_, values := symmetric.Principal(out, 1)
		if ratio := values[0] / values[1]; ratio > last || ratio < 1+1e-9 {
			t.Errorf("noise %v: variances %v after a ratio of %v", sigma, values, last)
		} else {
			last = ratio
		}
	}
	if out := rounder(s, component.Gaussian{Mean: make([]float64, 2)}); math.Abs(out.At(0, 1)-2*(1-roundGate)) > 1e-12 {
		t.Errorf("without known noise: %v", mat.Formatted(out))
	}
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

// TestAssign: every row of a known mixture goes to its component, whatever the scales; outliers go
// to none.
func TestAssign(t *testing.T) {
	rng := newRand(t)
	f := &Finder{Space: component.Flat(3), Run: ofRows(1000)}
	g := []component.Gaussian{gaussAt(.2, 1, 0, 0, 0), gaussAt(.3, 1e-3, 8, 0, 0), gaussAt(.3, 1e-3, 8.02, 0, 0), gaussAt(.2, 20, 0, 200, 0)}
	var rows []float64
	var want []int
	for j, c := range g {
		for range 200 {
			for l := range 3 {
				rows = append(rows, c.Mean[l]+math.Sqrt(c.Cov.At(l, l))*rng.NormFloat64())
			}
			want = append(want, j)
		}
	}
	rows, want = append(rows, 1e4, -1e4, 0), append(want, -1)
	got := make([]int, len(want))
	p := f.Assign(g)
	if err := p.Validate(3); err != nil {
		t.Fatal(err)
	}
	p.Sorter(3).Sort(got, rows)
	for i, w := range want {
		if got[i] != w {
			t.Errorf("row %v is in component %d, want %d", rows[i*3:(i+1)*3], got[i], w)
		}
	}
}
