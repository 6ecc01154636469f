package recursive

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// binned is what a refinement is answered about a window: the rows below, in the bins and above.
func binned(w window, xs ...float64) []float64 {
	counts := make([]float64, refineBins+2)
	for _, x := range xs {
		b := int(math.Floor((x-w.mid)/w.half*refineBins/2 + refineBins/2 + 1))
		counts[max(0, min(b, refineBins+1))]++
	}
	return counts
}

// TestCloseFollowsTheRows: the window closes in on rows of a small scale, holds them all the time,
// and ends with their place and sd.
func TestCloseFollowsTheRows(t *testing.T) {
	rng := newRand(t)
	for _, at := range []struct{ mid, sd float64 }{{.3, 1e-2}, {-.7, 1e-6}, {.013, 1e-9}, {0, 1e-3}} {
		w := window{half: 1}
		xs := make([]float64, 5000)
		for i := range xs {
			xs[i] = at.mid + at.sd*rng.NormFloat64()
		}
		steps := 0
		for ; !w.done && steps < mostRefinements; steps++ {
			before := w
			w.close(binned(w, xs...), float64(len(xs)), 3)
			if !w.done && (w.half > before.half/5 || math.Abs(w.mid-at.mid) > w.half) {
				t.Fatalf("%+v: from %+v to %+v", at, before, w)
			}
		}
		// The last window may hold little more than zoomTogether of the rows: its sd is then short
		// of theirs.
		if !w.done || math.Abs(w.mid-at.mid) > .2*at.sd || w.spread() < .6*at.sd || w.spread() > 1.3*at.sd {
			t.Errorf("%+v after %d steps: %+v, spread %v", at, steps, w, w.spread())
		}
	}
}

// TestClose at its ends: rows all over the window, rows outside, a window at the end of float64,
// one that is done.
func TestClose(t *testing.T) {
	start := window{mid: 5, half: 2}
	middle := make([]float64, 100)
	even := make([]float64, 1600)
	for i := range middle {
		middle[i] = 5.1
	}
	for i := range even {
		even[i] = 3 + 4*(float64(i)+.5)/1600
	}
	w := start
	if w.close(binned(start, even...), 1600, 3); !w.done || math.Abs(w.mid-5) > 1e-9 || math.Abs(w.spread()-4/math.Sqrt(12)) > 1e-9 {
		t.Errorf("even rows: %+v", w)
	}
	w = start
	if w.close(binned(start, 1, 2, 99), 100, 2); !w.done || w.mid != 5 || math.Abs(w.spread()-2/math.Sqrt(3)) > 1e-12 {
		t.Errorf("rows outside: %+v", w)
	}
	w = window{mid: 5, half: 1e-14}
	if w.close(binned(w, 5, 5, 5, 5), 4, .1); !w.done {
		t.Errorf("at the end of float64: %+v", w)
	}
	w = window{mid: 5, half: 2, sd: 1, done: true}
	if was := w; true {
		if w.close(binned(start, middle...), 100, 1); w != was {
			t.Errorf("a window that is done moved: %+v", w)
		}
	}
	rng := newRand(t)
	for range 1000 { // noise only
		w, counts := start, make([]float64, refineBins+2)
		for b := range counts {
			counts[b] = 1000 * rng.NormFloat64()
		}
		w.close(counts, 1e4*rng.Float64(), 1)
		if s := w.spread(); !(s > 0 && s <= start.half) || math.Abs(w.mid-5) > 2+1e-9 {
			t.Fatalf("noise: %+v, spread %v", w, s)
		}
	}
}

// TestBlur: a component is a blur if it is narrow, against the finest cells, in every direction of
// the tree.
func TestBlur(t *testing.T) {
	n := &node{tree: coreset.NewDroppingTree(flatFrame(2), []float64{8, 4}, 2, 5, 0, drops)}
	finest := n.tree.Finest()
	m := &coreset.Mixture{Cells: [][]float64{{0, 0}}, Covs: []*mat.SymDense{mat.NewSymDense(2, []float64{finest[0], 0, 0, finest[1]})}}
	if !n.blur(m, 0) {
		t.Error("a component of the finest cell's size is a blur")
	}
	m.Covs[0].SetSym(1, 1, 100*finest[1])
	if n.blur(m, 0) {
		t.Error("a component that is wide in one direction is none")
	}
}

// TestBins: what bins asks is valid for windows of any size, in the table's own units; constant
// columns have no edges.
func TestBins(t *testing.T) {
	f := &Finder{Space: component.Flat(2)}
	f.Problem.Columns = 3
	f.Space.Columns, f.Space.Center, f.Space.Scale = []int{2, 0}, []float64{1e9, -1}, []float64{1e-3, 8}
	for _, half := range []float64{1, 1e-20, 0, 1e290} {
		q := f.bins([]window{{mid: .5, half: half}, {mid: 1e9, half: half}}, refineBins)
		if err := q.Validate(3); err != nil || len(q.Edges[1]) != 0 || len(q.Edges[0]) != refineBins+1 {
			t.Errorf("half-width %v: %v, %v", half, err, q.Edges)
		}
	}
	q := f.bins([]window{{mid: .5, half: 1}, {mid: 2, half: 1}}, refineBins)
	agree(t, "first edge", q.Edges[0][0], -1+8*1)
	agree(t, "last edge", q.Edges[2][refineBins], 1e9+1.5e-3)
}
