package program

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Means are the measured means of the columns, of all rows together: from center and in units of
// scale, rows clipped to radius, with the sd of their noise. The rounds clip rows in the frame of
// each component and undo that as for a Gaussian, so that the components of a column with a long
// tail have lost a part of it.
type Means struct {
	center, scale, mean []float64
	radius, sd          float64
}

// Utility constants of the columns' means, chosen on public files and on made-up skewed tables, of
// 8,000 rows at epsilon 1 and 3, by the error of means and by likelihood; reachMeans of 0, 1 and
// 2.5 on 40 made-up tables of 3,000 rows at epsilon .5 and 1. loudMeans and mostMoved are guesses.
const (
	// The noise of a mean shall be quietMeans of the column's sd, if mostMeans of mu^2 and
	// leftMeans of what is left pay for that; where that leaves more than loudMeans, nothing is
	// measured.
	quietMeans, loudMeans = .025, .25
	mostMeans, leftMeans  = .04, .07
	// Rows are clipped reachMeans beyond the root of the number of columns, or as far as quietMeans
	// allows, up to widestMeans.
	reachMeans, widestMeans = 1.0, 10.0
	// clippingLoses is how far a component's mean is expected to be off, in its sds.
	clippingLoses = .07
	// lossSpeaks is how much likelier, in nats, the measured means have to be if components have
	// lost rows than if they are noise; a guess.
	lossSpeaks = 2.0
	mostMoved  = 1.0 // sds of its own that a component is moved
	meansDraws = 400 // of each component show what clipping does to its mean
)

const stepMeans = "means of columns"

// MeansStep returns the step of Schedule.Means.
func MeansStep(source string) kernel.Step {
	return kernel.Step{Name: stepMeans, Query: query.ClippedMoments{}.Kind(), Share: mostMeans, Most: 1, Source: source}
}

// meanNoise returns the noise of the means at mu = 1, for a radius of 1: [query.ClippedMoments] in
// its spherical form has the sensitivity Factor times 3/2 of the radius for the sums.
func (r *Run) meanNoise() float64 { return 1.5 * r.Factor / math.Max(r.Rows, 1) }

// meansPrice returns the part of the budget that the means of the columns cost; 0 if noise would
// hide them, or float64 does not hold their units.
func (r *Run) meansPrice(e *privateem.Rounds) float64 {
	if _, _, ok := r.meansFrame(e); !ok {
		return 0
	}
	root := math.Sqrt(float64(e.Space.Dim()))
	price := min(square(r.meanNoise()*(root+widestMeans)/quietMeans), mostMeans*r.Mu2, leftMeans*r.Left())
	if !(r.meanNoise()*(root+reachMeans) < loudMeans*parts.Mu(price)) {
		return 0
	}
	return price
}

// measureMeans measures the means of the columns for a part mu2 of the budget.
//
// Privacy: one Gaussian measurement of query.ClippedMoments in its spherical form, of a single
// component whose share of every row is 1; its proof has the sensitivity, of both relations.
func (r *Run) measureMeans(e *privateem.Rounds, mu2 float64) error {
	m, frame, ok := r.meansFrame(e)
	if mu2 == 0 || !ok {
		return nil
	}
	root, mu := math.Sqrt(float64(e.Space.Dim())), parts.Mu(mu2)
	m.radius = max(root+reachMeans, min(quietMeans*mu/r.meanNoise(), root+widestMeans))
	q := query.ClippedMoments{Form: query.SphericalForm, Components: []query.Component{{Map: frame, Radius: m.radius}}}
	answer, err := r.Sum(stepMeans, q, mu)
	if err != nil {
		return err
	}
	s := component.UnpackSums(q, answer)[0]
	m.mean, m.sd = parts.Map(s.Sum, func(v float64) float64 { return v / r.Rows }), s.SumSD/r.Rows
	r.Means = m
	return nil
}

// meansFrame returns the centre and the units in which the means are measured, those of all
// components together, and their frame; not ok if there are no components, or float64 does not hold
// it.
func (r *Run) meansFrame(e *privateem.Rounds) (m *Means, frame query.Affine, ok bool) {
	if len(e.Components) == 0 {
		return nil, frame, false
	}
	all := component.Joined(e.Components[0], e.Components[1:]...)
	if o := e.Outlier; o != nil {
		all.Weight = 1 - o.Weight
		all = component.Joined(all, *o)
	}
	d := e.Space.Dim()
	m, unit := &Means{center: all.Mean}, mat.NewDense(d, d, nil)
	for j := range d {
		m.scale = append(m.scale, math.Sqrt(all.Cov.At(j, j)))
		unit.Set(j, j, 1/m.scale[j])
	}
	frame = e.Space.Affine(m.center, unit)
	return m, frame, dense.AllFinite(m.scale) && frame.Validate(r.Session().Columns()) == nil
}

// Move returns gs, moved so that the mean of these and of others, with weights that sum to 1 and in
// the space of the rounds, is nearer to the measured means. A component moves by its covariance
// times a vector that is the same for all: the wider it is in a column, the farther. It is the most
// likely move where the measured means and those of the components are off by their noise, and, if
// the difference is clearly likelier so, each component's mean by clippingLoses of its sds in any
// direction, all of them to the same side. A nil Means moves nothing.
func (m *Means) Move(gs, others []component.Gaussian) []component.Gaussian {
	if m == nil {
		return gs
	}
	d := len(m.mean)
	off := mat.NewVecDense(d, slices.Clone(m.mean))
	moved, random := parts.Map(gs, m.inUnits), Draws(meansDraws, d)
	for _, g := range slices.Concat(moved, parts.Map(others, m.inUnits)) {
		off.AddScaledVec(off, -g.Weight, mat.NewVecDense(d, m.clipped(g, random)))
	}
	if !dense.AllFinite(off.RawVector().Data) {
		return gs
	}
	lost := 0.0
	by, log := m.explain(off, moved, lost)
	if more, likelier := m.explain(off, moved, square(clippingLoses)); likelier > log+lossSpeaks {
		by, lost = more, square(clippingLoses)
	}
	if by == nil {
		return gs
	}
	out := slices.Clone(gs)
	for i, g := range moved {
		var move mat.VecDense
		move.MulVec(g.Cov, by)
		move.ScaleVec(min(doubtOf(g, lost), mostMoved/math.Sqrt(max(0, mat.Dot(&move, by)))), &move)
		out[i].Mean = slices.Clone(gs[i].Mean)
		for j := range d {
			out[i].Mean[j] += m.scale[j] * move.AtVec(j)
		}
	}
	return out
}

// doubtOf returns by which part of its covariance a component is off together with the mean of all:
// by what is lost of each, and by its own noise as far as it weighs.
func doubtOf(g component.Gaussian, lost float64) float64 { return lost + g.Weight*square(g.MeanSD) }

// explain returns what the components' covariances take to their most likely moves where the mean
// of all is off by so much and each has lost a part, squared and of its covariance, and the
// logarithm of how likely that is, less a constant; nil and -Inf if it cannot be.
func (m *Means) explain(off *mat.VecDense, gs []component.Gaussian, lost float64) (by *mat.VecDense, log float64) {
	doubt := symmetric.Scaled(square(m.sd), symmetric.Identity(off.Len()))
	for _, g := range gs {
		doubt.AddSym(doubt, symmetric.Scaled(doubtOf(g, lost)*g.Weight, g.Cov))
	}
	var chol mat.Cholesky
	by = new(mat.VecDense)
	if !chol.Factorize(doubt) || chol.SolveVecTo(by, off) != nil {
		return nil, math.Inf(-1)
	}
	return by, -(mat.Dot(off, by) + chol.LogDet()) / 2
}

// inUnits returns g from the center and in units of the scale, without columns that only it has.
func (m *Means) inUnits(g component.Gaussian) component.Gaussian {
	d := len(m.mean)
	mean := make([]float64, d)
	for j := range d {
		mean[j] = (g.Mean[j] - m.center[j]) / m.scale[j]
	}
	return component.Gaussian{Weight: g.Weight, MeanSD: g.MeanSD, Mean: mean, Cov: symmetric.Of(d, func(i, j int) float64 { return g.Cov.At(i, j) / m.scale[i] / m.scale[j] })}
}

// clipped returns the mean of g's rows, clipped to the radius: that of draws, in pairs on opposite
// sides of its own. Rows far out are clipped before they are added up: what rounding leaves of them
// would hide all others.
func (m *Means) clipped(g component.Gaussian, random privateem.Random) []float64 {
	l, _, _ := symmetric.Factor(g.Cov)
	mean, z := make([]float64, len(g.Mean)), make([]float64, len(g.Mean))
	for t := range meansDraws {
		for j := range z {
			if t%2 == 0 {
				z[j] = random.NormFloat64()
			} else {
				z[j] = -z[j]
			}
		}
		x := slices.Clone(g.Mean)
		symmetric.AddMul(x, l, z)
		floats.AddScaled(mean, min(1, m.radius/floats.Norm(x, 2))/meansDraws, x)
	}
	return mean
}
