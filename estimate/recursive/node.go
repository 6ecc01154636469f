package recursive

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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
