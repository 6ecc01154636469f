package separated

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query/rings"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of the gate, guesses.
const (
	// part of a component's covariance in the gate that is made round, where nothing is known of
	// its noise
	roundGate = .3
	mostRound = .9
	// least eigenvalue of the Gram matrix of the directions between means that counts
	spanOfMean = 1e-9
)

// meanSpan is the view of the directions between the means: that is where separated components
// differ. Every pair counts alike, however close, so components of very different scales are told
// apart as well.
func meanSpan(g []component.Gaussian) view {
	d := len(g[0].Mean)
	gram := mat.NewSymDense(d, nil)
	pairs := 0
	for i := range g {
		for j := range i {
			diff := mat.NewVecDense(d, nil)
			for l := range d {
				diff.SetVec(l, g[i].Mean[l]-g[j].Mean[l])
			}
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
	return view{origin: append([]float64(nil), g[0].Mean...), v: mat.DenseCopyOf(v.Slice(0, d, 0, l))}
}

// assign sends every row to the component it most likely belongs to, as seen in the span of the
// means, with covariances that are the rounder the more noise is in them.
func (f *fit) assign(g []component.Gaussian) rings.Partition {
	w := meanSpan(g)
	p := rings.Partition{Project: w.frame(f.space)}
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
	out := mat.NewSymDense(l, nil)
	out.ScaleSym(1-a, s)
	for i := range l {
		out.SetSym(i, i, out.At(i, i)+a*mid)
	}
	return out
}
