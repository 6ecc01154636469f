package recursive

import (
	"testing"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// TestForce: asked for more components than are apart, the coreset that gains most is cut, until
// there are so many or no leaf is left to split.
func TestForce(t *testing.T) {
	rng := newRand(t)
	start := func(asked int) *Finder {
		f := &Finder{Context: t.Context(), Space: component.Flat(2), Run: ofRows(3000), radius: 50, clip: 50}
		n := &node{view: f.Whole(), at: gaussAt(1, 3, 0, 0)}
		u, values := symmetric.Principal(n.at.Cov, 2)
		f.box(n, u, values)
		n.fits = fitsOf(t, blobs(rng, 1000, .7, []float64{-1, 0}, []float64{1, 0}, []float64{0, 6}), 13.5, 3)
		n.tree = coreset.NewDroppingTree(n.look.frame(f.Space), []float64{13.5, 13.5}, 3, 7, 0, drops)
		f.root, f.View = n, n.view
		f.Problem.Components = asked
		return f
	}
	for _, k := range []int{1, 2, 3, 5} {
		f := start(k)
		if err := f.Force(); err != nil {
			t.Fatal(err)
		}
		leaves := f.root.leaves()
		if len(leaves) != k {
			t.Errorf("asked for %d: %d leaves", k, len(leaves))
		}
		w := 0.0
		for _, n := range leaves {
			w += n.at.Weight
		}
		if w > 1+1e-9 || w < .7 {
			t.Errorf("asked for %d: the leaves hold %v of the rows", k, w)
		}
	}
	f := start(40)
	f.root.fits = &fits{set: &coreset.Coreset{Dim: 2, Points: [][]float64{{0, 0}, {5, 5}}, Cells: [][]float64{{.1, .1}, {.1, .1}}, Weights: []float64{100, 100}, Total: 200, SD: 1}, rows: 200}
	if err := f.Force(); err != nil || len(f.root.leaves()) > 2 {
		t.Errorf("%d leaves of a coreset of two points", len(f.root.leaves()))
	}
}

// TestLeast is the floor of a covariance, relative to its largest variance and never 0.
func TestLeast(t *testing.T) {
	agree(t, "least", least(gaussAt(1, 3, 0, 0).Cov)/flattestComponent, 9)
	if got := least(gaussAt(1, 0, 0, 0).Cov); !(got > 0) {
		t.Errorf("of a point: %v", got)
	}
}
