package kssu19

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/rings"
	"github.com/gauze-dp/gauze/model/flags"
	gaussians "github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/moments"
)

// Utility constants of the refinement.
const (
	reachOut    = 2.0 // radii of its ball within which an estimate belongs to a cluster
	spreadSteps = 2   // bins of the spread per octave
	spreadBins  = 20  // down to 2^-10 of the radius so far
	spreadSDs   = 3.0 // noise sds of a bin that belongs to a cluster, least
	spreadPart  = .08 // .. and the part of the blocks
	scaleStep   = .3  // bins of ln sigma
	scaleBins   = 34  // .. below ln of the radius of all
	scaleWindow = 2   // bins that hold the scales of a cluster
	scalePart   = .4  // .. of the blocks, at least
	scaleReach  = .45 // half-width, in ln sigma, of what the last mean is clipped to
	scaleShrink = 2.0 // how much less ln sigma counts in the last mean's ball than the mean
	outlierSDs  = 8.0 // a row further than this from every component is in none
)

// refine measures the clusters' means in shrinking balls, the scales of the components, and the
// weights; then all but the weights once more with what is left.
//
// Source: [KSSU19] Section 5 (its average); Section B.11 of the restatement, step 5.
func (f *sampling) refine() (estimate.Outcome, error) {
	// the first ball is wide, because the tree did not see all directions
	if f.dim() > fewAxes {
		if err := f.shrink(); err != nil {
			return estimate.Outcome{}, err
		}
	}
	for range samplePasses {
		if err := f.ctx.Err(); err != nil {
			return estimate.Outcome{}, err
		}
		if err := f.center(); err != nil {
			return estimate.Outcome{}, err
		}
		if err := f.shrink(); err != nil {
			return estimate.Outcome{}, err
		}
	}
	seen, err := f.findScales()
	if err != nil {
		return estimate.Outcome{}, err
	}
	if !seen {
		return f.Refuse("in a cluster, too few of the estimates of %d blocks agree on a scale to be seen", f.blocks), nil
	}
	if err := f.weigh(); err != nil {
		return estimate.Outcome{}, err
	}
	if err := f.last(); err != nil {
		return estimate.Outcome{}, err
	}
	return f.outcome()
}

// center moves every cluster to its noisy clipped mean.
func (f *sampling) center() error {
	q := func(c cluster) query.Sum {
		return query.ClippedMoments{Form: query.SphericalForm, Components: []query.Component{{Frame: f.ball(c), Radius: c.radius}}}
	}
	answers, p, err := f.askClusters(stepSampleMean, reachOut, f.Mu(sampleMeanShare), q)
	if err != nil {
		return err
	}
	for j := range f.clusters {
		c := &f.clusters[j]
		s := moments.Unpack(p.Queries[j].(query.ClippedMoments), answers[j])[0]
		move(c.mean, s.Sum, math.Max(s.Count, clusterPart*float64(f.blocks)), c.radius)
	}
	return nil
}

// move adds sum/n to mean, at most most far.
func move(mean, sum []float64, n, most float64) {
	length := 0.0
	for _, v := range sum {
		length += v * v / (n * n)
	}
	factor := math.Min(1, most/math.Sqrt(length)) / n
	for i, v := range sum {
		mean[i] += factor * v
	}
}

// shrink finds the radius around every cluster's mean beyond which few of it are; it stays where
// none can be seen.
func (f *sampling) shrink() error {
	edges := func(c cluster) (out []float64) {
		for b := range spreadBins {
			out = append(out, reachOut*c.radius*math.Exp2(float64(b+1-spreadBins)/spreadSteps))
		}
		return out
	}
	answers, _, err := f.askClusters(stepSampleSpread, reachOut, f.Mu(sampleSpreadShare), func(c cluster) query.Sum {
		return query.Counts{Frame: f.ball(c), Edges: [][]float64{edges(c)}}
	})
	if err != nil {
		return err
	}
	for j := range f.clusters {
		c := &f.clusters[j]
		edges := edges(*c)
		low := math.Max(spreadSDs*answers[j].Sigma, spreadPart*float64(f.blocks))
		last := len(edges) - 1
		for last > 0 && answers[j].Values[last] <= low {
			last--
		}
		if last == 0 { // nothing stands out: the ball stays
			continue
		}
		c.radius = math.Min(c.radius, edges[last])
	}
	return nil
}

// findScales finds ln sigma of every component: the window of bins that holds most of a cluster's.
// False: some cluster has none.
func (f *sampling) findScales() (bool, error) {
	top := math.Log(f.radius)
	var edges []float64
	for b := range scaleBins {
		edges = append(edges, scaleStep*float64(b+1))
	}
	q := query.Counts{Frame: query.Affine{Columns: []int{f.dim()}, Center: []float64{top}, W: [][]float64{{1}}}, Edges: [][]float64{edges}}
	answers, _, err := f.askClusters(stepSampleScale, reachOut, f.Mu(sampleScaleShare), func(cluster) query.Sum { return q })
	if err != nil {
		return false, err
	}
	seen := true
	for j := range f.clusters {
		counts := answers[j].Values[:scaleBins]
		best, most := 0, math.Inf(-1)
		for b := 0; b+scaleWindow <= scaleBins; b++ {
			sum := 0.0
			for _, v := range counts[b : b+scaleWindow] {
				sum += v
			}
			if sum > most {
				best, most = b, sum
			}
		}
		total, at := 0.0, 0.0
		for b := best; b < best+scaleWindow; b++ {
			v := math.Max(1, counts[b])
			total, at = total+v, at+v*scaleStep*(float64(b)+.5)
		}
		f.clusters[j].lnSigma = top - at/total
		seen = seen && most >= scalePart*float64(f.blocks)
	}
	return seen, nil
}

// weigh counts the rows that are likeliest in each component: one histogram.
//
// Source: [KSSU19] Section B.10 of the restatement.
func (f *sampling) weigh() error {
	var p rings.Parts
	d := f.dim()
	far := outlierSDs * math.Sqrt(math.Max(1, float64(d)/4))
	for _, c := range f.clusters {
		w := mat.NewDense(d, d, nil)
		for i := range d {
			w.Set(i, i, math.Exp(-c.lnSigma))
		}
		p.Partition.Components = append(p.Partition.Components,
			query.Component{Frame: f.space.Frame(c.mean, w), LogWeight: -float64(d) * c.lnSigma, Radius: far})
		p.Queries = append(p.Queries, query.Count{})
	}
	ans, err := f.weights.Sum(stepSampleWeight, p, f.weights.LeftMu())
	if err != nil {
		return err
	}
	total := 0.0
	for j, v := range ans.Values {
		f.clusters[j].weight = math.Max(v, ans.Sigma)
		total += f.clusters[j].weight
	}
	for j := range f.clusters {
		f.clusters[j].weight /= total
	}
	return nil
}

// last measures means and scales with all that is left.
func (f *sampling) last() error {
	f.pooled.Return(f.weights)
	radius := math.Hypot(1, 1/scaleShrink)
	d := f.dim()
	answers, p, err := f.askClusters(stepSampleLast, reachOut, f.pooled.LeftMu(), func(c cluster) query.Sum {
		frame := f.ball(c)
		for i := range frame.W {
			frame.W[i][i] = 1 / c.radius
			frame.W[i] = append(frame.W[i], 0)
		}
		frame.Columns, frame.Center = append(frame.Columns, d), append(frame.Center, c.lnSigma)
		frame.W = append(frame.W, make([]float64, d+1))
		frame.W[d][d] = 1 / (scaleShrink * scaleReach)
		return query.ClippedMoments{Form: query.SphericalForm, Components: []query.Component{{Frame: frame, Radius: radius}}}
	})
	if err != nil {
		return err
	}
	for j := range f.clusters {
		c := &f.clusters[j]
		s := moments.Unpack(p.Queries[j].(query.ClippedMoments), answers[j])[0]
		c.count = s.Count
		n := math.Max(s.Count, clusterPart*float64(f.blocks))
		sum := make([]float64, d)
		for i := range sum {
			sum[i] = s.Sum[i] * c.radius
		}
		move(c.mean, sum, n, c.radius)
		c.lnSigma += scaleShrink * scaleReach * math.Max(-1, math.Min(1, s.Sum[d]/n))
		// E ln s = ln sigma - 1/(2 nu), about, for the sd s of nu degrees of freedom.
		if nu := float64(d) * (f.Rows/float64(f.blocks)*c.weight - 1); nu > 1 {
			c.lnSigma += 1 / (2 * nu)
		}
		c.noise = s.SumSD / n
	}
	return nil
}

// outcome is the model, heaviest component first.
func (f *sampling) outcome() (estimate.Outcome, error) {
	sort.SliceStable(f.clusters, func(i, j int) bool { return f.clusters[i].weight > f.clusters[j].weight })
	draft := program.NewDraft(f.Problem.Columns, f.Notes)
	if f.Problem.Covariance != estimate.Spherical {
		draft.Notes.Flag(flags.New(flags.OtherShape, "sample-and-aggregate learns spherical components only: covariances have one variance for all columns, in their units"))
	}
	for _, c := range f.clusters {
		g := gaussians.Gaussian{Mean: c.mean, Cov: mat.NewSymDense(f.dim(), nil)}
		for i := range f.dim() {
			g.Cov.SetSym(i, i, math.Exp(2*c.lnSigma))
		}
		note := estimate.ComponentNote{EffectiveRows: c.weight * math.Max(0, f.Rows), EffectiveNoise: 2 * c.noise * scaleShrink * scaleReach}
		if c.count < .8*float64(f.blocks) {
			note.Flags = append(note.Flags, flags.New(flags.SurplusComponent, "found in about %.0f of %d blocks", c.count, f.blocks))
		}
		mean, cov, err := f.Raw(f.space, g, f.Problem.Covariance)
		draft.Add(c.weight, mean, cov, err, note)
	}
	return draft.Outcome(), nil
}
