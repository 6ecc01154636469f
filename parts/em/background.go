package em

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/moments"
)

// A Background takes the rows that are far from every component: wide copies of the released global
// Gaussian whose shapes are fixed. It joins the soft partition in the last round only, where one
// more component adds no sensitivity; in earlier rounds it would eat the small components before
// they are sharp.
//
// Source: [KSSU19] Section E.2, point 1 of the restatement.
// Differs: the weights are measured instead of fixed.
//
// The zero Background takes no rows.
type Background struct {
	mean   []float64
	cov    *mat.SymDense
	weight []float64 // of each rung
	// Share is the part of the rows that was counted in the rungs seen to hold any, Noise its sd.
	// By the last round.
	Share, Noise float64
}

// Utility constants of the background, chosen on the public tables of experiments/tables.
const (
	backgroundStart = .02 // weight of all rungs together before they are measured
	backgroundMost  = .3  // largest weight of all rungs together
	// A rung whose count is below backgroundSDs noise sds keeps the least weight, which bounds what
	// a far row costs.
	backgroundSDs = 3.0
	// leastWeight and leastSpread bound the least weight of a rung, and what it adds to the
	// variance of the whole.
	leastWeight = .0005
	leastSpread = .02
)

// rungs are the factors by which the global covariance is inflated.
var rungs = []float64{3, 60, 3000, 1e6, 1e12}

// least is the weight of a rung that holds no row that can be seen.
func least(rung float64) float64 { return math.Min(leastWeight, leastSpread/rung) }

// NewBackground is made of copies of g, their covariances of the form.
func NewBackground(g component.Gaussian, form query.Form) Background {
	b := Background{mean: g.Mean, cov: g.Cov}
	if form != query.FullForm {
		b.cov = symmetric.OnlyDiagonal(g.Cov, form == query.SphericalForm)
	}
	for range rungs {
		b.weight = append(b.weight, backgroundStart/float64(len(rungs)))
	}
	return b
}

// Total is the weight of all rungs.
func (b *Background) Total() float64 {
	t := 0.0
	for _, w := range b.weight {
		t += w
	}
	return t
}

// components are the background's parts of a moments query.
func (b *Background) components(s component.Space) []query.Component {
	if b.weight == nil {
		return nil
	}
	_, inv, logDet := symmetric.Factor(b.cov)
	d := float64(s.Dim())
	var out []query.Component
	for i, f := range rungs {
		w := mat.DenseCopyOf(inv)
		w.Scale(1/math.Sqrt(f), w)
		out = append(out, query.Component{
			Frame:     s.Frame(b.mean, w),
			LogWeight: math.Log(b.weight[i]) - logDet/2 - d/2*math.Log(f),
			Radius:    math.Sqrt(d),
		})
	}
	return out
}

// update moves the rungs' weights to their shares of the rows, where these can be seen.
func (b *Background) update(sums []moments.Sums, rows float64) {
	b.Share, b.Noise = 0, 0
	for i, s := range sums {
		b.weight[i] = least(rungs[i])
		sd := s.CountSD / rows
		if s.Count > backgroundSDs*s.CountSD {
			b.Share, b.Noise = b.Share+s.Count/rows, math.Hypot(b.Noise, sd)
			b.weight[i] = math.Max(b.weight[i], math.Min(s.Count/rows, backgroundMost/float64(len(rungs))))
		} else if b.Share == 0 {
			b.Noise = math.Max(b.Noise, sd)
		}
	}
}

// Parts are the rungs as Gaussians, with their weights.
func (b *Background) Parts() (parts []component.Gaussian) {
	for i, w := range b.weight {
		wide := component.Gaussian{Weight: w, Mean: b.mean, Cov: mat.NewSymDense(len(b.mean), nil)}
		wide.Cov.ScaleSym(rungs[i], b.cov)
		parts = append(parts, wide)
	}
	return parts
}

// Density is the mixture of the components with a background that weighs little: far rows say
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
// public tables of experiments/tables.
const lightBackground = .001
