package kernel

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/stable"
)

// Stability says which estimates of blocks Stable takes for stable, and how it masks their mean.
type Stability struct {
	Rules stable.Rules
	Eta   float64 // of the mask
}

// StableKind and PopularKind are what Stable and Popular are called in plans and certificates.
const (
	StableKind  = "of blocks: stable mean"
	PopularKind = "of blocks: popular estimate"
)

// Kind is StableKind.
func (h Stability) Kind() string { return StableKind }

// Mask is what the plan's step has to bring: a mask of at least this Gamma and at most this Eta.
func (h Stability) Mask() privacy.Mask {
	return privacy.Mask{Dimension: h.Rules.Columns + 1, Gamma: h.Rules.Gamma(), Eta: h.Eta}
}

// Threshold is what H plus its noise round(X/mu) has to reach, so that H <= Pass reaches it with
// probability at most delta: Pass + m with P(round(X/mu) >= m) <= P(X/mu >= m - 1/2) <= delta. mu
// is to be positive and delta in (0, 1).
func (h Stability) Threshold(mu, delta float64) int64 {
	sigma := privacy.DivUp(1, mu)
	return int64(h.Rules.Pass) + int64(math.Ceil(privacy.AddUp(privacy.MulUp(sigma, quantileUp(math.Log(delta))), .5)))
}

// Stable runs the learner on fresh secret blocks and tests whether their estimates agree. If they
// do it releases the mean of those that agree, masked: k components in random order, whose weights
// need not sum to 1. If not, ok is false, a released outcome like any other. Neither the agreement
// H nor its noisy value is ever shown, nor which blocks agree or have failed.
//
// Friends, the agreement H, the core and its mean are those of stable.Rules, among the estimates of
// all blocks. The test passes if H + round(X/mu), X ~ N(0, 1), reaches Threshold(mu, d), d being
// the Delta of the plan's step. It is charged mu^2. The mask is paid by the plan: the step's Mask
// has to cover that of how.
//
// Theorem. For neighbours X and X', Stable can be replaced by a step whose Rényi divergence of
// every order a is at most a mu^2/2 plus the mask's, such that each side's law of its outcome is at
// least 1-d times that of the replacement's. So it is paid for by mu^2, Extra and AddedDelta in the
// sense of privacy.Calibrate, whatever the session measures before and after it, and whatever it
// does after a failure.
//
// Proof. Hand over the secret draw L too, coupled as in Blocks: its law is the same for X and X',
// and to drop it again is post-processing. Given L and all answers before, the rules are fixed, and
// the estimates Y_i = Y'_i for all blocks but one: one block's is a function of its rows, its seed
// and public numbers. Hence, by the theorem of stable.Rules:
//   - H has sensitivity 1.
//   - Call L low if min(H, H') < Pass. Then neither H nor H' is above Pass, and X and X' pass with
//     probability at most d each, by the choice of Threshold. The replacement fails surely if L is
//     low, as Stable does with probability 1-d or more on both sides, whatever would have come
//     after a pass. If L is not low, the replacement is Stable itself.
//   - So the replacement on X and on X' does the same where L is low. Elsewhere its test adds
//     Gaussian noise to an integer of sensitivity 1 and rounds, of divergence a mu^2/2. After a
//     pass there is a mean on both sides (a pass without one, a failure too, needs H < Pass), and
//     for some order of the labels the k matrices of one are within Gamma of those of the other, in
//     the l2-sum of their distances.
//   - The mask's law depends on those matrices alone, not on frames, roots or whose frame it is;
//     its divergence is that of privacy.Mask for all k together. In random order each side's
//     outcome is the mean over all orders of laws whose labels correspond, and divergences are
//     quasi-convex.
//   - The mask is drawn to 512 binary places; all other noise is exact. So an outcome is within
//     stable.MaskSlack of what was said in total variation, on either side, which adds
//     (1+e^epsilon) MaskSlack to delta, for the session's epsilon. The plan pays it (Step.added).
//
// The time depends on the estimates, as that of a learner depends on its rows.
//
// Source: [PPE] Sections B2 to B5 and B7 of the restatement.
// Differs: d adds to delta where B7 takes the larger of two, which needs that nothing released
// before tells its cases apart; and it adds as it stands.
func (a *Allotment) Stable(step string, b Blocks, how Stability, mu float64) (components []stable.Component, ok bool, err error) {
	s := a.s
	sigma, err := sigmaOf(step, 1, mu)
	if err != nil {
		return nil, false, err
	}
	if err := errors.Join(how.Rules.Validate(), how.Mask().Validate()); err != nil {
		return nil, false, fmt.Errorf("kernel: step %q: %w", step, err)
	}
	return a.masked(step, how, b, s.stability(how, Measurement{Sensitivity: 1, Noise: sigma, Mu: mu}))
}

// stability is the test of Stable, whose line of the certificate is given.
func (s *Session) stability(how Stability, line Measurement) maskedTest {
	r, mask := how.Rules, how.Mask()
	return maskedTest{
		estimates: r.Estimates, components: r.Components, columns: r.Columns,
		line: line, mask: Measurement{Law: LawMasked, Sensitivity: mask.Gamma, Noise: mask.Eta, Mask: mask},
		covered: func(m Mask) bool {
			of, ok := m.(privacy.Mask)
			return ok && of.Dimension == mask.Dimension && mask.Gamma <= of.Gamma && mask.Eta >= of.Eta
		},
		run: func(estimates [][]stable.Component, delta float64) (bool, int64, func() []stable.Component) {
			agreement := r.Compare(estimates)
			h, threshold := int64(agreement.H()), how.Threshold(line.Mu, delta)
			if s.noiseless() {
				threshold = int64(r.Pass)
			}
			return h+s.gaussian(line.Noise) >= threshold, h, func() []stable.Component {
				frame, means, ok := agreement.Mean()
				if !ok {
					return nil
				}
				return stable.Masked(frame, means, how.Eta, s.normal)
			}
		},
	}
}

// A maskedTest is a test of what blocks agree on, followed, if it passes, by one masked estimate.
type maskedTest struct {
	estimates, components, columns int             // t, k and d
	line, mask                     Measurement     // of the test and of the mask
	covered                        func(Mask) bool // by that of the plan's step
	// of the test, where the plan's curve pays for it
	pure float64
	// run makes the test, whose delta is given: whether it passes, its exact statistic, and how to
	// make the estimate, which may fail.
	run func(estimates [][]stable.Component, delta float64) (passed bool, exact int64, release func() []stable.Component)
}

// masked charges the test, runs the learner on fresh secret blocks, tests, releases and records, in
// this order. A failed test and a failed release are the same outcome; the mask is recorded either
// way, because the plan has paid for it.
func (a *Allotment) masked(step string, q kinded, b Blocks, t maskedTest) ([]stable.Component, bool, error) {
	s := a.s
	c, err := b.checked(s)
	if err != nil {
		return nil, false, err
	}
	if d := c.columns(s); c.Count != t.estimates || c.k != t.components || d != t.columns || c.width != 1+d+d*d {
		return nil, false, fmt.Errorf("kernel: step %q: want %d blocks of %d components of %d columns, each %d long, got %d of %d of %d, %d long",
			step, t.estimates, t.components, t.columns, 1+t.columns+t.columns*t.columns, c.Count, c.k, d, c.width)
	}
	u, err := a.reserveMasked(step, q, t)
	if err != nil {
		return nil, false, err
	}
	pooled, err := s.estimates(c)
	if err != nil {
		return nil, false, err
	}
	estimates := make([][]stable.Component, len(pooled))
	for i, e := range pooled {
		estimates[i] = stable.Decode(e, t.columns)
	}
	components, err := s.testAndMask(step, q, t, u.step, estimates)
	if err != nil {
		return nil, false, err
	}
	s.observe(step)
	return components, components != nil, nil
}

// reserveMasked charges the test if the plan's step brings the mask, the test's delta and its pure
// loss.
func (a *Allotment) reserveMasked(step string, q kinded, t maskedTest) (u *usage, err error) {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if u = s.used[step]; u != nil && u.step.Query == q.Kind() {
		if u.step.Mask == nil || !t.covered(u.step.Mask) {
			return nil, fmt.Errorf("kernel: step %q: want a plan with a mask that covers %+v, got %+v", step, t.mask.Mask, u.step.Mask)
		}
		if !(u.step.Delta > 0 && u.step.Pure >= t.pure) {
			return nil, fmt.Errorf("kernel: step %q: want a plan with a delta for the test and a pure loss of %v, got %v and %v",
				step, t.pure, u.step.Delta, u.step.Pure)
		}
	}
	u, _, err = s.reserve(a, step, q.Kind(), t.line.Mu, false)
	return u, err
}

// testAndMask returns what is released, in random order, or nil.
func (s *Session) testAndMask(step string, q kinded, t maskedTest, of Step, estimates [][]stable.Component) (components []stable.Component, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer sealed(&err)
	passed, exact, release := t.run(estimates, of.Delta)
	var values []float64
	line := func(m Measurement, exact []int64) {
		values = s.watch(step, q, m.Mu, values, exact)
		m.Step, m.Query, m.Source = step, q.Kind(), of.Source
		s.record(m)
	}
	values = []float64{0}
	if passed {
		values[0] = 1
	}
	t.line.Delta = of.added(s.total.Budget.Epsilon)
	line(t.line, []int64{exact})
	passed, values = values[0] == 1, nil
	if passed {
		values = flatComponents(s.shuffled(release()))
	}
	line(t.mask, nil)
	d := t.columns
	for size := 1 + d + d*d; len(values) >= size; values = values[size:] {
		components = append(components, stable.Component{Weight: values[0], Mean: values[1 : 1+d], Root: values[1+d : size]})
	}
	return components, nil
}

// flatComponents writes weight, mean and root of each.
func flatComponents(components []stable.Component) (values []float64) {
	for _, c := range components {
		values = append(append(append(values, c.Weight), c.Mean...), c.Root...)
	}
	return values
}

// shuffled puts components in an order that is uniformly random, exactly.
func (s *Session) shuffled(components []stable.Component) []stable.Component {
	source, _ := s.random()
	for i := len(components) - 1; i > 0; i-- {
		j := int(noise.Uniform(source, uint64(i+1)))
		components[i], components[j] = components[j], components[i]
	}
	return components
}

// noiseless says that a test wants no noise.
func (s *Session) noiseless() bool { return s.hook != nil && s.hook.NoiseFactor == 0 }

// normal draws X to 512 binary places; a test's hook may change its sd.
func (s *Session) normal() *big.Float {
	_, draw := s.random()
	z := draw.Normal()
	if s.hook != nil {
		z.Mul(z, big.NewFloat(s.hook.NoiseFactor))
	}
	return z
}
