package separated

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/rings"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// A node is a part of space and what is known of its rows: a leaf of the partition so far, or cut
// into kids.
type node struct {
	view view
	at   component.Gaussian // in the view's coordinates; Weight is the share of all rows
	// look is the view of the tree of counts, fits the coreset's mixtures, kids the components
	// chosen.
	look  view
	fits  *fits
	tree  *coreset.Tree
	chose *coreset.Mixture
	kids  []*node
	// blurred: the cells that showed the node were too coarse to show what is inside.
	blurred bool
	zoomed  bool
}

// leaves are the nodes that are not cut, in the order of the partition's leaves.
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
func (n *node) gate(s component.Space) rings.Partition {
	if n.kids == nil {
		return rings.Partition{}
	}
	p := rings.Partition{Project: n.look.frame(s)}
	deeper := false
	for j, k := range n.kids {
		p.Components = append(p.Components, part(n.chose.Means[j], n.chose.Covs[j], n.chose.Weights[j]))
		below := k.gate(s)
		deeper = deeper || k.kids != nil
		p.Below = append(p.Below, below)
	}
	if !deeper {
		p.Below = nil
	}
	return p
}

// part is a Gaussian of projected rows as a cell of a partition.
func part(mean []float64, cov *mat.SymDense, weight float64) query.Component {
	_, inv, logDet := symmetric.Factor(cov)
	a := query.Affine{Center: mean}
	for i := range mean {
		a.W = append(a.W, append([]float64(nil), inv.RawRowView(i)...))
	}
	return query.Component{Frame: a, LogWeight: math.Log(math.Max(weight, 1e-12)) - logDet/2, Radius: farSDs * math.Sqrt(math.Max(1, float64(len(mean))/4))}
}

// split makes kids of a mixture of the node's coreset: covariance blockdiag(S_j, the node's own) in
// the directions of the tree and the others.
func (n *node) split(m *coreset.Mixture, rows float64) {
	n.chose = m
	u, values := symmetric.Principal(n.at.Cov, n.view.dim())
	for i, v := range values {
		values[i] = math.Max(v, 1e-300)
	}
	// the mean, but in the directions of the tree the middle of its box
	mid := n.view.down(n.look.origin)
	for j, w := range m.Weights {
		kid := &node{view: n.view, at: component.Gaussian{Weight: w * n.fits.set.Total / rows, Doubt: component.StartDoubt()}}
		kid.at.Mean, kid.at.Cov = m.Lift(j, u, values)
		for i := range mid {
			kid.at.Mean[i] += mid[i]
		}
		kid.blurred = n.blur(m, j)
		n.kids = append(n.kids, kid)
	}
}
