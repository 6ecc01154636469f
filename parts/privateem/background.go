package privateem

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// A Background takes the rows that are somewhat far from every component: wide copies of the
// released global Gaussian, narrower in the end in the columns in which their rows are seen not to
// be far, and moved to the side on which they are. It joins the soft partition in the last round
// only, where one more component adds no sensitivity; in earlier rounds it would eat the small
// components before they are sharp. Copies that are wider yet guard against rows that nobody has
// seen: see Outskirts for those that somebody has.
//
// Source: [KSSU19] Section E.2, point 1 of the restatement.
// Differs: the weights are measured instead of fixed, and so are widths and sides.
//
// The zero Background takes no rows.
type Background struct {
	whole component.Gaussian
	near  []component.Gaussian
	// Share is the part of the rows that was counted in copies seen to hold any, Noise its sd. By
	// the last round.
	Share, Noise float64
}

// Utility constants of the background, chosen on the public tables, by experiments/files.
const (
	backgroundStart = .004 // weight of a copy before it is measured
	backgroundMost  = .06
	// A copy whose count is below backgroundSDs noise sds keeps leastWeight, which bounds what a
	// far row costs, or guardSpread: a handful of rows of the longest tables that are usual.
	backgroundSDs = 3.0
	leastWeight   = .0002
	// .. and is taken for as much less as one that is seen with such noise mostly is: by the square
	// of sureSDs noise sds over it. A guess.
	sureSDs = 2.0
	// guardSpread is what a guard adds to the variance of the whole.
	guardSpread = .004
)

// rungs are the factors by which the copies' covariances are inflated; wide has those of Outskirts.
var rungs = [...]float64{3, 20}

// MeasuredParts is how many of Parts have been measured, and come before the guards.
const MeasuredParts = len(rungs)

// NewBackground returns a background of copies of g, their covariances of the form.
func NewBackground(g component.Gaussian, form query.Form) (b Background) {
	if form != query.FullForm {
		g.Cov = symmetric.OnlyDiagonal(g.Cov, form == query.SphericalForm)
	}
	b.whole = g
	for _, f := range rungs {
		b.near = append(b.near, copyOf(g, f, backgroundStart))
	}
	return b
}

// copyOf returns g with its covariance times f, and that weight.
func copyOf(g component.Gaussian, f, weight float64) component.Gaussian {
	return component.Gaussian{Weight: weight, Mean: g.Mean, Cov: symmetric.Scaled(f, g.Cov)}
}

// components returns the background's parts of a moments query.
func (b *Background) components(s component.Space) (out []query.Component) {
	for _, g := range b.near {
		q, _ := s.Density(g, g.Weight)
		q.Radius = math.Sqrt(float64(s.Dim()))
		out = append(out, q)
	}
	return out
}

// update moves the weights to the shares of the rows, where these can be seen.
func (b *Background) update(sums []component.Sums, rows float64) {
	b.Share, b.Noise = 0, 0
	for i := range b.near {
		s, w := sums[i], math.Min(leastWeight, guardSpread/rungs[i])
		b.Noise = math.Hypot(b.Noise, s.CountSD/rows)
		if s.Count > backgroundSDs*s.CountSD {
			b.Share += s.Count / rows
			w = math.Max(w, math.Min(s.Count*(1-sq(sureSDs*s.CountSD/s.Count))/rows, backgroundMost))
			b.near[i] = shaped(b.near[i], s, rungs[i])
		}
		b.near[i].Weight = w
	}
}

// shaped returns a copy, wider than the whole by the factor f, as its sums show its rows: rows that
// are far in one column are mostly not so in the others, and often on one side.
func shaped(g component.Gaussian, s component.Sums, f float64) component.Gaussian {
	if s.Second == nil {
		return g
	}
	l, _, _ := symmetric.Factor(g.Cov)
	mean, narrower := slices.Clone(g.Mean), make([]float64, len(g.Mean))
	for j := range mean {
		axis := l.RawRowView(j)
		sd := dense.Norm(axis)
		along := mat.NewVecDense(len(axis), axis)
		m, square := floats.Dot(axis, s.Sum)/(sd*s.Count), mat.Inner(along, s.Second, along)/(sd*sd*s.Count)
		if math.Abs(m) < movedSDs*s.SumSD/s.Count {
			m = 0
		}
		mean[j] += sd * m
		noise := math.Hypot(s.SecondSD, 2*m*s.SumSD) / s.Count
		narrower[j] = math.Sqrt(math.Max(1/f, math.Min(square+narrowerSDs*noise-m*m, 1)))
	}
	d := mat.NewDiagDense(len(narrower), narrower)
	var cov mat.Dense
	cov.Mul(d, g.Cov)
	cov.Mul(&cov, d)
	g.Mean, g.Cov = mean, symmetric.Of(len(mean), cov.At)
	return g
}

// Utility constants of shaped, guesses: a mean counts that is movedSDs noise sds away, and a column
// is as narrow as is seen with narrowerSDs noise sds more.
const movedSDs, narrowerSDs = 3.0, 2.0

// Parts returns the background as Gaussians, with their weights: what has been measured, and the
// guards.
func (b *Background) Parts() (parts []component.Gaussian) {
	parts = append(parts, b.near...)
	if b.near != nil {
		for _, f := range wide {
			parts = append(parts, copyOf(b.whole, f, guardSpread/f))
		}
	}
	return parts
}

// Density returns the mixture of the components with a background that weighs little: far rows say
// little about a density with it.
func (r *Rounds) Density() []query.Component {
	var out []query.Component
	for _, c := range r.Components {
		q, _ := r.Space.Density(c, c.Weight)
		out = append(out, q)
	}
	for _, c := range r.Background.components(r.Space) {
		c.LogWeight += math.Log(lightBackground / backgroundStart)
		out = append(out, c)
	}
	return out
}

// lightBackground is the weight of the background in a Density. A utility constant, chosen on the
// public tables, by experiments/files.
const lightBackground = .001
