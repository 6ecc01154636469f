package kmssu22

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/model/flags"
)

// rounding is how far apart the axes of blocks may be by rounding alone, relative to the ratio of
// what is rounded and the narrowest standard deviation: some 2^10 units in the last place.
const rounding = 0x1p-42

// withoutZeros leaves out the directions of zero eigenvalues: the space of the others, in an
// orthonormal basis, centred near the rows, and the eigenvalues that are left.
//
// The rows lie on an affine subspace, up to rounding, which almost every block of more rows than
// its dimension spans: so the spans of blocks agree, and their mode is subspaceRecovery with a
// radius that only rounding asks for. Where the subspace lies is the fullest cell of the
// coordinates across it, which all rows share. What is released is a singular covariance; nothing
// is unresolved.
//
// Source: [KMSSU22] A zero eigenvalue.
// Differs: the source does not say how; the mode of the spans by the same GoodCenter, on the
// centres of cells of rounding size.
func (r *run) withoutZeros(s space, sds []float64) (space, []float64, error) {
	rank := 0
	for rank < len(sds) && sds[rank] > 0 {
		rank++
	}
	switch rank {
	case len(sds):
		return s, sds, nil
	case 0:
		return space{}, nil, &bottom{reason: "no column varies in most blocks of rows: their values are not measured here"}
	}
	zero := zeroLocationShare * r.mu2 / 2
	s, err := locatedAt(prefixZero, s, repeat(sds[0], r.d), r.a.Take(zero))
	if err != nil {
		return space{}, nil, err
	}
	far := math.Sqrt(float64(r.d)) * (math.Hypot(symmetric.HypotNorm(s.center), sds[0]) + sds[0])
	finest := rounding * far / sds[rank-1]
	if !(finest < .01) {
		return space{}, nil, fail("the narrowest standard deviation, about %.2g, is lost in the rounding of the others", sds[rank-1])
	}
	list, _ := r.c.calls(sds[:rank])
	basis, err := r.subspaceRecovery(s, rank, 0, finest, r.zeroMu2(len(list)))
	if err != nil {
		return space{}, nil, err
	}
	off := s.along(basis, rank, r.d)
	// Along an axis across, rows are rounded, and turned by how far the subspace is off: finest
	// times their spread.
	if off, err = locatedAt(prefixZero, off, repeat(rounding*far+4*finest*sds[0], r.d-rank), r.a.Take(zero)); err != nil {
		return space{}, nil, err
	}
	s.center = off.center
	r.flags = append(r.flags, flags.New(flags.Singular, "the rows lie in a subspace of dimension %d of %d: the covariance is singular", rank, r.d))
	return s.along(basis, 0, rank), sds[:rank], nil
}

// zeroMu2 returns what the subspace of the eigenvalues that are not zero may cost: an equal part
// with the other calls, of which there are so many.
func (r *run) zeroMu2(calls int) float64 {
	return preconditionShare * r.mu2 / float64(calls+1) * (1 - 1e-9)
}

// along returns the space of the columns from first to last-1 of an orthonormal basis.
func (s space) along(basis *mat.Dense, first, last int) space {
	v := mat.DenseCopyOf(basis.Slice(0, s.dim(), first, last))
	w, wi := new(mat.Dense), new(mat.Dense)
	w.Mul(v.T(), s.w)
	wi.Mul(s.wi, v)
	return space{w, wi, s.center}
}
