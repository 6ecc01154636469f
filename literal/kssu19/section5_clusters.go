package kssu19

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/rings"
	gaussians "github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
	"github.com/gauze-dp/gauze/parts/moments"
)

// A cluster of estimates: where the blocks' learners found one component. Coordinates are those of
// the space.
type cluster struct {
	mean   []float64
	radius float64 // of the ball around mean that holds most of the cluster
	// lnSigma and what follows are known after the last stages.
	lnSigma, weight, count, noise float64
}

// Utility constants of the search.
const (
	mostTreeLevels = 4
	spanDimension  = 3   // directions of the tree, at most
	fewAxes        = 2   // up to this many columns need no search for directions
	boxMargin      = 1.3 // of the box around clusters of equal size
	cellPart       = .06 // of a cluster: cells with less are not split
	clusterPart    = .5  // of the blocks that a cluster must hold an estimate of
	lonelyCell     = 5.0 // noise sds of one count below which a cell without a neighbour is dropped
	findStarts     = 24  // of EM
	nearSDs        = 3.0 // of a cluster of cells: the radius of its first ball
)

// findClusters finds the clusters of the estimates: private PCA, a tree of counts in the leading
// directions, EM on its leaves. Every cluster has about one estimate per block; one that has fewer
// than half as many is not taken.
//
// Source: [KSSU19] Section B.11 of the restatement (practical); Sections B.5, C.3 and C.4.
func (f *sampling) findClusters() error {
	frame, half, err := f.span()
	if err != nil {
		return err
	}
	q := frame.Out()
	first, last := map[int]int{1: 4, 2: 2, 3: 2}[q], map[int]int{1: 7, 2: 5, 3: 4}[q]
	cells, err := coreset.Build(f.pooled, stepSampleTree, frame, half, first, last, cellPart*float64(f.blocks), f.Mu(sampleFindShare))
	if err != nil {
		return err
	}
	cells.DropLonely(lonelyCell)
	if len(cells.Points) < f.Problem.Components {
		return nil
	}
	fit, err := coreset.Fit(f.ctx, cells, f.Problem.Components, findStarts, func(start int) func() float64 {
		return rand.New(rand.NewPCG(sampleSeed, uint64(start))).Float64
	})
	if err != nil {
		return err
	}
	for j, w := range fit.Weights {
		if w*weightScale(fit, cells) < clusterPart*float64(f.blocks) {
			continue
		}
		c := cluster{mean: append([]float64(nil), frame.Center...), radius: f.radius}
		for i, row := range frame.W {
			for l, v := range row {
				c.mean[l] += v * fit.Means[j][i]
			}
		}
		if q == f.dim() {
			c.radius = math.Min(f.radius, nearSDs*math.Sqrt(mat.Trace(fit.Covs[j])))
		}
		f.clusters = append(f.clusters, c)
	}
	return nil
}

// weightScale turns the fit's weights into estimates.
func weightScale(fit *coreset.Mixture, cells *coreset.Coreset) float64 {
	total := 0.0
	for _, w := range fit.Weights {
		total += w
	}
	return cells.Total / total
}

// span is the map of an estimate to the directions of the tree: the columns themselves if they are
// few, else the leading directions of the estimates' covariance, around their mean: near to which
// every cluster is in all other directions. half are the half-widths of a box that holds the
// clusters: none of k points is further from their mean than sqrt(k-1) of their standard
// deviations.
//
// Source: [KSSU19] Section B.5 of the restatement.
func (f *sampling) span() (frame query.Affine, half []float64, err error) {
	d := f.dim()
	frame = f.ball(cluster{mean: make([]float64, d)})
	for range d {
		half = append(half, f.radius*(1+1e-9)) // the learners see no row beyond
	}
	if d <= fewAxes {
		return frame, half, nil
	}
	q := query.ClippedMoments{Form: query.FullForm, Lift: gaussians.Lift, Components: []query.Component{{Frame: frame, Radius: f.radius}}}
	ans, err := f.pooled.Sum(stepSampleSpan, q, f.Mu(sampleSpanShare))
	if err != nil {
		return frame, nil, err
	}
	s := moments.Unpack(q, ans)[0]
	n := math.Max(s.Count, float64(f.blocks))
	cov := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			cov.SetSym(i, j, s.Second.At(i, j)/n-s.Sum[i]*s.Sum[j]/(n*n))
		}
	}
	values, v, ok := symmetric.Eigen(cov)
	if !ok { // numbers that only nasty tables give: some directions
		values, v, _ = symmetric.Eigen(mat.NewSymDense(d, nil))
	}
	move(frame.Center, s.Sum, n, f.radius)
	frame.W = nil
	noise := s.SecondSD / n * math.Sqrt(float64(d))
	for i := range min(d, spanDimension, max(1, f.Problem.Components-1)) {
		frame.W = append(frame.W, mat.Col(nil, d-1-i, v))
		half[i] = math.Min(2*f.radius, boxMargin*math.Sqrt(float64(f.Problem.Components)*math.Max(values[d-1-i], noise)))
	}
	return frame, half[:len(frame.W)], nil
}

// ball is the frame of an estimate's mean around a cluster's.
func (f *sampling) ball(c cluster) query.Affine {
	a := query.Affine{Center: append([]float64(nil), c.mean...)}
	for i := range c.mean {
		row := make([]float64, len(c.mean))
		row[i] = 1
		a.Columns, a.W = append(a.Columns, i), append(a.W, row)
	}
	return a
}

// askClusters asks one query of the estimates in each cluster: of those nearest to its mean, if
// they are within reach times its radius.
func (f *sampling) askClusters(step string, reach float64, mu float64, of func(cluster) query.Sum) ([]kernel.Answer, rings.Parts, error) {
	var p rings.Parts
	for _, c := range f.clusters {
		// All frames have one unit, so the least |z| is the nearest mean.
		frame := f.ball(c)
		for i := range frame.W {
			frame.W[i][i] /= f.radius
		}
		p.Partition.Components = append(p.Partition.Components, query.Component{Frame: frame, Radius: reach * c.radius / f.radius})
		p.Queries = append(p.Queries, of(c))
	}
	ans, err := f.pooled.Sum(step, p, mu)
	if err != nil {
		return nil, p, err
	}
	values, sigmas := p.Split(ans.Values, ans.Sigma)
	out := make([]kernel.Answer, len(values))
	for i := range values {
		out[i] = kernel.Answer{Values: values[i], Sigma: sigmas[i]}
	}
	return out, p, nil
}
