package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// Limits of the plain way's rounds. Utility constants, guesses.
const (
	// A direction is resolved at resolvedEdges of its noise's edge; a variance is at least
	// floorEdges of it.
	resolvedEdges, floorEdges = 4, .5
	// giveBackError is how wrong, relatively, what is given back of clipping may be.
	giveBackError = .5
	// farSpread2 times the variance that round rows have, by squareSDs noise sds, a column is no
	// part of them; nor where rows beyond nearest2 alone are seen to add the part farSquare of it.
	farSpread2, squareSDs, farSquare = 4, 2, .3
	// unknown is the noise of what is not known.
	unknown = 1e12
)

// A plain is mean and covariance of the rows, whatever their law: the mean in the units of space,
// and the covariance in coordinates z = inv (y - mean), inv l = I, with the variances of the noise
// of its off-diagonal entries (of diagonal ones twice these).
type plain struct {
	*Fit
	table      columns.Summary
	space      component.Space
	mean       []float64
	meanNoise  []float64 // variances, in z
	l, inv     *mat.Dense
	cov, noise *mat.SymDense
	edge       []float64 // of the noise, in each coordinate
	radius2    float64   // of the last round
	lost       float64   // by clipping, of the trace of the last release
	beyond     estimate.Undescribed
}

// start takes the columns' moments.
func (p *plain) start() {
	d := len(p.table.Mean)
	p.space, p.mean = p.table.Space, append([]float64(nil), p.table.Mean...)
	p.l, p.inv = mat.DenseCopyOf(symmetric.Identity(d)), mat.DenseCopyOf(symmetric.Identity(d))
	p.know(p.table.Cov, p.table.MeanSD*p.table.MeanSD, p.table.CovSD*p.table.CovSD/2)
}

// know sets the covariance in z, with these variances of the noise.
func (p *plain) know(cov *mat.SymDense, mean, noise float64) {
	k := cov.SymmetricDim()
	p.cov, p.noise = symmetric.Of(k, cov.At), symmetric.Of(k, func(int, int) float64 { return noise })
	p.meanNoise = slices.Repeat([]float64{mean}, k)
}

// within takes the coordinates of st, unless a column's rows spread by far more than st says: rows
// far out would have to be clipped there.
func (p *plain) within(st *tyler.State) bool {
	root := st.Root()
	p.space, p.mean = st.Space, append([]float64(nil), st.M...)
	p.l, p.inv = mat.DenseCopyOf(st.Wi), mat.DenseCopyOf(st.W)
	p.l.Scale(1/root, p.l)
	p.inv.Scale(root, p.inv)
	p.know(symmetric.Identity(st.Rank()), unknown, unknown)
	for i, c := range p.table.Columns {
		unit := p.table.Seen.Scale[i] / p.space.Scale[i]
		here := dense.Norm2(p.l.RawRowView(i))
		if far := c.SquareFrom(math.Sqrt(nearest2(st.Rank())*here) / unit); (c.Square-squareSDs*c.SquareSD)*unit*unit > farSpread2*here || far*unit*unit > farSquare*here {
			return false
		}
	}
	return true
}

// whiten changes to the coordinates in which the covariance is I, except in directions that the
// noise hides: there it is less, and not resolved. It is not ok if there is nothing but noise.
func (p *plain) whiten() (resolved, ok bool) {
	lambda, q, ok := symmetric.Eigen(p.cov)
	if !ok {
		return false, false
	}
	k := len(lambda)
	squares := mat.NewDense(k, k, nil)
	squares.Apply(func(i, j int, _ float64) float64 { return q.At(j, i) * q.At(j, i) }, q)
	p.noise = symmetric.Congruence(squares, p.noise)
	means, root := make([]float64, k), make([]float64, k)
	symmetric.AddMul(means, squares, p.meanNoise)
	p.cov, p.meanNoise, p.edge = mat.NewSymDense(k, nil), means, make([]float64, k)
	resolved, ok = true, false
	for i, v := range lambda {
		p.edge[i] = 2 * math.Sqrt(floats.Sum(mat.Row(nil, i, p.noise)))
		resolved = resolved && v > resolvedEdges*p.edge[i]
		ok = ok || v > p.edge[i]
		root[i] = math.Sqrt(math.Max(v, floorEdges*p.edge[i]))
	}
	var l, inv mat.Dense
	l.Mul(p.l, q)
	inv.Mul(q.T(), p.inv)
	l.Apply(func(_, i int, v float64) float64 { return v * root[i] }, &l)
	inv.Apply(func(i, _ int, v float64) float64 { return v / root[i] }, &inv)
	for i, r := range root {
		p.cov.SetSym(i, i, lambda[i]/(r*r))
		p.edge[i] /= r * r
		p.meanNoise[i] /= r * r
		for j := i; j < k; j++ {
			p.noise.SetSym(i, j, p.noise.At(i, j)/(r*r*root[j]*root[j]))
		}
	}
	p.l, p.inv = &l, &inv
	return resolved, ok
}

// refine measures in the coordinates z, with the part mu2 of mu^2, and joins that with what is
// known. Rows have a mean square of about their dimension there: a radius below that is one that
// noise has chosen.
func (p *plain) refine(mu2 float64) error {
	m, err := columns.ReleaseMoments(p.SubBudget, p.Tyler.Prefix+roundPrefix, p.space.Affine(p.mean, p.inv), p.Good(), mu2, float64(len(p.meanNoise)), columns.AnyExcess)
	if err != nil {
		return err
	}
	if trace := mat.Trace(m.Cov); trace > 0 {
		p.lost = m.ClippedTrace / (m.ClippedTrace + trace)
		m.Cov.ScaleSym(1+m.ClippedTrace/trace, m.Cov)
	}
	k := len(p.meanNoise)
	lost, move := giveBackError*m.ClippedTrace/float64(k), make([]float64, k)
	p.radius2 = m.R2
	for i := range k {
		sd2 := m.MeanSD*m.MeanSD + m.ClippedTrace*m.ClippedTrace/(4*m.R2*float64(k))
		move[i] = m.Mean[i] * p.meanNoise[i] / (p.meanNoise[i] + sd2)
		p.meanNoise[i] *= sd2 / (p.meanNoise[i] + sd2)
		for j := i; j < k; j++ {
			v, w := p.noise.At(i, j), m.CovSD*m.CovSD/2+lost*lost
			p.cov.SetSym(i, j, (p.cov.At(i, j)*w+m.Cov.At(i, j)*v)/(v+w))
			p.noise.SetSym(i, j, v*w/(v+w))
		}
	}
	symmetric.AddMul(p.mean, p.l, move)
	return nil
}

// reach2 returns the square of the reach of column i in its sds.
func (p *plain) reach2(i int) float64 {
	reach := p.table.Columns[i].Reach * p.table.Seen.Scale[i] / p.space.Scale[i]
	if p.table.Cov != nil {
		return reach * reach / math.Max(p.table.Cov.At(i, i), p.table.CovSD)
	}
	return reach * reach / dense.Norm2(p.l.RawRowView(i))
}
