package pure

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/internal/agree"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The tests of this file make fewer than 20 statistical decisions at stattest.FalseAlarm = 1e-9
// each.

// TestPopularDecides: without noise the number of close pairs decides, a failed block being its own
// only friend, and the first popular estimate is released.
func TestPopularDecides(t *testing.T) {
	for _, c := range []struct {
		others []float64
		sum    int64
		logVar float64 // of the outcome
	}{
		{nil, 1600, 0},
		{[]float64{kerneltest.Fail, 5, kerneltest.Fail, -7}, 36*36 + 4, 0},
		{[]float64{kerneltest.Fail, 5, kerneltest.Fail, -7, 9}, 35*35 + 5, math.NaN()},
		{[]float64{kerneltest.Fail, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail}, 35*35 + 5, math.NaN()},
		// The 28 blocks at 0 are friends of all, six on either side of each other not: the anchor
		// is one of the forty that has more than 24 friends, any.
		{[]float64{.08, .08, .08, .08, .08, .08, -.08, -.08, -.08, -.08, -.08, -.08}, 1600 - 2*36, math.Inf(1)},
	} {
		var exact [][]int64
		s := openMasked(t, privacy.ReplaceOne, kerneltest.Zeros(40, c.others...), kerneltest.Quiet(t, 1, &exact))
		got, ok, err := ReleasePopular(s.SubBudget(), "popular", by(kerneltest.Scaled(1), 40), Popularity{fortyMask}, testPure)
		if err != nil || exact[0][0] != c.sum || ok == math.IsNaN(c.logVar) || ok != (got != nil) {
			t.Errorf("%v: %v, %v, %v, %v", c.others, exact, got, ok, err)
			continue
		}
		if logVar := 0.; ok {
			logVar = 2 * math.Log(math.Abs(got[0].Root[0]))
			if !math.IsInf(c.logVar, 1) && math.Abs(logVar-c.logVar) > 1e-9 || math.Abs(logVar) > .09 || math.Abs(got[0].Weight-1) > 1e-9 {
				t.Errorf("%v: %+v", c.others, got)
			}
		}
	}
	// The first of those with more than 3t/5 friends, in the order of blocks.
	s := openMasked(t, privacy.ReplaceOne, nil, kerneltest.Quiet(t, 1, new([][]int64)))
	test, draw := testOf(t, Popularity{fortyMask}), kerneltest.DrawOf(t, s, Closeness{Delta: testDelta})
	_, sum, release := test.Run(draw, kerneltest.EstimatesAt(40, kerneltest.Fail, 5, .05, .02))
	if out := release(); sum != 38*38+2 || len(out) != 1 || math.Abs(2*math.Log(math.Abs(out[0].Root[0]))-.05) > 1e-9 {
		t.Errorf("sum %v, anchor %+v", sum, out)
	}
	// of the first, itself included: those at 0, not those at -.05
	for friends, want := range map[int]float64{25: .09, 24: 0} {
		at := append([]float64{.09}, make([]float64, friends-1)...)
		for len(at) < 40 {
			at = append(at, -.05)
		}
		_, _, release := test.Run(draw, kerneltest.EstimatesAt(40, at...))
		if got := 2 * math.Log(math.Abs(release()[0].Root[0])); math.Abs(got-want) > 1e-9 {
			t.Errorf("the first of 40 has %d friends: a log variance of %v is released, want %v", friends, got, want)
		}
	}
}

// testOf is the test of a space on forty blocks.
func testOf(t *testing.T, how Space) agree.Test {
	t.Helper()
	test := agree.Test{Estimates: 40}
	var err error
	if test.Mask, test.Components, test.Columns, err = how.mask(); err != nil {
		t.Fatal(err)
	}
	return tested(test, how, 1./78, testPure)
}

// cutTail is P(Z >= from) for P(Z = z) ~ exp(-rate |z|), |z| <= most.
func cutTail(rate float64, most, from int64) float64 {
	sum, above := 0., 0.
	for z := -most; z <= most; z++ {
		w := math.Exp(-rate * math.Abs(float64(z)))
		if sum += w; z >= from {
			above += w
		}
	}
	return above / sum
}

// TestPopularThreshold: below 4t^2/5 the test never passes, one block above that with probability
// at most delta, and with the least such support.
func TestPopularThreshold(t *testing.T) {
	for _, blocks := range []int{5, 6, 7, 40, 536} {
		for _, epsilon := range []float64{.1, .5, 2} {
			for _, delta := range []float64{.02, 5e-7} {
				threshold, most := PopularThreshold(blocks, epsilon, delta)
				d := int64(2 * (blocks - 1))
				least := int64(math.Ceil(.8*float64(blocks*blocks) - 1e-9))
				if threshold != least+most || cutTail(epsilon/float64(d), most, most-d+1) > delta {
					t.Errorf("%d blocks, (%v, %v): threshold %d, support %d: passes with probability %v", blocks, epsilon, delta, threshold, most,
						cutTail(epsilon/float64(d), most, most-d+1))
				}
				if most > d && cutTail(epsilon/float64(d), most-1, most-d) <= delta {
					t.Errorf("%d blocks, (%v, %v): a support of %d would do", blocks, epsilon, delta, most-1)
				}
			}
		}
	}
}

// TestPopularTestAudit: how often the test passes on the worst neighbours has the law of the doc
// comment and certifies at most epsilon, and more if the noise is half of it.
func TestPopularTestAudit(t *testing.T) {
	runs := more(2000)
	test := testOf(t, Popularity{fortyMask})
	threshold, most := PopularThreshold(40, testPure, testDelta)
	for _, factor := range []float64{1, .5} {
		var passed [2]int
		for side, estimates := range [][][]blocks.Component{kerneltest.EstimatesAt(40), kerneltest.EstimatesAt(40, kerneltest.Fail)} {
			passed[side] = kerneltest.Passes(t, maskedPlan(), test.Run, Closeness{Delta: testDelta}, factor, estimates, runs+side)
			low, high := stattest.ProportionBounds(t, passed[side], runs, 2*stattest.FalseAlarm)
			law := cutTail(1./78, most, threshold-int64([]int{1600, 39*39 + 1}[side]))
			if factor == 1 && !(low <= law && law <= high) {
				t.Errorf("%d of %d pass, the law is %v", passed[side], runs, law)
			}
		}
		epsilon := kerneltest.CertifiedBy(t, passed[0], passed[1], runs, testDelta)
		t.Logf("noise x %v: %v of %d pass: epsilon >= %.3f, claimed %v", factor, passed, runs, epsilon, testPure)
		if epsilon > testPure != (factor < 1) || epsilon < .3 {
			t.Errorf("noise x %v: certified epsilon %v, claimed %v", factor, epsilon, testPure)
		}
	}
}

// TestPopularMaskAudit: the mask on neighbours whose anchors are on either side of all other
// estimates, as far as friends can be, against what its curve claims; a quarter of its noise is
// caught.
func TestPopularMaskAudit(t *testing.T) {
	const delta = .05
	how := Popularity{privacy.ParameterMask{Components: 1, Dimension: 1, Gamma: .03, EtaWeight: 100, EtaMean: 100, EtaCov: .01}}
	claim := how.Mask.Curve().Epsilon(delta)
	runs := more(4000)
	for _, factor := range []float64{1, .25} {
		var above [2]int
		for side, at := range []float64{.0099, -.0099} {
			h := kerneltest.Seeded(t, stattest.Seed(t)+uint64(side))
			h.NoiseFactor = factor
			s := openMasked(t, privacy.ReplaceOne, nil, h)
			_, sum, release := testOf(t, how).Run(kerneltest.DrawOf(t, s, Closeness{Delta: testDelta}), kerneltest.EstimatesAt(40, at))
			if sum != 1600 {
				t.Fatalf("sum %d", sum)
			}
			for range runs {
				if v := 2 * math.Log(math.Abs(release()[0].Root[0])); v > .008 {
					above[side]++
				}
			}
		}
		epsilon := kerneltest.CertifiedBy(t, above[0], above[1], runs, delta)
		t.Logf("noise x %v: %v of %d above: epsilon >= %.3f, claimed %.3f", factor, above, runs, epsilon, claim)
		if epsilon > claim != (factor < 1) || epsilon < .1*claim {
			t.Errorf("noise x %v: certified epsilon %v, claimed %v", factor, epsilon, claim)
		}
	}
}

// TestPopularPlans: what a plan cannot hold.
func TestPopularPlans(t *testing.T) {
	for _, pure := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if err := (Closeness{fortyMask, testDelta, pure}).Validate(); err == nil || !strings.Contains(err.Error(), "a pure loss in") {
			t.Errorf("a pure loss of %v: %v", pure, err)
		}
	}
	if err := maskedPlan().Validate(); err != nil {
		t.Error(err)
	}
}

// TestPopularRefuses: what cannot be asked, before anything is spent.
func TestPopularRefuses(t *testing.T) {
	s := openMasked(t, privacy.AddRemoveOne, kerneltest.Zeros(40), kerneltest.Seeded(t, 1))
	other := fortyMask
	other.EtaMean = .31
	for _, c := range []struct {
		want    string
		count   int
		m       privacy.ParameterMask
		epsilon float64
	}{
		{"want 5 to", 4, fortyMask, 1},
		{"a pure loss of 1.5", 40, fortyMask, 1.5},
		{"a mask that covers", 40, other, 1},
		{"want an epsilon", 40, fortyMask, math.NaN()},
		{"want an epsilon of at least", 40, fortyMask, 1e-6},
		{"step \"popular\"", 40, privacy.ParameterMask{}, 1},
	} {
		if _, ok, err := ReleasePopular(s.SubBudget(), "popular", by(kerneltest.Scaled(1), c.count), Popularity{c.m}, c.epsilon); err == nil || !strings.Contains(err.Error(), c.want) || ok {
			t.Errorf("want an error with %q, got %v", c.want, err)
		}
	}
	if s.Loss().Mu != 0 || len(s.Measurements()) != 0 {
		t.Error("refusals cost something")
	}
}
