package aal21

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
)

// knownDecoder is the decoder of Gaussians with one known covariance L L^T (in one column: of one
// known variance): Algorithm 2 with scale 1 in every coordinate of L^-1 row, where all of them are
// 1.
//
// Utility: as for productDecoder, and |v-v'| <= sqrt(d) step/2 for some member, in these
// coordinates: TV <= |v-v'|/sqrt(2 pi).
//
// Source: [AAL21] Appendix E; Corollary 4.5.
// Differs: all coordinates are one measurement; the net reaches as far as the bin, where the
// source's reaches one step beyond.
func (r *run) knownDecoder(known *mat.SymDense, mu2 float64) (decoded, error) {
	root, inverse, _ := symmetric.Factor(known)
	axes := make([]axis, r.d)
	for i := range axes {
		axes[i] = axis{mat.Row(nil, i, inverse), 1}
	}
	bins, err := r.meanDecoder(axes, mu2)
	if err != nil {
		return decoded{}, err
	}
	l := decoded{coordinates: make([][]rough, r.d), root: root, cov: known}
	for i, list := range bins {
		for _, bin := range list {
			l.coordinates[i] = append(l.coordinates[i], rough{1, bin})
		}
	}
	return l, nil
}

// knownCovariance is the known covariance of a problem; nil if none is known, or if it is no
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
