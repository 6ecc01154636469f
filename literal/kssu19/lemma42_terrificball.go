package kssu19

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/literal/paper"
)

// The steps of TerrificBall besides GoodCenter's, and the parts of its mu^2.
const (
	stepTerrific  = "terrific radius"
	stepSecluded  = "secluded"
	terrificShare = .5
	centerShare   = .25
	secludedShare = 1 - terrificShare - centerShare
)

func terrificSteps(prefix string, share float64, most int, slack float64) []kernel.Step {
	const source = "KSSU19 Section B.4"
	steps := []kernel.Step{{Name: prefix + stepTerrific, Query: papers.SelectionOf(papers.TerrificRadius{}.Kind()), Share: share * terrificShare,
		Most: most, Source: source}}
	steps = append(steps, goodCenterSteps(prefix, share*centerShare, most, slack/2)...)
	return append(steps, kernel.Step{Name: prefix + stepSecluded, Query: papers.SelectionOf(papers.TerrificCenters{}.Kind()),
		Share: share * secludedShare, Most: most, Source: source})
}

// terrificGamma returns Gamma of TerrificRadius for a ball of t rows of the subset, and the fewest
// rows that it can be asked for: with fewer, noise alone would be taken for a ball, or hide one.
func (r *run) terrificGamma(parts, options int, t, mu2 float64) (gamma, need float64) {
	sensitivity := 3.0
	if r.relation == privacy.AddRemoveOne {
		sensitivity = 2
	} else if r.twice(parts) > 1 {
		sensitivity = 4
	}
	scale := 4 * sensitivity * r.group / paper.PureEpsilon(mu2*terrificShare)
	if r.c.TerrificSlack == 0 {
		gamma = 2 * scale * math.Log(2*float64(options)/r.c.FailureProb)
		return gamma, 4 * gamma // t - 2 Gamma, the threshold of the three conditions, is half of t then
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
	q := papers.Selection{Keep: sub.keep}
	var thresholds []int64
	for i, p := range parts {
		t := sub.of(p.t)
		gamma, _ := r.terrificGamma(len(parts), len(grids[i]), float64(t), mu2)
		if t < 1 || float64(t) < need {
			continue
		}
		live = append(live, i)
		q.Scores = append(q.Scores, papers.TerrificRadius{Map: p.frame, Radii: grids[i], C: r.c.Sought, T: t})
		thresholds = append(thresholds, int64(t)*int64(math.Ceil(float64(t)-gamma)))
	}
	if live == nil {
		return radii, nil
	}
	q.Partition = partition(chosen(parts, live))
	at, err := pure.AboveThreshold(r.a, prefix+stepTerrific, q, thresholds, paper.PureEpsilon(mu2*terrificShare))
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

// terrificBall finds, for every part, a ball that holds about t of its rows, leaves out as many
// beyond c times its radius, and has few between; nil is bottom. tops bounds the radii.
//
// The candidates of GoodCenter are tried one after another, the fullest box first, and the first
// for which all three conditions hold is taken, by one AboveThreshold whatever their number.
//
// Source: [KSSU19] Lemma 4.2; Section B.4 of the restatement.
// Differs: the parts of mu^2 are utility constants; the list of candidates is that of the fullest
// boxes, at most Constants.Candidates.
func (r *run) terrificBall(prefix string, parts []part, tops []float64, largest bool, mu2 float64) ([]*ball, error) {
	found := make([]*ball, len(parts))
	if len(parts) == 0 {
		return found, nil
	}
	// TerrificRadius, then the centres of GoodCenter.
	radii, err := r.terrificRadius(prefix, parts, tops, largest, mu2)
	if err != nil {
		return nil, err
	}
	all, err := r.centers(prefix, parts, radii, r.c.Candidates, mu2*centerShare)
	if err != nil {
		return nil, err
	}
	// The three conditions at the larger radius, by one noisy threshold.
	var live []int
	var q papers.Selection
	var thresholds []int64
	for i, p := range parts {
		all[i] = slices.DeleteFunc(all[i], func(b *ball) bool {
			b.radius *= 1 + r.c.Secluded/10
			return !usable(b.frame, r.c.Secluded*b.radius) || !dense.AllFinite(p.place(b))
		})
		slack := r.secludedSlack(parts, i, tops[i], mu2)
		if t := math.Floor(math.Min(p.t, 1<<29)); len(all[i]) > 0 && t-slack >= 1 {
			live, thresholds = append(live, i), append(thresholds, int64(math.Ceil(t-slack)))
			q.Scores = append(q.Scores, r.conditions(p, all[i], int(t)))
		}
	}
	if live == nil {
		return found, nil
	}
	q.Partition = partition(chosen(parts, live))
	at, err := pure.AboveThreshold(r.a, prefix+stepSecluded, q, thresholds, paper.PureEpsilon(mu2*secludedShare))
	if err != nil {
		return nil, err
	}
	for j, i := range live {
		if at[j] >= 0 {
			found[i] = all[i][at[j]]
		}
	}
	return found, nil
}

// conditions scores balls of one radius by the three conditions of Definition 4.1.
func (r *run) conditions(p part, balls []*ball, t int) papers.TerrificCenters {
	s := papers.TerrificCenters{Map: p.frame, Radius: balls[0].radius, C: r.c.Secluded, T: t}
	for _, b := range balls {
		s.Centers = append(s.Centers, p.place(b))
	}
	return s
}

// place returns where the centre of a ball is in the part's coordinates.
func (p part) place(b *ball) []float64 {
	z := make([]float64, p.dim())
	for k, w := range p.frame.W {
		for j, v := range w {
			z[k] += v * (b.frame.Center[j] - p.frame.Center[j])
		}
	}
	return z
}

// secludedSlack returns 2 Gamma of the three conditions.
func (r *run) secludedSlack(parts []part, i int, top, mu2 float64) float64 {
	if r.c.SecludedSlack > 0 {
		return r.c.SecludedSlack * parts[i].t
	}
	gamma, _ := r.terrificGamma(len(parts), len(r.c.radiiBelow(top, parts[i].dim())), parts[i].t, mu2)
	return 2 * gamma
}

// enoughForSeclusion reports that noise neither hides a terrific ball of t rows nor makes one.
func (r *run) enoughForSeclusion(parts int, t, mu2 float64) bool {
	if r.c.SecludedSlack == 0 {
		return true // TerrificRadius, with as large a slack and more noise, asks for more
	}
	scale := 4 * r.group * r.twice(parts) / paper.PureEpsilon(mu2*secludedShare)
	return r.c.SecludedSlack*t >= hidden*scale && (1-r.c.SecludedSlack)*t >= scale*math.Log(float64(r.c.Candidates)/r.c.FailureProb)
}

// lemma42 returns the t that Lemma 4.2 asks for, of n rows in l dimensions, at the (epsilon, delta)
// that it gives TerrificRadius and GoodCenter each.
//
// Source: [KSSU19] Lemma 4.2.
// Differs: its n^a, a = .1, is read as a factor, as in Theorem 3.2, where the conference text
// prints it below a fraction's bar.
func (c Constants) lemma42(n float64, l int, epsilon, delta float64) float64 {
	const a = .1
	grid := math.Exp2(float64(c.Octaves)) // U/L
	if c.known() && c.Radius > 0 {
		grid = math.Max(math.E, 2*(c.Radius+c.SigmaMax*math.Sqrt(float64(l)))/(c.SigmaMin*math.Sqrt(float64(l))))
	}
	return c.SizeFactor * c.Secluded * c.Secluded * math.Pow(n, a) * math.Sqrt(float64(l)) / epsilon *
		math.Log(n*float64(l)/c.FailureProb) * math.Log(1/delta) * math.Max(1, math.Log(math.Log(grid)))
}
