package aal21

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/literal/paper"
)

// axisAligned is the decoder of axis-aligned Gaussians (Algorithm 5): Algorithm 4 in every column.
// Algorithm 5 fails, with an empty list, if it fails in some column.
//
// Utility: what a component looks like in one column is a Gaussian, and the other components
// corrupt it there too; a component that is listed in every column is in the product of the lists.
//
// Source: [AAL21] Algorithm 5.
// Differs: all columns are one measurement, each with the same part of mu^2, where the source has
// epsilon/d or advanced composition.
type axisAligned struct{ c Constants }

func (a axisAligned) Steps(_ estimate.Problem, share float64) []kernel.Step {
	return append(scaleSteps(a.c.ScaleShare*share), meanSteps((1-a.c.ScaleShare)*share)...)
}

func (a axisAligned) Rows(p estimate.Problem, w, mu2 float64) (enough, least float64) {
	scales := scaleRows(p, w, a.c.ScaleShare*mu2)
	means := a.c.meanRows(p, p.Columns*usualScales, w, (1-a.c.ScaleShare)*mu2)
	return math.Max(scales, means), math.Max(scales, a.c.meanRows(p, p.Columns, w, (1-a.c.ScaleShare)*mu2)/2)
}

func (a axisAligned) Shortest(p estimate.Problem) List { return a.shortest(p) }

func (a axisAligned) shortest(p estimate.Problem) decoded {
	return a.c.product(a.c.shortest(p.Columns, program.MostComponents(p), false))
}

func (a axisAligned) Decode(s Sample) (List, error) { return a.decode(s) }

func (a axisAligned) decode(s Sample) (decoded, error) {
	r := sampled(s, a.c)
	columns, err := r.gaussianDecoder(s.Mu2)
	l := a.c.product(columns)
	l.seen = r.seen
	return l, err
}

// A decoded list is of Gaussians in d coordinates: every choice of one rough Gaussian per
// coordinate, and the nets over them.
type decoded struct {
	coordinates [][]rough
	reach       float64 // of the nets
	// root is L, covariance L L^T, where it is known: the coordinates are then those of L^-1 row.
	// Else nil.
	root *mat.Dense
	cov  *mat.SymDense
	seen []bins // what was released of the rows
}

// product returns the list of products of the columns' lists.
func (c Constants) product(columns [][]rough) decoded {
	return decoded{coordinates: columns, reach: c.Reach}
}

// Step: in every column a component is asked to alpha/sqrt d, of which a is half; where the
// covariance is known, a is four times that.
//
// Source: [AAL21] Algorithm 4; Algorithm 5; Appendix E.
func (l decoded) Step(alpha float64) float64 {
	step := alpha / (2 * math.Sqrt(float64(len(l.coordinates))))
	if l.root != nil {
		step *= 4
	}
	return step
}

func (l decoded) lattice(step float64) lattice { return latticeOf(step, l.reach, l.root != nil) }

// Size returns the product over coordinates, exponential in d; 0 if some coordinate's list is
// empty.
func (l decoded) Size(step float64) float64 {
	size := 1.0
	for _, list := range l.coordinates {
		size *= l.lattice(step).size(list)
	}
	if size > 16*mostListed { // the nets over neighbouring bins overlap, so there may be a fraction
		return size
	}
	size = 1
	for _, list := range l.coordinates {
		size *= float64(l.lattice(step).count(list))
	}
	return size
}

// lines returns the coordinates' own Gaussians under a net.
func (l decoded) lines(step float64) (lines [][]paper.Gaussian) {
	for _, list := range l.coordinates {
		lines = append(lines, l.lattice(step).line(list))
	}
	return lines
}

// Net lists the products of one Gaussian of every line, in the columns' units.
func (l decoded) Net(step float64) (base []paper.Gaussian) {
	for g := range paper.Products(l.lines(step)) {
		if l.root != nil {
			var mean mat.VecDense
			mean.MulVec(l.root, mat.NewVecDense(len(g.Mean), g.Mean))
			g = paper.NewGaussian(mean.RawVector().Data, l.cov)
		}
		base = append(base, g)
	}
	return base
}

// Moves returns those of the means, and of the standard deviations if they are not known.
func (l decoded) Moves() []paper.Move {
	if l.root != nil {
		return []paper.Move{paper.Means}
	}
	return []paper.Move{paper.Means, paper.Scales}
}
