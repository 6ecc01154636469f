package aal21

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/privacy"

	"github.com/gauze-dp/gauze/literal/paper"
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

// l1 returns the L1 sensitivity of so many histograms.
func l1(p estimate.Problem, axes int) float64 {
	if p.Relation == privacy.ReplaceOne {
		return 2 * float64(axes)
	}
	return float64(axes)
}

// scaleRows returns about how many rows put an octave of a component of weight w beyond seenSDs of
// noise.
//
// Source: [AAL21] Theorem 3.2; Algorithm 3.
// Differs: constants are explicit, those of Gaussian noise.
func scaleRows(p estimate.Problem, w, mu2 float64) float64 {
	return seenSDs * math.Sqrt(2*float64(p.Columns)/mu2) / (scaleMass * w * w * pairsPerRow(p.Relation))
}

// meanRows returns about how many rows put a bin of a component of weight w beyond twice the
// threshold of a histogram for every axis.
//
// Source: [AAL21] Theorem 3.2; Lemma 4.2; Lemma 4.1.
// Differs: constants are explicit, those of the noise that a Gaussian-DP budget buys.
func (c Constants) meanRows(p estimate.Problem, axes int, w, mu2 float64) float64 {
	threshold := math.Sqrt(l1(p, axes)/mu2) * thresholdSDs
	if c.TruncatedLaplace {
		threshold = l1(p, axes) / paper.PureEpsilon(mu2) * thresholdLogs
	}
	return 2 * threshold / (meanMass * w)
}

// shortest returns about the shortest lists that columns have for k components of equal weight,
// which are apart in one column and may share a place in the others; all have one standard
// deviation in a column. Nothing is listed that is not in such a table, and gaps, other scales and
// noise list more.
func (c Constants) shortest(columns, k int, known bool) (lists [][]rough) {
	one, each := c.bins(k, 1, known), c.bins(k, k, known)
	var apart []rough
	for i := range k {
		for _, b := range each { // far from the others for every scale
			apart = append(apart, rough{b.scale, b.bin + float64(i<<20)})
		}
	}
	if len(apart) < len(one) {
		one = apart
	}
	lists = append(slices.Repeat([][]rough{one}, columns-1), apart)
	for _, list := range lists {
		slices.SortFunc(list, func(a, b rough) int { return cmp.Or(cmp.Compare(a.scale, b.scale), cmp.Compare(a.bin, b.bin)) })
	}
	return lists
}

// bins returns those that N(0, 1) puts into a column's list if it is one of so many in different
// places, of k components, scales being as likely as others between the powers of 2.
func (c Constants) bins(k, places int, known bool) (list []rough) {
	w, at := c.leastWeight(k), 1/float64(places)
	for octave := lowestSeen; octave <= 2; octave++ {
		scale := math.Exp2(float64(octave) + .5)
		pairs := math.Erf(scale/math.Sqrt2) - math.Erf(scale/2/math.Sqrt2)
		if known {
			scale, pairs = 1, 1
		}
		if at*pairs < c.ScalePart*w*w {
			continue
		}
		for bin := 0.; at*(normalCDF((bin+.5)*scale)-normalCDF((bin-.5)*scale)) >= c.MeanPart*w; bin++ {
			list = append(list, rough{scale, bin})
			if bin > 0 {
				list = append(list, rough{scale, -bin})
			}
		}
		if known {
			break
		}
	}
	return list
}

// lowestSeen is an octave below which no N(0, 1) is listed with any constants.
const lowestSeen = -40

func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// seen returns about how many rows a list needs to hold a component of an equal share of them, and
// twice the noise of the choice.
func (e Estimator) seen(p estimate.Problem) float64 {
	if !(total(p) > 0) {
		return 0
	}
	list, choice := e.c.shares(p)
	_, least := e.decoder(p).Rows(p, 1/float64(program.MostComponents(p)), list*total(p))
	return math.Max(least, 4*math.Log(float64(e.c.MostMixtures))/selection(p, choice*total(p)))
}

// alpha returns the error that expectations are about: the target, or the accuracy at which a
// choice is worth having.
func (c Constants) alpha() float64 {
	if c.TargetError > 0 {
		return c.TargetError
	}
	return .25
}

// expected returns what the analysis asks for to list components and to choose. mixtures is how
// many there are, of about the shortest lists there can be, if alpha is fixed, else as many as are
// allowed.
func (e Estimator) expected(p estimate.Problem) (lists, choice, mixtures float64) {
	k := program.MostComponents(p)
	list, share := e.c.shares(p)
	mixtures = float64(e.c.MostMixtures)
	if e.c.TargetError > 0 {
		l := e.decoder(p).Shortest(p)
		r := e.c.rungs(l, k)[0]
		mixtures = math.Exp(float64(k)*math.Log(l.Size(r.step)) + float64(k-1)*math.Log(float64(r.grains)))
	}
	lists, _ = e.decoder(p).Rows(p, e.c.leastWeight(k), list*total(p))
	return lists, paper.SelectionRows(e.c.alpha(), e.c.FailureProb/2, selection(p, share*total(p)), mixtures), mixtures
}

// Expect returns what the analysis asks for with its constants.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	if !(total(p) > 0) || p.Columns < 1 || e.refuse(p) != nil {
		return estimate.Expectation{}
	}
	lists, choice, mixtures := e.expected(p)
	cover, _ := e.c.cover(e.decoder(p).Shortest(p), program.MostComponents(p))
	size := int(cover.size)
	count := paper.CountMixtures(size, program.MostComponents(p), cover.grains)
	return estimate.Expectation{RowsNeeded: math.Max(lists, choice), Notes: []string{
		fmt.Sprintf("a literal algorithm, to compare with: %s enumerates nothing, and takes any number of components", e.practical()),
		fmt.Sprintf("its analysis asks for about %s rows to list components of weight %.2g and more, and for %s to choose among %.2g mixtures to total "+
			"variation %g beyond three times the best; below %s rows it shows nothing",
			paper.RowsText(lists), e.c.leastWeight(program.MostComponents(p)), paper.RowsText(choice), mixtures, e.c.alpha(), paper.RowsText(e.seen(p))),
		fmt.Sprintf("lists of about %d Gaussians or more: %.2g mixtures, which a choice compares on %v; all pairs of them would be %v; a tournament (--constants tournament) takes %.2g comparisons where it can be enumerated, for 1024 mixtures or fewer",
			size, count, paper.CostOf(e.c.Selection, size, count), paper.CostOf(paper.AllPairs, size, count), paper.CostOf(paper.Tournament, size, count).Compared)}}
}

// advice says what would help.
func (e Estimator) advice(p estimate.Problem) string {
	help := "a larger epsilon, fewer components or fewer columns"
	if total(p) > 0 && e.impure(p) == "" {
		lists, choice, _ := e.expected(p)
		help = fmt.Sprintf("about %s rows are enough for the lists, and %s for the choice; or ", paper.RowsText(lists), paper.RowsText(choice)) + help
	}
	return help + "; or " + e.practical() + ", which does not enumerate"
}
