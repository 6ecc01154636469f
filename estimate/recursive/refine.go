package recursive

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// Utility constants of the zoom, guesses.
const (
	refineBins = 16 // per column and step
	// of the node's rows in two bins side by side: the window closes in on them
	refineTogether = .7
	refineMargin   = .25 // of a bin, kept on either side
	// noise sds of a count that a node must hold to be refined: noise must not close a window
	refineSDs       = 20.0
	mostRefinements = 14 // steps; each divides a window by more than five
	// a component of less variance than this many finest cells in every direction is a blur
	blurred = 4.0
	// sds to either side: a cell that all of it lies in may be nine times as wide as EM says
	firstWindow = 10.0
	// least bin, relative to its place in working coordinates: float64 ends there
	refineWindow = 1e-14
)

// blur reports whether the cells of n's tree are too coarse to show what is inside component j of
// m.
func (n *node) blur(m *coreset.Mixture, j int) bool {
	for i, v := range n.tree.Finest() {
		if m.Covs[j].At(i, i)-coreset.PooledFloor*m.Cells[j][i] > blurred*v {
			return false
		}
	}
	return true
}

// blurs returns the leaves that were not yet measured at their own scale.
func (f *Finder) blurs() []*node {
	return slices.DeleteFunc(f.root.leaves(), func(n *node) bool { return !n.blurred })
}

// window is where a zoom looks in one column of a node.
type window struct {
	mid, half float64
	sd        float64 // once it is done
	done      bool
}

// zoom finds the place and the scale of nodes of which no more is known than that all of it lies in
// a few cells: for every column a histogram over the node's window, as often as two bins hold most
// of the rows, which then become the window.
//
// Source: [KSSU19] Section C.5 of the restatement; its stages A and B inside nodes.
// Differs: histograms of fixed bins instead of pairs of rows and a stability threshold, so that no
// delta is spent.
func (f *Finder) refine(blurs []*node) error {
	if f.Without.Refinement {
		for _, n := range blurs {
			n.blurred, n.refined = false, true
		}
		return nil
	}
	nodes := f.root.leaves()
	windows := make([][]window, len(nodes))
	open := map[*node]bool{}
	mu := f.Mu(refineShare)
	sd := f.Factor * math.Sqrt(float64(f.Space.Dim())) / mu // of a count: see query.Counts
	for _, n := range blurs {
		n.blurred, n.refined = false, true
		open[n] = n.at.Weight*f.Rows > refineSDs*sd // otherwise the moments have to find it
	}
	for i, n := range nodes {
		windows[i] = f.windows(n, firstWindow)
		for j, w := range windows[i] {
			windows[i][j].done = !open[n] || !(w.half > 0)
		}
	}
	for range mostRefinements {
		done := !slices.ContainsFunc(slices.Concat(windows...), func(w window) bool { return !w.done })
		if done || !f.affords(refineShare+lookShare+regrowCost) {
			break
		}
		queries := parts.Map(windows, func(w []window) query.Counts { return f.bins(w, refineBins) })
		answers, err := parts.AskLeaves(f.SubBudget, f.Prefix+stepRefine, f.partition(), queries, mu)
		if err != nil {
			return err
		}
		for i, a := range answers {
			for j := range windows[i] {
				counts := a.Values[j*(refineBins+2) : (j+1)*(refineBins+2)]
				windows[i][j].close(counts, nodes[i].at.Weight*f.Rows, a.Sigma)
			}
		}
	}
	for i, n := range nodes {
		if !open[n] {
			continue
		}
		n.view = f.Whole()
		at := component.Gaussian{Weight: n.at.Weight, Cov: mat.NewSymDense(len(windows[i]), nil), Uncertainty: component.Uncertainty{Shape: 1, Scale: 1, Mean: 1, Weight: n.at.Uncertainty.Weight}}
		for j, w := range windows[i] {
			at.Mean = append(at.Mean, w.mid)
			at.Cov.SetSym(j, j, math.Max(sq(w.spread()), 1e-300))
		}
		n.at = at
	}
	return nil
}

// windows returns windows that reach sds sds to either side of a node's mean, one per column.
func (f *Finder) windows(n *node, sds float64) (w []window) {
	whole := n.view.Lift(n.at, f.Rest)
	for j, m := range whole.Mean {
		w = append(w, window{mid: m, half: sds * math.Sqrt(math.Max(whole.Cov.At(j, j), 0))})
	}
	return w
}

// bins cuts every column's window into n equal bins; the columns are the table's.
func (f *Finder) bins(windows []window, n int) query.Counts {
	q := query.Counts{Edges: make([][]float64, f.Problem.Columns)}
	for j, w := range windows {
		half := math.Max(w.half, 1e-290)
		edges := make([]float64, n+1)
		for b := range edges {
			edges[b] = f.Space.Center[j] + f.Space.Scale[j]*(w.mid+half*(2*float64(b)/float64(n)-1))
		}
		q.Edges[f.Space.Columns[j]] = edges
	}
	return q
}

// close moves the window to two bins if most of rows are there, and else is done with it: counts
// holds, from below, the rows below the window, in its bins and above, with noise sd.
func (w *window) close(counts []float64, rows, sd float64) {
	if w.done {
		return
	}
	bins := counts[1 : refineBins+1]
	best := 0
	for b := range refineBins - 1 {
		if bins[b]+bins[b+1] > bins[best]+bins[best+1] {
			best = b
		}
	}
	width := 2 * w.half / refineBins
	if bins[best]+bins[best+1] > refineTogether*rows && width > refineWindow*math.Abs(w.mid) {
		w.mid += -w.half + float64(best+1)*width
		w.half = (1 + refineMargin) * width
		return
	}
	w.done = true
	mass, mean, square := 0.0, 0.0, 0.0
	for b, c := range bins {
		if c > 2*sd {
			x := -w.half + (float64(b)+.5)*width
			mass, mean, square = mass+c, mean+c*x, square+c*x*x
		}
	}
	if mass > 0 {
		mean /= mass
		w.sd = math.Sqrt(square/mass - mean*mean + width*width/12)
		w.mid += mean
	}
}

// spread returns the sd at the end of the zoom, or that of a uniform distribution on the window.
func (w window) spread() float64 {
	if w.sd > 0 {
		return w.sd
	}
	return w.half / math.Sqrt(3)
}
