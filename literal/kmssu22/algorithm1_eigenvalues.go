package kmssu22

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/learner/spectral"
)

// eigenvalueEstimator returns EigenvalueEstimator: the square roots of the eigenvalues of the
// covariance, largest first, each the lower end of a bucket of ratio 2^(1/4), or 0. The rows are
// cut into t secret blocks; each has d eigenvalues, one for each of d stability histograms, whose
// fullest buckets are taken. If one of them shows none, it is bottom.
//
// Privacy: one changed row changes one block, which moves one count from one bucket to another in
// each histogram, under both relations: L2 sensitivity sqrt(2d), as kernel.StabilityHistogram has
// it for d coordinates.
//
// Source: [KMSSU22] Algorithm 1; Theorem 3.1; Corrections, (i).
// Differs: the d histograms are one Gaussian release of noise sqrt(2d)/mu whose thresholds share
// one delta, in place of d Laplace histograms with (epsilon/(sqrt d ln(1/delta)), beta/2^i):
// beta/2^i is a probability of failure, and no delta; covariances about the blocks' own means; the
// number of blocks follows from the noise.
func (r *run) eigenvalueEstimator() ([]float64, error) {
	t, err := r.enough(r.eigenvalueBlocks(r.mu2), r.d, "their eigenvalues")
	if err != nil {
		return nil, err
	}
	pooled, err := blocks.Pool(r.a.Take(eigenvalueShare*r.mu2), blocks.Blocks{Learner: spectral.Spectrum{}, Count: t})
	if err != nil {
		return nil, err
	}
	q := query.BoxKeys{Grids: []query.Grid{{Map: whole(r.d).frame(), Side: repeat(1, r.d), Offset: make([]float64, r.d)}}}
	cells, _, err := kernel.StabilityHistogram(pooled, stepEigenvalues, q, pooled.LeftMu())
	if err != nil {
		return nil, err
	}
	sds := make([]float64, r.d)
	for i := range sds {
		key, ok := fullest(cells, i)
		if !ok {
			return nil, fail("no range of values holds enough of the blocks' eigenvalues number %d", i+1)
		}
		if key > spectral.OfZero {
			sds[i] = math.Exp2(key / (2 * spectral.PerOctave))
		}
	}
	slices.Sort(sds)
	slices.Reverse(sds)
	for _, v := range sds {
		if v > 0 && !(v >= 1/widest && v <= widest) {
			return nil, fail("a released standard deviation, %.3g, has no variance in float64", v)
		}
	}
	return sds, nil
}

// widest is the largest standard deviation whose square leaves room in float64.
const widest = 0x1p400
