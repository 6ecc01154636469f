package recursive

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// A node is a part of space and what is known of its rows: a leaf of the partition so far, or cut
// into kids.
type node struct {
	view View
	at   component.Gaussian // in the view's coordinates; Weight is the share of all rows
	// look is the view of the tree of counts, fits the coreset's mixtures, kids the components
	// chosen.
	look  View
	fits  *fits
	tree  *coreset.Tree
	chose *coreset.Mixture
	kids  []*node
	// blurred: the cells that showed the node were too coarse to show what is inside.
	blurred bool
	refined bool
	first   *mat.Dense // the one direction of the next tree, in the view's coordinates, if set
}

// leaves returns the nodes that are not cut, in the order of the partition's leaves.
func (n *node) leaves() []*node {
	if n.kids == nil {
		return []*node{n}
	}
	var out []*node
	for _, k := range n.kids {
		out = append(out, k.leaves()...)
	}
	return out
}

// farSDs: a row further than this from every component, in its sds, is in no node: it is an
// outlier, and contributes to nothing below. In more than four coordinates it grows with their
// root, as the distances of a component's own rows do. A utility constant, a guess.
const farSDs = 8.0

// gate cuts the node's rows among its kids: the posterior's largest share.
func (n *node) gate(s component.Space) query.Partition {
	if n.kids == nil {
		return query.Partition{}
	}
	p := query.Partition{Project: n.look.frame(s)}
	deeper := false
	for j, k := range n.kids {
		p.Components = append(p.Components, part(n.chose.Means[j], n.chose.Covs[j], n.chose.Weights[j]))
		deeper = deeper || k.kids != nil
		p.Below = append(p.Below, k.gate(s))
	}
	if !deeper {
		p.Below = nil
	}
	return p
}

// part returns a Gaussian of projected rows as a cell of a partition.
func part(mean []float64, cov *mat.SymDense, weight float64) query.Component {
	_, inv, logDet := symmetric.Factor(cov)
	a := query.Affine{Center: mean}
	for i := range mean {
		a.W = append(a.W, append([]float64(nil), inv.RawRowView(i)...))
	}
	return query.Component{Map: a, LogWeight: math.Log(math.Max(weight, 1e-12)) - logDet/2, Radius: farSDs * math.Sqrt(math.Max(1, float64(len(mean))/4))}
}

// split makes children from a mixture of the node's coreset. In the directions of the tree they
// have its means and covariances; in all others, those that the node's covariance implies for rows
// there.
func (n *node) split(m *coreset.Mixture, rows float64) {
	n.chose = m
	seen := n.look.see(component.Gaussian{Mean: n.view.Up(n.at.Mean), Cov: symmetric.Congruence(n.view.V, n.at.Cov)})
	var u, with, g mat.Dense
	u.Mul(n.view.V.T(), n.look.V)
	with.Mul(n.at.Cov, &u)
	_, inv, _ := symmetric.Factor(seen.Cov)
	g.Mul(&with, inv.T())
	g.Mul(&g, inv)
	for j, w := range m.Weights {
		kid := &node{view: n.view, at: component.Gaussian{Weight: w * n.fits.set.Total / rows, Uncertainty: component.StartUncertainty()}}
		less := symmetric.Of(len(seen.Mean), func(i, l int) float64 { return m.Covs[j].At(i, l) - seen.Cov.At(i, l) })
		kid.at.Cov = symmetric.Congruence(&g, less)
		kid.at.Cov.AddSym(kid.at.Cov, n.at.Cov)
		kid.at.Mean = slices.Clone(n.at.Mean)
		symmetric.AddMul(kid.at.Mean, &g, floats.SubTo(make([]float64, len(seen.Mean)), m.Means[j], seen.Mean))
		kid.blurred = n.blur(m, j)
		n.kids = append(n.kids, kid)
	}
}

// Utility constants of the gate, guesses.
const (
	// part of a component's covariance in the gate that is made round, where nothing is known of
	// its noise
	roundGate = .3
	mostRound = .9
	// least eigenvalue of the Gram matrix of the directions between means that counts
	spanOfMean = 1e-9
)

// meanSpan returns the view of the directions between the means: there separated components differ.
// Every pair counts alike, however close, so components of very different scales are distinguished
// as well.
func meanSpan(g []component.Gaussian) View {
	d := len(g[0].Mean)
	gram := mat.NewSymDense(d, nil)
	pairs := 0
	for i := range g {
		for j := range i {
			diff := mat.NewVecDense(d, floats.SubTo(make([]float64, d), g[i].Mean, g[j].Mean))
			if n := mat.Norm(diff, 2); n > 0 && dense.Finite(n) {
				gram.SymRankOne(gram, 1/(n*n), diff)
				pairs++
			}
		}
	}
	if pairs == 0 {
		gram.CopySym(g[0].Cov)
	}
	v, values := symmetric.Principal(gram, min(d, max(1, len(g)-1)))
	l := 1
	_, most := v.Dims()
	for l < most && values[l] > spanOfMean*values[0] {
		l++
	}
	return View{origin: append([]float64(nil), g[0].Mean...), V: mat.DenseCopyOf(v.Slice(0, d, 0, l))}
}

// Assign sends every row to the component it most likely belongs to, as seen in the span of the
// means, with covariances that are the rounder the more noise is in them.
func (f *Finder) Assign(g []component.Gaussian) query.Partition {
	w := meanSpan(g)
	p := query.Partition{Project: w.frame(f.Space)}
	for _, c := range g {
		seen := w.see(c)
		p.Components = append(p.Components, part(seen.Mean, rounder(seen.Cov, c), c.Weight))
	}
	return p
}

func rounder(s *mat.SymDense, c component.Gaussian) *mat.SymDense {
	l := s.SymmetricDim()
	a := roundGate
	if c.Sigma > 0 {
		a = math.Min(mostRound, c.Sigma*math.Sqrt(2*float64(len(c.Mean))))
	}
	mid := 0.0
	for i := range l {
		mid += s.At(i, i) / float64(l)
	}
	out := symmetric.Scaled(1-a, s)
	for i := range l {
		out.SetSym(i, i, out.At(i, i)+a*mid)
	}
	return out
}
