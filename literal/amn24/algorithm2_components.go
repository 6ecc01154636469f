package amn24

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts"
)

const (
	stepComponent = "component"
	stepCloser    = "closer"
	stepRest      = "rest"
	// firstOfPair of the mu^2 for a pair buys its choice, if it is brought closer after that: a
	// utility constant.
	firstOfPair = .6
)

// A scorer is a score of pairs.
type scorer interface {
	// kind is that of the query by which a pair is first chosen.
	kind() string
	// choose is that choice among the pairs of the region, and eta what it takes at that epsilon;
	// ok is false if there are no pairs, or the test fails.
	choose(r *run, omega region, epsilon float64) (p pair, ok bool, err error)
	// rest is the score for the next pair if found components of k leave so many of n rows; ok is
	// false if it rates all rows whatever was found.
	rest(left, n float64, found, k int) (s scorer, ok bool)
	// levels is how often a found pair can be brought closer; near is the choice among its
	// neighbours, h standard deviations away.
	levels() int
	near(p pair, h float64) ([]pair, papers.Score)
	// left has one leaf, the rows by which the next pair is chosen.
	left(omega region) query.Partition
}

// crudeSteps returns the steps of crude approximation by a score.
func (c Constants) crudeSteps(k int, s scorer) []kernel.Step {
	const source = "AMN24 Algorithm 2"
	steps := []kernel.Step{{Name: stepComponent, Query: papers.SelectionOf(s.kind()), Share: c.CrudeShare, Most: k, Slack: 1, Source: source}}
	if _, ok := s.rest(1, 1, 0, 1); ok && k > 1 {
		steps = append(steps, kernel.Step{Name: stepRest, Query: query.PartsOf(query.Count{}.Kind()), Share: c.RestShare, Most: k - 1, Source: source})
	}
	if s.levels() > 0 {
		steps = append(steps, kernel.Step{Name: stepCloser, Query: papers.SelectionOf(papers.CellDeficits{}.Kind()), Share: c.CrudeShare, Most: k * s.levels(), Source: source})
	}
	return steps
}

// components runs the crude approximation: k times, or until it fails, the exponential mechanism on
// an unbounded domain, which tests first whether few pairs come close to being chosen, chooses a
// pair of low score, and what is vaguely close to it is removed from the region for the next. The
// pairs to choose among lie about h standard deviations apart.
//
// Failures: the first choice fails.
//
// Source: [AMN24] Algorithm 2; Theorem C.3.
// Differs: each of the k steps gets the same part of mu^2, which the session's filter adds up, in
// place of the epsilon/sqrt(k ln(1/delta)) of advanced composition (see advancedComposition); what
// is removed is within a factor of Removed, where the text has a power of n; with the tractable
// score rows near found pairs are left out too, unless hardly any are left, w is close to what the
// heaviest component that is left must have, and a found pair is moved, by half as much each time,
// before its surroundings are removed.
func (r *run) components(ctx context.Context, s scorer, h, mu2 float64) (found []pair, none *estimate.NoRelease, err error) {
	omega, rest := region{Factor: r.c.Removed}, r.c.RestShare*r.a.Session().Mu()*r.a.Session().Mu()
	for i := range r.k {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if fewer, ok := s.rest(r.n, r.n, i, r.k); ok && i > 0 {
			answers, err := parts.AskLeaves(r.a, stepRest, fewer.left(omega), []query.Count{{}}, parts.Mu(rest/float64(r.k-1)))
			if err != nil {
				return nil, nil, err
			}
			s, _ = s.rest(answers[0].Values[0], r.n, i, r.k)
		}
		p, ok, err := r.component(s, omega, h, mu2/float64(r.k))
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			break
		}
		found, omega = append(found, p), omega.without(p)
	}
	if found == nil {
		return nil, &estimate.NoRelease{Reason: fmt.Sprintf("the test failed: no Gaussian fits about %.0f rows so much better than most others "+
			"that it could be chosen in private", r.c.leastWeight(r.k)*r.n)}, nil
	}
	return found, nil, nil
}

// component runs one round; ok is false if it fails.
func (r *run) component(s scorer, omega region, h, mu2 float64) (p pair, ok bool, err error) {
	first := mu2
	if s.levels() > 0 {
		first *= firstOfPair
	}
	if p, ok, err = s.choose(r, omega, paper.PureEpsilon(first)); err != nil || !ok {
		return p, false, err
	}
	for range s.levels() {
		h /= 2
		pairs, score := s.near(p, h)
		epsilon := paper.SelectionEpsilon((mu2 - first) / float64(s.levels()))
		chosen, err := pure.Select(r.a, stepCloser, papers.Selection{Partition: s.left(omega), Scores: []papers.Score{score}}, epsilon)
		if err != nil {
			return p, false, err
		}
		p = pairs[chosen[0]]
	}
	return p, true, nil
}

// local chooses among listed pairs; spare is the score that the best of them may have because the
// net is coarse.
func (r *run) local(of query.Partition, pairs []pair, score papers.Score, unlisted int64, spare int, epsilon float64) (p pair, ok bool, err error) {
	if len(pairs) == 0 {
		return p, false, nil
	}
	local := pure.Local{Eta: r.c.eta(len(pairs), epsilon, r.logSlack(), spare), Unlisted: unlisted, Test: r.c.Test}
	i, ok, err := pure.SelectLocal(r.a, stepComponent, papers.Selection{Partition: of, Scores: []papers.Score{score}}, local, epsilon)
	if err != nil || !ok {
		return p, false, err
	}
	return pairs[i], true, nil
}

// Certainty of the test, in powers of e: a utility constant.
const certain = 4

// eta returns the least even eta with which the test of Theorem C.3 passes, but in e^-4/2 of all
// cases, whatever is chosen among so many pairs, if the best of them scores at most eta/2-t, and at
// least spare. e0 and e1 are as in pure.SelectLocal, and e^-logSlack is d0 and d1.
//
// Source: [AMN24] Theorem C.3.
func (c Constants) eta(options int, epsilon, logSlack float64, spare int) int {
	e0, t := (1-c.Test)*epsilon/2, c.certainly(epsilon, logSlack)
	half := 2*t + 1 + math.Ceil((math.Log(float64(options))+logSlack)/e0)
	return 2 * int(math.Max(1, math.Min(math.Max(half, t+float64(spare)), 1<<19)))
}

// certainly returns the g with which the test passes but in e^-4/2 of all cases.
func (c Constants) certainly(epsilon, logSlack float64) float64 {
	e1 := c.Test * epsilon
	return math.Ceil((logSlack+math.Log(math.Tanh(e1/2))+certain)/e1) + 2
}

// tolerated returns the score up to which the best pair passes the test.
func (c Constants) tolerated(options int, epsilon, logSlack float64) float64 {
	return float64(c.eta(options, epsilon, logSlack, 0))/2 - c.certainly(epsilon, logSlack)
}

// logSlack returns -ln of what d0 and d1 are in a session, about: a function of the terms. It
// matters to utility only.
func (r *run) logSlack() float64 {
	s := r.a.Session()
	delta := s.Loss().Delta
	if !(delta > 0) {
		return nominalSlack(s.Mu())
	}
	epsilon := privacy.EpsilonOfMu(delta*(1-privacy.ThresholdShare), s.Mu())
	return -privacy.LogSlackOf(epsilon, delta*privacy.ThresholdShare/float64(2*r.k))
}

// nominalSlack stands for it where delta is not known, as before a session: that of delta 1e-6.
func nominalSlack(mu float64) float64 { return slackOf(mu, nominalDelta) }

// slackOf returns it for a delta.
func slackOf(mu, delta float64) float64 {
	return -privacy.LogSlackOf(privacy.EpsilonOfMu(delta, mu), privacy.ThresholdShare*delta/4)
}

const nominalDelta = 1e-6
