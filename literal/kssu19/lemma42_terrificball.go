package kssu19

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/choice"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/rings"
	"github.com/gauze-dp/gauze/kernel/query/scores"
	"github.com/gauze-dp/gauze/literal/printed"
)

// The steps of TerrificBall besides GoodCenter's, and the parts of its mu^2.
const (
	stepTerrific  = "terrific radius"
	stepSecluded  = "secluded"
	terrificShare = .5
	centerShare   = .25
)

func terrificSteps(prefix string, share float64, most int, slack float64) []kernel.Step {
	const source = "KSSU19 Section B.4"
	steps := []kernel.Step{{Name: prefix + stepTerrific, Query: scores.SelectionOf(scores.TerrificRadius{}.Kind()), Share: share * terrificShare,
		Most: most, Source: source}}
	steps = append(steps, goodCenterSteps(prefix, share*centerShare, most, slack/2)...)
	return append(steps, kernel.Step{Name: prefix + stepSecluded, Query: rings.PartsOf(query.DistanceCounts),
		Share: share * (1 - terrificShare - centerShare), Most: most, Source: source})
}

// terrificGamma is Gamma of TerrificRadius for a ball of t rows of the subset, and the fewest rows
// that it can be asked for: with fewer, noise alone would be taken for a ball, or hide one.
func (r *run) terrificGamma(parts, options int, t, mu2 float64) (gamma, need float64) {
	sensitivity := 3.0
	if r.relation == privacy.AddRemoveOne {
		sensitivity = 2
	} else if r.twice(parts) > 1 {
		sensitivity = 4
	}
	scale := 4 * sensitivity * r.group / printed.Pure(mu2*terrificShare)
	if r.c.TerrificSlack == 0 {
		gamma = 2 * scale * math.Log(2*float64(options)/r.c.FailureProb)
		return gamma, 2 * gamma
	}
	gamma = r.c.TerrificSlack * t
	return gamma, scale * math.Max(hidden/r.c.TerrificSlack, math.Log(float64(options)/r.c.FailureProb)/(1-r.c.TerrificSlack))
}

// hidden is by how many scales of noise a ball, or a box, may miss its threshold. A utility
// constant.
const hidden = 2.0

// terrificRadius finds, for every part, a radius at which some ball around a row of it is terrific:
// t - Gamma rows inside, as many beyond c times the radius, and at most Gamma between. It is the
// largest or the smallest of the grid below top, up to noise; NaN if there is none, or t is too
// small for the noise.
//
// Source: [KSSU19] Section 4.1; Section B.4 of the restatement.
// Differs: on a secret random subset of the rows; Gamma is a part of t; c is Constants.Sought.
func (r *run) terrificRadius(prefix string, parts []part, tops []float64, largest bool, mu2 float64) ([]float64, error) {
	radii := make([]float64, len(parts))
	grids := make([][]float64, len(parts))
	need := 0.0
	for i, p := range parts {
		radii[i] = math.NaN()
		grids[i] = r.c.radiiBelow(tops[i], p.dim())
		if largest {
			slices.Reverse(grids[i])
		}
		_, n := r.terrificGamma(len(parts), len(grids[i]), 1, mu2)
		need = math.Max(need, n)
	}
	sub := r.subset(parts, need)
	var live []int
	q := scores.Selection{Keep: sub.keep}
	var thresholds []int64
	for i, p := range parts {
		t := sub.of(p.t)
		gamma, _ := r.terrificGamma(len(parts), len(grids[i]), float64(t), mu2)
		if t < 1 || float64(t) < need {
			continue
		}
		live = append(live, i)
		q.Scores = append(q.Scores, scores.TerrificRadius{Frame: p.frame, Radii: grids[i], C: r.c.Sought, T: t})
		thresholds = append(thresholds, int64(t)*int64(math.Ceil(float64(t)-gamma)))
	}
	if live == nil {
		return radii, nil
	}
	q.Partition = partition(chosen(parts, live))
	at, err := choice.AboveThreshold(r.a, prefix+stepTerrific, q, thresholds, printed.Pure(mu2*terrificShare))
	if err != nil {
		return nil, err
	}
	for j, i := range live {
		if at[j] >= 0 {
			radii[i] = grids[i][at[j]]
		}
	}
	return radii, nil
}

// A secluded is a terrific ball, with the released numbers of rows in it and beyond c times its
// radius.
type secluded struct {
	ball
	in, out float64
}

// terrificBall finds, for every part, a ball that holds about t of its rows, leaves out as many
// beyond c times its radius, and has few between; nil is bottom. tops bounds the radii.
//
// Source: [KSSU19] Lemma 4.2; Section B.4 of the restatement.
// Differs: the parts of mu^2 are utility constants.
func (r *run) terrificBall(prefix string, parts []part, tops []float64, largest bool, mu2 float64) ([]*secluded, error) {
	found := make([]*secluded, len(parts))
	if len(parts) == 0 {
		return found, nil
	}
	radii, err := r.terrificRadius(prefix, parts, tops, largest, mu2)
	if err != nil {
		return nil, err
	}
	balls, err := r.goodCenter(prefix, parts, radii, mu2*centerShare)
	if err != nil {
		return nil, err
	}
	var live []int
	q := rings.Parts{}
	for i, b := range balls {
		if b == nil {
			continue
		}
		b.radius *= 1 + r.c.Secluded/10
		if !usable(b.frame, r.c.Secluded*b.radius) {
			continue
		}
		live = append(live, i)
		q.Queries = append(q.Queries, query.Counts{Frame: b.frame, Edges: [][]float64{{b.radius, r.c.Secluded * b.radius}}})
	}
	if live == nil {
		return found, nil
	}
	q.Partition = partition(chosen(parts, live))
	left := mu2 * (1 - terrificShare - centerShare)
	ans, err := choice.Laplace(r.a, prefix+stepSecluded, q, printed.Pure(left))
	if err != nil {
		return nil, err
	}
	for j, i := range live {
		in, between, out := ans.Values[3*j], ans.Values[3*j+1], ans.Values[3*j+2]
		t, slack := parts[i].t, r.secludedSlack(parts, i, tops[i], mu2)
		if in >= t-slack && out >= t-slack && between <= slack && math.Min(in, out) > seen*ans.Sigma {
			found[i] = &secluded{ball: *balls[i], in: in, out: out}
		}
	}
	return found, nil
}

// secludedSlack is 2 Gamma of the three counts.
func (r *run) secludedSlack(parts []part, i int, top, mu2 float64) float64 {
	if r.c.SecludedSlack > 0 {
		return r.c.SecludedSlack * parts[i].t
	}
	gamma, _ := r.terrificGamma(len(parts), len(r.c.radiiBelow(top, parts[i].dim())), parts[i].t, mu2)
	return 2 * gamma
}
