package aal21

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/hypotheses"
	"github.com/gauze-dp/gauze/literal/printed"
)

// What a component of weight 1 puts at least into the octave of its scale and into the bin of its
// mean: min P(u/2 < |Z| < u) over 1 <= u <= 2, and P(0 < Z < 1).
const (
	scaleMass = .27
	meanMass  = .34
)

// thresholdLogs is about what ln(1+(e^eps-1)/(2 delta)) is in the support of truncated Laplace
// noise, for the small part of delta that thresholds get, and thresholdSDs what a threshold is in
// standard deviations of Gaussian noise. usualScales is about how many octaves a component is
// listed with. For expectations only.
const (
	thresholdLogs = 20
	thresholdSDs  = 8
	usualScales   = 4
)

// rows is about how many rows the three steps want.
type rows struct{ scales, means, choice float64 }

// wanted is how many rows the analysis asks for to list components of weight w: an octave beyond
// seenSDs of noise; a count beyond twice the threshold, of one histogram for every axis; and a
// choice among the given number of mixtures to three times the best + alpha.
//
// Source: [AAL21] Theorem 3.2; Lemma 3.1; Lemma 4.2.
// Differs: constants are explicit, those of Gaussian noise and of the noise that a Gaussian-DP
// budget buys.
func (c Constants) wanted(p estimate.Problem, w float64, axes int, mixtures, alpha float64) (n rows) {
	_, scales, means, select1 := c.shares(p)
	mu2 := p.Mu * p.Mu
	if scales > 0 {
		n.scales = seenSDs * math.Sqrt(2*float64(p.Columns)/(scales*mu2)) / (scaleMass * w * w * pairsPerRow(p.Relation))
	}
	l1 := float64(axes)
	if p.Relation == privacy.ReplaceOne {
		l1 *= 2
	}
	threshold := math.Sqrt(l1/(means*mu2)) * thresholdSDs
	if c.TruncatedLaplace {
		threshold = l1 / printed.Pure(means*mu2) * thresholdLogs
	}
	n.means = 2 * threshold / (meanMass * w)
	n.choice = hypotheses.Rows(alpha, c.FailureProb/2, printed.Choice(select1*mu2), mixtures)
	return n
}

func (n rows) most() float64 { return math.Max(n.scales, math.Max(n.means, n.choice)) }

// seen is about how many rows a list needs to hold a component of an equal share of them: half of
// what is wanted, with the least of scales, and twice the noise of the choice.
func (c Constants) seen(p estimate.Problem) float64 {
	if !(p.Mu > 0) {
		return 0
	}
	n := c.wanted(p, 1/float64(program.MostComponents(p)), p.Columns, 1, 1)
	_, _, _, share := c.shares(p)
	n.choice = 4 * math.Log(float64(c.MostMixtures)) / printed.Choice(share*p.Mu*p.Mu)
	n.means /= 2
	return n.most()
}

// alpha is the error that expectations are about: the target, or the accuracy at which a choice is
// worth having.
func (c Constants) alpha() float64 {
	if c.TargetError > 0 {
		return c.TargetError
	}
	return .25
}

// expected is what the analysis asks for, with the usual number of scales. mixtures is how many
// there are: of a list as long as the scales and a few bins each make it, if alpha is fixed, else
// as many as are allowed.
func (c Constants) expected(p estimate.Problem) (n rows, mixtures float64) {
	k, axes := program.MostComponents(p), p.Columns
	known := p.KnownCovariance != nil
	if !known {
		axes *= usualScales
	}
	mixtures = float64(c.MostMixtures)
	if c.TargetError > 0 {
		r := c.rungs(k, p.Columns, known)[0]
		list := c.lattice(r.step, known).size(make([]rough, 2*k*axes/p.Columns))
		mixtures = math.Exp(float64(k*p.Columns)*math.Log(list) + float64(k-1)*math.Log(float64(r.grains)))
	}
	return c.wanted(p, c.leastWeight(k), axes, mixtures, c.alpha()), mixtures
}

// Expect is what the analysis asks for with its constants. The error never falls to twice the
// non-private one: a net has an end.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	if !(p.Mu > 0) || p.Columns < 1 || e.refuse(p) != nil {
		return estimate.Expectation{}
	}
	n, mixtures := e.c.expected(p)
	return estimate.Expectation{RowsNeeded: n.most(), Notes: []string{
		fmt.Sprintf("a literal algorithm, to compare with: %s enumerates nothing, and takes any number of components", e.practical()),
		fmt.Sprintf("its analysis asks for about %.2g rows to list components of weight %.2g and more, and for %.2g to choose among %.2g mixtures to total "+
			"variation %g beyond three times the best; below %.2g rows it shows nothing",
			math.Max(n.scales, n.means), e.c.leastWeight(program.MostComponents(p)), n.choice, mixtures, e.c.alpha(), e.c.seen(p)),
		fmt.Sprintf("it can choose among %d mixtures: the error does not fall below what a net of so many can show", e.c.MostMixtures)}}
}

// advice says what would help.
func (e Estimator) advice(p estimate.Problem) string {
	help := "a larger epsilon, fewer components or fewer columns"
	if p.Mu > 0 {
		n, _ := e.c.expected(p)
		help = fmt.Sprintf("about %.2g rows are enough for the lists, and %.2g for the choice; or ", math.Max(n.scales, n.means), n.choice) + help
	}
	return help + "; or " + e.practical() + ", which does not enumerate"
}
