package pure

import (
	"errors"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/internal/agree"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// PopularKind is the name of ReleasePopular in plans and certificates.
const PopularKind = "of blocks: popular estimate"

// LawPopular is the law of the test, as Measurement.Law names it. Instead of a mu it has
// privacy.PureCurve(S/b): discrete Laplace of scale b on a count of sensitivity S, cut at a public
// bound.
const LawPopular = "popularity test"

// A Closeness is the Extra that a plan's step needs for ReleasePopular: the cost of the mask (the
// zero Parameters where it is a Gaussian, which mu counts), the delta that the test adds as it
// stands, and its epsilon, which is counted in the plan's Rényi curve.
type Closeness struct {
	Mask  privacy.ParameterMask
	Delta float64 // in (0, 1)
	Pure  float64
}

// Validate returns an error if the numbers make no sense.
func (e Closeness) Validate() (err error) {
	if !(e.Pure > 0 && e.Pure <= maxEpsilon) {
		err = fmt.Errorf("want a pure loss in (0, %g], got %v", maxEpsilon, e.Pure)
	}
	if e.Mask != (privacy.ParameterMask{}) {
		err = errors.Join(e.Mask.Validate(), err)
	}
	return errors.Join(agree.ValidDelta(e.Delta), err)
}

// Loss returns the curve of the mask and of the pure loss, and the delta of the test and of the
// mask's precision: see blocks.Stable.
func (e Closeness) Loss(epsilon float64) (privacy.Curve, float64) {
	if e.Mask == (privacy.ParameterMask{}) {
		return privacy.PureCurve(e.Pure), e.Delta
	}
	return e.Mask.Curve().Compose(privacy.PureCurve(e.Pure)), blocks.AddedDelta(e.Delta, epsilon)
}

// Stated returns the fields, and nil for no mask.
func (e Closeness) Stated() (numbers any, delta, pure float64) {
	if e.Mask != (privacy.ParameterMask{}) {
		numbers = e.Mask
	}
	return numbers, e.Delta, e.Pure
}

// A Space is a set of estimates with a distance and a mask, as Theorem 4.3.1 needs. They are
// written as mixtures are, whatever they stand for; nil has failed and is far from all. Its own
// comment proves, for some r, z and losses e2:
//
//	distances are symmetric, and two of at most r/(2z) add to one of at most r (a z-approximate
//	r-restricted triangle inequality is enough);
//	what masked draws for two estimates at most r apart is within e2: a Rényi curve of the plan's
//	Extra, or a mu that is charged.
//
// Popularity and Line are spaces, whose proofs the guarantee rests on, and [OwnSpace] is one that
// its author answers for. No other package can implement one.
type Space interface {
	// asked returns the query that is measured, numbers only, as the kernel's list of queries has
	// it.
	asked() asked
	// mask returns the certificate's line of the mask, whose Mu is charged, and the numbers of
	// components and columns of an estimate, or what is wrong with the space.
	mask() (line core.Measurement, components, columns int, err error)
	// friends returns, for every estimate, the number of those within r/(2z), itself included; 0
	// for a failed one.
	friends(all [][]blocks.Component) []int
	masked(d *core.Draw, y []blocks.Component) []blocks.Component
}

// asked is what a certificate names.
type asked interface{ Kind() string }

// Popularity is the space of mixtures with dist_PARAM, and says which mask ReleasePopular puts on a
// popular one: it covers estimates within Mask.Gamma of one another, and those within Radius count
// as friends. The release has k components in random order, whose weights need not sum to 1.
//
// Proof: popular_proof.md, step 4, with z = 3/2, r = Mask.Gamma <= 1 (blocks.Distance), and
// kernel/privacy/mask_proof.md.
type Popularity struct{ Mask privacy.ParameterMask }

// Kind returns PopularKind.
func (h Popularity) Kind() string { return PopularKind }

// Radius returns r/(2z), for z = 3/2 and r = Mask.Gamma minus a bound on the rounding of distances
// and of making a root triangular.
func (h Popularity) Radius() float64 { return privacy.DivDown(privacy.SubDown(h.Mask.Gamma, 1e-5), 3) }

func (h Popularity) asked() asked { return h }

func (h Popularity) mask() (line core.Measurement, components, columns int, err error) {
	m := h.Mask
	if err = m.Validate(); err == nil && (m.Components > 64 || m.Dimension > 20 || !(h.Radius() > 0)) { // Gamma is at most 1
		err = fmt.Errorf("want a mask for up to 64 components and 20 columns, of Gamma above 1e-5, got %+v", m)
	}
	return core.Measurement{Law: blocks.LawMasked, Sensitivity: m.Gamma, Noise: m.EtaCov, Mask: m}, m.Components, m.Dimension, err
}

func (h Popularity) friends(all [][]blocks.Component) []int { return blocks.Friends(all, h.Radius()) }

func (h Popularity) masked(d *core.Draw, y []blocks.Component) []blocks.Component {
	return blocks.MaskedParameters(y, h.Mask.EtaWeight, h.Mask.EtaMean, h.Mask.EtaCov, d.Normal)
}

// PopularNumberKind is the name of ReleasePopular on a line in plans and certificates.
const PopularNumberKind = "of blocks: popular number"

// Line is the space of numbers with the distance |y - y'|: the mean of a block's one component in
// one column, rounded to a multiple of Unit, which is public or released. Those within Reach/2
// units of one another are friends, and the mask is a Gaussian of Mu, charged, that covers Reach
// units. The mean that is released is in units.
//
// Privacy. A block is read as an integer k = round(y/Unit), |k| <= 2^52, or failure: however y/Unit
// is rounded, a function of the block alone. Integers have z = 1 and any r, so two friends'
// distances add to at most 2 floor(Reach/2) <= Reach. The release is a function of k + N, N the
// rounded Gaussian of sd at least Reach/Mu: round(X) + k = round(X + k) for integers k, so that is
// post-processing of the Gaussian mechanism, which is Mu-GDP, of Rényi divergence at most a Mu^2/2
// at every order a. Sums that wrap modulo 2^64 are functions of k + N too.
//
// Source: [PPE] Theorem 4.3.1 (for a line in place of mixtures).
type Line struct {
	Unit  float64
	Reach int64 // r, in units
	Mu    float64
}

// Kind returns PopularNumberKind.
func (h Line) Kind() string { return PopularNumberKind }

// Covers returns the largest distance of two numbers that the mask covers, in units: its
// sensitivity.
func (h Line) Covers() int64 { return h.Reach }

// mostUnits keeps integers exact in float64.
const mostUnits = 1 << 52

func (h Line) asked() asked { return h }

func (h Line) mask() (line core.Measurement, components, columns int, err error) {
	if !(h.Unit > 0 && h.Unit <= math.MaxFloat64 && h.Reach >= 2 && h.Reach <= mostUnits) {
		return line, 1, 1, fmt.Errorf("want a Line with a positive Unit and a Reach of 2 to 2^52, got %+v", h)
	}
	sigma, err := core.Sigma(PopularNumberKind, float64(h.Reach), h.Mu)
	return core.Measurement{Sensitivity: float64(h.Reach), Noise: sigma, Mu: h.Mu}, 1, 1, err
}

// read returns the number of a block in units, or NaN.
func (h Line) read(y []blocks.Component) float64 {
	if len(y) != 1 || !(math.Abs(y[0].Mean[0]/h.Unit) <= mostUnits) {
		return math.NaN()
	}
	return math.Round(y[0].Mean[0] / h.Unit)
}

func (h Line) friends(all [][]blocks.Component) []int {
	counts := make([]int, len(all))
	for i, y := range all {
		for _, other := range all {
			if math.Abs(h.read(y)-h.read(other)) <= float64(h.Reach/2) { // false for NaN
				counts[i]++
			}
		}
	}
	return counts
}

func (h Line) masked(d *core.Draw, y []blocks.Component) []blocks.Component {
	k := int64(h.read(y)) + d.Gaussian(privacy.DivUp(float64(h.Reach), h.Mu))
	return []blocks.Component{{Weight: 1, Mean: []float64{float64(k)}, Root: []float64{1}}}
}

// PopularThreshold returns 4 t^2/5 + A for t blocks, which the count of friends has to reach, and
// A, the bound of its noise.
func PopularThreshold(t int, epsilon, delta float64) (threshold, support int64) {
	sensitivity := 2 * float64(t-1)
	support = supportOf(privacy.DivDown(epsilon, sensitivity), sensitivity, math.Log(delta))
	return (4*int64(t)*int64(t)+4)/5 + support, support
}

// ReleasePopular runs the learner on t fresh secret blocks. If a noisy test says that most
// estimates are close to most, it releases a popular one, masked. If not, ok is false, a released
// outcome like any other.
//
// With q_i the number of blocks whose estimate is within r/(2z) of that of block i in the space,
// itself included (a failed one is far from all others), c the sum of the q_i, D = 2(t-1), and e1 =
// epsilon and d1 the pure loss and the delta of the plan's step:
//
//	Z is discrete Laplace of rate e1/D, cut to [-A, A], A >= D such that P(Z > A-D) <= d1;
//	if c + Z < 4t^2/5 + A, fail; else mask the estimate of the first block with q_i > 3t/5.
//
// Theorem. If the mask is (e2, d2)-DP for estimates within r, ReleasePopular is (e1+e2, d1+d2)-DP.
// More: for neighbours X and X' it can be replaced by a step whose Rényi divergence is at most that
// of a pure loss e1 plus the mask's, such that each side's law of its outcome is at least 1-d1
// times that of the replacement's. So it is paid for by mu^2, Extra and AddedDelta in the sense of
// privacy.Calibrate.
//
// Proof: popular_proof.md, steps 1 to 5.
//
// Source: [PPE] Algorithm 1; Theorem 4.3.1; Sections A2 and A4 of the restatement.
// Differs: noise and threshold are integers, and the masks are the tight ones.
func ReleasePopular(a *core.SubBudget, step string, b blocks.Blocks, how Space, epsilon float64) (y []blocks.Component, ok bool, err error) {
	switch how.(type) {
	case Popularity, Line, OwnSpace:
	default: // a pointer to a space could be changed between charge and draw
		return nil, false, fmt.Errorf("kernel: step %q: want a Popularity, a Line or an OwnSpace, by value, got a %T", step, how)
	}
	t, sensitivity := b.Count, 2*float64(b.Count-1)
	test := agree.Test{Estimates: t}
	test.Mask, test.Components, test.Columns, err = how.mask()
	if err == nil && (t < 5 || t > 1<<16) {
		err = fmt.Errorf("want 5 to 2^16 blocks, got %d", t)
	}
	if err != nil {
		return nil, false, fmt.Errorf("kernel: step %q: %w", step, err)
	}
	rate, err := rateOf(step, epsilon, sensitivity)
	if err == nil && rate < leastTruncated {
		err = fmt.Errorf("kernel: step %q: want an epsilon of at least %v, got %v", step, leastTruncated*sensitivity, epsilon)
	}
	if err != nil {
		return nil, false, err
	}
	secret, err := blocks.Secret(a, b)
	if err != nil {
		return nil, false, err
	}
	return agree.Release(a, step, how.asked(), secret, tested(test, how, rate, epsilon))
}

// tested returns the test of a space on blocks, given the numbers in test.
func tested(test agree.Test, how Space, rate, epsilon float64) agree.Test {
	t := test.Estimates
	cover, _ := test.Mask.Mask.(privacy.ParameterMask)
	test.Line = core.Measurement{Sensitivity: 2 * float64(t-1), Noise: privacy.DivUp(1, rate), Law: LawPopular}
	test.Covered = func(e core.Extra) error {
		if of, ok := e.(Closeness); !ok || of.Mask != cover || !(of.Pure >= epsilon) {
			return fmt.Errorf("want a plan with a mask that covers %+v and a pure loss of %v, got %+v", cover, epsilon, e)
		}
		return nil
	}
	test.Run = func(d *core.Draw, estimates [][]blocks.Component) (bool, int64, func() []blocks.Component) {
		friends, sum := how.friends(estimates), int64(0)
		for _, q := range friends {
			sum += int64(max(q, 1)) // a failed block counts as its own only friend
		}
		threshold, support := PopularThreshold(t, epsilon, d.Step.Extra.(Closeness).Delta)
		if d.Factor() == 0 {
			threshold -= support
		}
		return sum+drawTruncated(d, rate, support) >= threshold, sum, func() []blocks.Component {
			for i, q := range friends {
				if 5*q > 3*t {
					return how.masked(d, estimates[i])
				}
			}
			return nil
		}
	}
	return test
}
