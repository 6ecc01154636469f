package kmssu22

import "math"

// A call is one of a preconditioner, for the first k eigenvalues.
type call struct {
	k int
	// gap is sqrt(lambda_{k+1}/lambda_k) for the coarse preconditioner; 0 stands for the fine one.
	gap float64
	// top is the largest standard deviation before the call, by the estimates.
	top float64
}

// calls returns those of the loop over the gaps of a spectrum: where the k-th and the next
// eigenvalue are far apart, the coarse preconditioner closes the gap; where the first and the
// (k+1)-th are, the fine one. sds are the square roots of estimated eigenvalues, largest first,
// none of them zero; top is the largest in the end.
//
// Source: [KMSSU22] The loop.
func (c Constants) calls(sds []float64) (list []call, top float64) {
	s := append([]float64(nil), sds...)
	for k := 1; k < len(s); k++ {
		if gap := s[k] / s[k-1]; gap*gap*c.EigenvalueRatio < 1 {
			list = append(list, call{k: k, gap: gap, top: s[0]})
			for i := range k {
				s[i] *= gap
			}
		}
		if ratio := s[0] / s[k]; ratio*ratio > c.Cumulative {
			list = append(list, call{k: k, top: s[0]})
			for i := range k + 1 {
				s[i] = math.Min(s[i], s[k]/(4*c.Remaining))
			}
		}
	}
	return list, s[0]
}

// narrowest is the least gap, as a ratio of standard deviations, that a projection in float64 can
// close.
const narrowest = 0x1p-36

// precondition runs the loop: a map after which the eigenvalues of the covariance are alike, and
// the square root of the largest of them. Every call is charged: they have equal parts of the half
// of mu^2 that is for all of them.
//
// Source: [KMSSU22] The loop; Corrections, (iv).
// Differs: all gaps are those of the one estimate of the eigenvalues, as each call leaves them.
func (r *run) precondition(s space, sds []float64) (space, float64, error) {
	list, top := r.c.calls(sds)
	used := preconditionShare * r.mu2 * (1 - 1e-9)
	if s.dim() < r.d { // the subspace of the eigenvalues that are not zero was a call as well
		used -= r.zeroMu2(len(list))
	}
	for _, c := range list {
		mu2 := used / float64(len(list))
		var err error
		switch {
		case c.gap == 0:
			s, err = r.finePreconditioner(s, c.k, r.c.Bound*c.top*c.top, mu2)
		case c.gap < narrowest:
			err = fail("the gap between the eigenvalues number %d and %d is too wide for float64", c.k, c.k+1)
		default:
			s, err = r.coarsePreconditioner(s, c.k, c.gap, mu2)
		}
		if err != nil {
			return space{}, 0, err
		}
	}
	return s, top, nil
}
