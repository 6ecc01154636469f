package kssu19

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/parts"
)

// The steps of PSGE, half of its mu^2 each.
const (
	stepSphere = "mean and count"
	stepSpread = "variance"
)

func psgeSteps(prefix string, share float64) []kernel.Step {
	const source = "KSSU19 Section B.6"
	return []kernel.Step{
		{Name: prefix + stepSphere, Query: query.PartsOf(query.ClippedMoments{}.Kind()), Share: share / 2, Most: 1, Source: source},
		{Name: prefix + stepSpread, Query: query.PartsOf(papers.PairSpread{}.Kind()), Share: share, Most: 1, Source: source},
	}
}

// mostClipped of the squared radius, on average: a ball that rows are clipped to is not around
// them. A utility constant.
const mostClipped = .8

// A sphere is what PSGE finds in a part.
type sphere struct {
	mean     []float64 // in the columns' units
	variance float64
	rows     float64 // released
	noise    float64 // relative noise of the variance
}

// psge estimates one spherical Gaussian in every part, rows clipped to the part's ball; nil where
// too few rows are seen, or most lie outside the ball. Parts are measured in parallel. It uses up
// the sub-budget, mu2 of which is left.
//
// Source: [KSSU19] Theorem 3.3; Section B.6 of the restatement.
// Differs: count and sum are one release, and so are the pairs' number and spread, which is clipped
// at r^2 where the source has 2r^2: half the squared distance of two rows is about l sigma^2.
func (r *run) psge(prefix string, of []part, balls []*ball, mu2 float64) ([]*sphere, error) {
	found := make([]*sphere, len(of))
	if len(of) == 0 {
		return found, nil
	}
	// Steps 1 and 2: counts and means.
	q := query.Parts{Partition: partition(of)}
	for _, b := range balls {
		q.Queries = append(q.Queries, spherical(b.frame, b.radius))
	}
	sums, err := r.sphericalSums(prefix+stepSphere, q, parts.Mu(mu2/2))
	if err != nil {
		return nil, err
	}
	var live []int
	asked := query.Pairs{}
	for i, m := range sums {
		clipped := m.Trace > mostClipped*balls[i].radius*balls[i].radius*m.Count
		if m.Count > seen*m.CountSD && m.Count >= 2 && !clipped {
			live = append(live, i)
			asked.Queries = append(asked.Queries, papers.PairSpread{Map: balls[i].frame, Bound: balls[i].radius * balls[i].radius})
			asked.Buckets = append(asked.Buckets, buckets(m.Count))
		}
	}
	if live == nil {
		return found, nil
	}
	// Steps 3 and 4: the number of pairs, and their spread.
	asked.Partition = partition(chosen(of, live))
	ans, err := kernel.SumPairs(r.a, prefix+stepSpread, asked, r.a.LeftMu())
	if err != nil {
		return nil, err
	}
	answers, sigmas := asked.Split(ans.Values, ans.Sigma)
	for j, i := range live {
		spread := asked.Queries[j].(papers.PairSpread)
		sum, number := spread.Read(answers[j])
		sd := sigmas[j]
		l := float64(balls[i].frame.Out())
		if !(number > seen*2*sd/spread.Bound) || !(sum > 0) {
			continue
		}
		found[i] = &sphere{
			mean:     shifted(balls[i].frame, meanWithin(sums[i], balls[i].radius)).Center,
			variance: sum / (l * number), rows: sums[i].Count, noise: 2 * sd / sum,
		}
	}
	return found, nil
}

// buckets returns into how many buckets the rows of a part are put to be paired, for a released
// number of rows.
func buckets(rows float64) int {
	return int(math.Max(1, math.Min(1<<26, rows/2)))
}
