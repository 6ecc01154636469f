package aal21

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
)

// known is the decoder of Gaussians with one known covariance L L^T (in one column: of one known
// variance): Algorithm 2 with scale 1 in every coordinate of L^-1 row, where all of them are 1.
//
// Utility: as for axisAligned, and |v-v'| <= sqrt(d) step/2 for some member, in these coordinates:
// TV <= |v-v'|/sqrt(2 pi).
//
// Source: [AAL21] Appendix E; Corollary 4.5.
// Differs: all coordinates are one measurement; the net reaches as far as the bin, where the
// source's reaches one step beyond.
type known struct {
	c   Constants
	cov *mat.SymDense
}

func (k known) Steps(_ estimate.Problem, share float64) []kernel.Step { return meanSteps(share) }

func (k known) Rows(p estimate.Problem, w, mu2 float64) (enough, least float64) {
	means := k.c.meanRows(p, p.Columns, w, mu2)
	return means, means / 2
}

func (k known) Shortest(p estimate.Problem) List {
	return k.list(k.c.shortest(p.Columns, program.MostComponents(p), true))
}

func (k known) list(coordinates [][]rough) decoded {
	l := k.c.product(coordinates)
	l.root, _, _ = symmetric.Factor(k.cov)
	l.cov = k.cov
	return l
}

func (k known) Decode(s Sample) (List, error) {
	_, inverse, _ := symmetric.Factor(k.cov)
	r := sampled(s, k.c)
	axes := make([]axis, r.d)
	for i := range axes {
		axes[i] = axis{mat.Row(nil, i, inverse), 1}
	}
	bins, err := r.meanDecoder(axes, s.Mu2)
	if err != nil {
		return nil, err
	}
	coordinates := make([][]rough, r.d)
	for i, list := range bins {
		for _, bin := range list {
			coordinates[i] = append(coordinates[i], rough{1, bin})
		}
	}
	l := k.list(coordinates)
	l.seen = r.seen
	return l, nil
}

// knownCovariance returns the known covariance of a problem; nil if none is known, or if it is no
// covariance with an inverse that float64 can hold.
func knownCovariance(rows [][]float64, d int) *mat.SymDense {
	if len(rows) != d {
		return nil
	}
	s := mat.NewSymDense(d, nil)
	for i, row := range rows {
		if len(row) != d || !(row[i] >= narrowest*narrowest && row[i] <= widest*widest) {
			return nil
		}
		for j := range i + 1 {
			s.SetSym(i, j, row[j])
		}
	}
	// Positive definite with room to spare, whatever the columns' units.
	correlation := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			correlation.SetSym(i, j, s.At(i, j)/math.Sqrt(s.At(i, i))/math.Sqrt(s.At(j, j)))
		}
	}
	if values, ok := symmetric.Eigenvalues(correlation); !ok || !(values[0] > 1e-10) {
		return nil
	}
	return s
}
