package privateem

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
)

// A Line is a histogram of the rows of one component along a direction, in its own sds from its
// mean.
type Line struct {
	Axis   []float64 // one sd along the direction, in working coordinates
	Edges  []float64
	Counts []float64 // one more than there are Edges: the first and the last bin have no end
	SD     float64   // noise of a count
}

// Utility constants of the lines, guesses. Twice as many bins hold the same rows with more noise:
// 64 of them, or four lines for three, found no more on fresh plain clusters at 5 and 6 sds.
const (
	lineSDs   = 4.0 // to either side of the mean ..
	lineBins  = 32  // .. there are so many equal bins
	LineGrows = 1.3 // .. and as far as LineReach bins that grow so
	lineAlike = .95 // directions with a larger cosine are one
)

// LineReach is how far from its mean, in its own sds, the rows of a component are counted.
const LineReach = 64.0

// LineEdges returns those of the bins of a line with that reach.
func LineEdges(reach float64) []float64 {
	edges := floats.Span(make([]float64, lineBins+1), -lineSDs, lineSDs)
	for e := lineSDs * LineGrows; e < reach; e *= LineGrows {
		edges = append(slices.Insert(edges, 0, -e), e)
	}
	return edges
}

// MostLines is how many releases Lines makes at most: fewLines, where there are several components.
const MostLines, fewLines = 5, 3

// Lines counts the rows of every component along a few directions, in releases that cost mu
// together. Two clusters in one component show there, side by side. The first direction is the one
// in which first, a map of working coordinates to a number, grows fastest; nil for none.
func (r *Rounds) Lines(a *kernel.SubBudget, step string, first []float64, mu float64) ([][]Line, error) {
	return r.linesAlong(a, step, parts.Map(r.Components, func(c component.Gaussian) [][]float64 { return r.directions(c, first) }), mu)
}

// WidestLine does what Lines does along one direction of each component: that in which its rows are
// widest, by their second moments, which it measures first. Of a component whose covariance is a
// sphere or diagonal, its own axes do not show in which direction it holds two clusters. Both
// releases cost mu together.
//
// The L2 sensitivity of the first is that of query.ClippedMoments of one component (query.Parts).
func (r *Rounds) WidestLine(a *kernel.SubBudget, moments, lines string, mu float64) ([][]Line, error) {
	d, first := r.Space.Dim(), mu*math.Sqrt(widestPart)*(1-1e-9)
	noise := component.NoiseOf(query.FullForm, d, r.Factor, first)
	queries := make([]query.ClippedMoments, len(r.Components))
	sums, hows := make([]component.Sums, len(r.Components)), make([]component.Clipping, len(r.Components))
	for j, c := range r.Components {
		q, how := r.Space.Clipped(c, c.Weight, r.Rows, noise, unlike)
		hows[j] = how
		queries[j] = query.ClippedMoments{Form: component.MeasuredForm(query.FullForm), Lift: component.Lift, Components: []query.Component{q}}
	}
	answers, err := parts.AskLeaves(a, moments, r.Parted(), queries, first)
	if err != nil {
		return nil, err
	}
	along := make([][][]float64, len(r.Components))
	for j, ans := range answers {
		sums[j] = component.UnpackCounted(queries[j], ans)[0]
		widest, _ := symmetric.Principal(sums[j].Second, 1)
		along[j] = [][]float64{mat.Col(nil, 0, widest)}
	}
	r.Seen = component.Pooled(query.FullForm, sums, hows)
	return r.linesAlong(a, lines, along, mu*math.Sqrt(1-widestPart)*(1-1e-9))
}

// widestPart is the part of what WidestLine costs that the second moments have. A guess.
const widestPart = .6

// linesAlong counts the rows of every component along its directions, which are of length one in
// its own frame.
func (r *Rounds) linesAlong(a *kernel.SubBudget, step string, along [][][]float64, mu float64) ([][]Line, error) {
	d, p := r.Space.Dim(), r.Parted()
	out := make([][]Line, len(r.Components))
	// Distances are counted from a place so far out that they have a sign.
	edges := LineEdges(LineReach)
	shifted := slices.Clone(edges)
	floats.AddConst(LineReach, shifted)
	for i := range along[0] {
		queries := make([]query.Counts, len(r.Components))
		for j, c := range r.Components {
			l, inv, _ := symmetric.Factor(c.Cov)
			axis := make([]float64, d)
			symmetric.AddMul(axis, l, along[j][i])
			var w mat.Dense
			w.Mul(mat.NewDense(1, d, along[j][i]), inv)
			from := slices.Clone(c.Mean)
			floats.AddScaled(from, -LineReach, axis)
			queries[j] = query.Counts{Map: r.Space.Affine(from, &w), Edges: [][]float64{shifted}}
			out[j] = append(out[j], Line{Axis: axis, Edges: edges})
		}
		answers, err := parts.AskLeaves(a, step, p, queries, mu/math.Sqrt(float64(len(along[0])))*(1-1e-9))
		if err != nil {
			return nil, err
		}
		for j, ans := range answers {
			out[j][i].Counts, out[j][i].SD = ans.Values, ans.Sigma
		}
	}
	return out, nil
}

// directions returns fewLines directions of c, or as many as there are columns, in its own frame
// and of length one: first, its widest axis beside all components, its widest in the units of the
// space, Fisher's direction between all means, and then the next axes. Of one component alone they
// are MostLines, with its two narrowest axes: what is narrow in all rows may be wide for clusters.
func (r *Rounds) directions(c component.Gaussian, first []float64) (out [][]float64) {
	d := r.Space.Dim()
	m := fewLines
	switch {
	case d == 1 || d == 2 && len(r.Components) > 1:
		m = d
	case d > fewLines && len(r.Components) == 1:
		m = MostLines
	}
	l, _, _ := symmetric.Factor(c.Cov)
	add := func(v []float64) { // v maps working coordinates to a number
		u := make([]float64, d)
		symmetric.AddMulT(u, l, v)
		n := math.Sqrt(dense.Norm2(u))
		if !(n > 0) || len(out) == m {
			return
		}
		floats.Scale(1/n, u)
		for _, o := range out {
			if math.Abs(dense.Dot(o, u)) > lineAlike {
				return
			}
		}
		out = append(out, u)
	}
	if first != nil {
		add(first)
	}
	_, in := r.Axes(c)
	own, _ := symmetric.Principal(c.Cov, d)
	add(mat.Row(nil, 0, in))
	if !r.Without.OwnAxis {
		add(mat.Col(nil, 0, own))
	}
	if m == MostLines {
		add(mat.Col(nil, d-1, own))
		add(mat.Col(nil, d-2, own))
	}
	if len(r.Components) == 1 && d == 2 { // where axes are as wide as each other, columns are better
		add([]float64{1, 0})
		add([]float64{0, 1})
	}
	if len(r.Components) > 2 && !r.Without.Fisher {
		add(r.fisher())
	}
	for i := 1; i < d; i++ {
		add(mat.Row(nil, i, in))
	}
	for i := 0; len(out) < m; i++ { // all axes are orthogonal, so this is for what is no number
		u := make([]float64, d)
		u[i%d] = 1
		out = append(out, u)
	}
	return out
}

// fisher returns the map to a number that separates the means of the components best, relative to
// their mean covariance.
func (r *Rounds) fisher() []float64 {
	d := r.Space.Dim()
	whole := component.Joined(r.Components[0], r.Components[1:]...)
	_, inv, _ := symmetric.Factor(r.pooled())
	v, _ := symmetric.Principal(symmetric.Congruence(inv, whole.Cov), 1)
	out := make([]float64, d)
	symmetric.AddMulT(out, inv, mat.Col(nil, 0, v))
	return out
}

// pooled returns the mean covariance of the components.
func (r *Rounds) pooled() *mat.SymDense {
	out := mat.NewSymDense(r.Space.Dim(), nil)
	for _, o := range r.Components {
		out.AddSym(out, symmetric.Scaled(o.Weight, o.Cov))
	}
	return out
}
