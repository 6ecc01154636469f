package kssu19

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/literal/paper"
)

// The steps of GoodRadius, and the part of its mu^2 that the test for duplicates costs.
const (
	stepDuplicates  = "duplicates"
	stepRadius      = "radius"
	duplicatesShare = .25
)

func goodRadiusSteps(prefix string, share float64, most int) []kernel.Step {
	const source = "KSSU19 Section B.1"
	return []kernel.Step{
		{Name: prefix + stepDuplicates, Query: papers.SelectionOf(papers.BallCounts{}.Kind()), Share: share * duplicatesShare, Most: most, Source: source},
		{Name: prefix + stepRadius, Query: papers.SelectionOf(papers.GoodRadius{}.Kind()), Share: share * (1 - duplicatesShare), Most: most, Source: source},
	}
}

// radiusGamma returns Gamma of GoodRadius at the given cost, in rows of the subset, and the fewest
// rows there that a ball may be asked to hold.
func (r *run) radiusGamma(parts, l int, mu2 float64) (gamma, need float64) {
	options := float64(len(r.c.radii(l)))
	gamma = r.c.RadiusSlack * r.group * r.twice(parts) / paper.SelectionEpsilon(mu2*(1-duplicatesShare)) * math.Log(options/r.c.FailureProb)
	return gamma, 8 * gamma
}

// slackRows returns 4 Gamma, and at least a row: without any, every radius from the right one on
// has the same score.
func slackRows(gamma float64) int { return max(1, int(math.Round(4*gamma))) }

// goodRadius finds, for every part, a radius r such that some ball of radius r around a row of it
// holds about t of its rows, and no ball of radius r/2 does: at most four times the smallest
// radius, up to the grid. It is 0 < r; the least of the grid if t rows are equal. NaN: bottom, as t
// is too small for the noise; decided by public and released numbers alone.
//
// Privacy: a test and an exponential mechanism, together the mu^2 given.
//
// Source: [KSSU19] Section B.1 of the restatement.
// Differs: exponential mechanism over the grid in place of RecConcave; on a secret random subset of
// the rows.
func (r *run) goodRadius(prefix string, parts []part, mu2 float64) ([]float64, error) {
	radii := make([]float64, len(parts))
	for i := range radii {
		radii[i] = math.NaN()
	}
	if len(parts) == 0 {
		return radii, nil
	}
	grid := r.c.radii(parts[0].dim())
	gamma, need := r.radiusGamma(len(parts), parts[0].dim(), mu2)
	sub := r.subset(parts, need)
	var live []int
	for i, p := range parts {
		if t := sub.of(p.t); t >= 1 && float64(t) >= need {
			live = append(live, i)
		}
	}
	if live == nil {
		return radii, nil
	}
	// Steps 1 to 3: are there t duplicates?
	q := papers.Selection{Partition: partition(chosen(parts, live)), Keep: sub.keep}
	var thresholds []int64
	for _, i := range live {
		t := sub.of(parts[i].t)
		q.Scores = append(q.Scores, papers.BallCounts{Map: parts[i].frame, Radii: grid[:1], T: t})
		thresholds = append(thresholds, int64(t)*int64(math.Ceil(float64(t)-gamma)))
	}
	same, err := pure.AboveThreshold(r.a, prefix+stepDuplicates, q, thresholds, paper.PureEpsilon(mu2*duplicatesShare))
	if err != nil {
		return nil, err
	}
	// Step 4: the radius, by the exponential mechanism.
	var spread []int
	q.Scores = nil
	for j, i := range live {
		if same[j] >= 0 {
			radii[i] = grid[0]
			continue
		}
		spread = append(spread, i)
		q.Scores = append(q.Scores, papers.GoodRadius{Map: parts[i].frame, Radii: grid, T: sub.of(parts[i].t), Slack: slackRows(gamma)})
	}
	if spread == nil {
		return radii, nil
	}
	q.Partition = partition(chosen(parts, spread))
	at, err := pure.Select(r.a, prefix+stepRadius, q, paper.SelectionEpsilon(mu2*(1-duplicatesShare)))
	if err != nil {
		return nil, err
	}
	for j, i := range spread {
		radii[i] = grid[at[j]]
	}
	return radii, nil
}
