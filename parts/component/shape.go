package component

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Shape is a covariance less the identity, in the frames of components that have all the same
// shape, without its trace, and the noise sd of an entry.
type Shape struct {
	Excess *mat.SymDense
	SD     float64
	// Differ is the variance of an entry from component to component, beyond noise.
	Differ float64
}

// Pooled returns the shape that components have in common by all their sums, of the full or the
// diagonal form: their noises add up, and so do their rows. Of k components it has k times the rows
// of one, and the root of k times the noise.
func Pooled(form query.Form, sums []Sums, how []Clipping) *Shape {
	d := len(sums[0].Sum)
	entries := float64(d*(d+1)) / 2
	if form == query.DiagonalForm {
		entries = float64(d)
	}
	all, rows, noise := mat.NewSymDense(d, nil), 0.0, 0.0
	own, sd, weight := make([]*mat.SymDense, len(sums)), make([]float64, len(sums)), make([]float64, len(sums))
	for j, s := range sums {
		n, law := math.Max(s.Count, leastRows), how[j].Law
		even := law.A + law.B2*(s.Trace/n-law.A*float64(d))/law.TraceGain()
		own[j], sd[j], weight[j] = mat.NewSymDense(d, nil), s.SecondSD/law.B1/n, n
		for a := range d {
			for b := a; b < d && (b == a || form != query.DiagonalForm); b++ {
				own[j].SetSym(a, b, s.Second.At(a, b)/n/law.B1-s.Sum[a]*s.Sum[b]/sq(n*law.A1))
			}
			own[j].SetSym(a, a, own[j].At(a, a)+1-even/law.B1)
		}
		all.AddSym(all, symmetric.Scaled(n, own[j]))
		rows, noise = rows+n, math.Hypot(noise, n*sd[j])
	}
	excess, size := unsized(all, rows)
	out := &Shape{Excess: excess, SD: noise / size}
	total := 0.0
	for j := range sums { // what is seen best counts most
		e, size := unsized(own[j], 1)
		var diff mat.Dense
		diff.Sub(e, excess)
		out.Differ += sq(weight[j]) * (sq(mat.Norm(&diff, 2))/entries - sq(sd[j]/size))
		total += sq(weight[j])
	}
	out.Differ = math.Max(0, out.Differ/total)
	return out
}

// unsized returns a second moment over its mean variance, which is size, less the identity; no
// variance is below a small part of that of so few rows.
func unsized(m *mat.SymDense, rows float64) (e *mat.SymDense, size float64) {
	d := m.SymmetricDim()
	size = math.Max(mat.Trace(m)/float64(d), shrinkStep*rows)
	e = symmetric.Scaled(1/size, m)
	for a := range d {
		e.SetSym(a, a, e.At(a, a)-1)
	}
	return e, size
}

// ShareShape gives components their mean shape, each at its own size.
func ShareShape(cs []Gaussian) {
	d := len(cs[0].Mean)
	shape, size := mat.NewSymDense(d, nil), func(cov *mat.SymDense) float64 {
		_, _, logDet := symmetric.Factor(cov)
		return math.Exp(logDet / float64(d))
	}
	for _, c := range cs {
		shape.AddSym(shape, symmetric.Scaled(c.Weight/size(c.Cov), c.Cov))
	}
	whole := size(shape)
	for j, c := range cs {
		cs[j].Cov = symmetric.Scaled(size(c.Cov)/whole, shape)
	}
}
