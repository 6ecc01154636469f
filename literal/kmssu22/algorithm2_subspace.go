package kmssu22

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/learner/spectral"
	"github.com/gauze-dp/gauze/parts"
)

// subspaceRecovery returns SubspaceRecovery: an orthonormal basis, in columns, whose first k are
// about the leading principal axes of the rows in the space. gap is an estimate of
// sqrt(lambda_{k+1}/lambda_k), which governs how far the axes of blocks are apart; finest is how
// far rounding alone may put them.
//
// Each of t secret blocks projects q public reference points on its own k leading axes. For each
// point, goodCenter finds the ball that holds most projections; they are clipped to a ball around
// its centre and averaged, with noise; the k leading directions of the averages span the answer.
// The wider the gap, the nearer are the projections, the smaller are the balls and with them the
// noise: the number of rows does not depend on the gap.
//
// Privacy: one changed row changes one block. For each point the clipped projections are a clipped
// sum over the blocks, with mu/sqrt q.
//
// Source: [KMSSU22] Algorithm 2; Corrections, (ii).
// Differs: the sum is divided by t before noise of 2R sqrt(q)/(t mu) or so is added: as printed the
// noise is t times too small for a sum; the number of blocks follows from the noise.
func (r *run) subspaceRecovery(s space, k int, gap, finest, mu2 float64) (*mat.Dense, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	dims, q := s.dim(), r.c.points(k)
	t, err := r.enough(r.centerBlocks(k, dims, mu2), dims, fmt.Sprintf("the subspace of the %d largest eigenvalues", k))
	if err != nil {
		return nil, err
	}
	radius := math.Max(finest, r.c.subspaceRadius(dims, k, t, r.rows/float64(t), gap))
	pooled, err := blocks.Pool(r.a.Take(mu2), blocks.Blocks{Learner: spectral.Subspace{Dimensions: k, Points: q}, Count: t, Map: s.frame(),
		Seed: r.seed(), Shared: true}) // all blocks project the same reference points
	if err != nil {
		return nil, err
	}
	defer r.a.Return(pooled)
	centers, err := r.goodCenter(pooled, dims, q, radius, mu2*centersPart)
	if err != nil {
		return nil, err
	}
	if centers == nil {
		return nil, fail("the subspaces of the %d largest eigenvalues of blocks of rows do not agree", k)
	}
	averages := mat.NewDense(dims, q, nil)
	for i, c := range centers {
		average, err := r.average(pooled, i*dims, c, r.c.Clip*radius*math.Sqrt(math.Log(float64(t))), t, mu2*(1-centersPart)/float64(q))
		if err != nil {
			return nil, err
		}
		averages.SetCol(i, average)
	}
	return leading(averages), nil
}

// subspaceRadius returns r: that of a ball that holds most blocks' projections of a point.
//
// Source: [KMSSU22] Algorithm 2.
func (c Constants) subspaceRadius(d, k, t int, m, gap float64) float64 {
	return c.Radius * gap * math.Sqrt(float64(d)) * (math.Sqrt(float64(k)) + math.Sqrt(math.Log(float64(k*t)))) / math.Sqrt(m)
}

// average returns the mean over t blocks of the coordinates from first on, clipped to a ball around
// c, with noise.
func (r *run) average(pooled *kernel.SubBudget, first int, c []float64, radius float64, t int, mu2 float64) ([]float64, error) {
	frame := whole(len(c)).at(c).frame()
	for j := range c {
		frame.Columns = append(frame.Columns, first+j)
	}
	sums, err := measure(pooled, stepAverages, query.ClippedMoments{Form: query.SphericalForm,
		Components: []query.Component{{Map: frame, Radius: radius}}}, parts.Mu(mu2))
	if err != nil {
		return nil, err
	}
	out := append([]float64(nil), c...)
	for j, v := range sums.Sum {
		out[j] += v / float64(t)
	}
	return out, nil
}

// leading returns an orthonormal basis whose columns are the left singular vectors of x, largest
// first; the identity if there are none.
func leading(x *mat.Dense) *mat.Dense {
	dims, _ := x.Dims()
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDFullU) {
		return whole(dims).w
	}
	var u mat.Dense
	svd.UTo(&u)
	return &u
}
