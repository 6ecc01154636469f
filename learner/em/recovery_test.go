package em

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/learner"
)

// long says whether the long tests are asked for.
func long() bool { return os.Getenv("GAUZE_LONG") == "1" }

// estimates are those of blocks of n rows each, by l; nil for those that fail.
func estimates(t *testing.T, rng *rand.Rand, l Learner, truth []learner.Component, k, blocks, n int) (out [][]learner.Component) {
	t.Helper()
	for i := range blocks {
		e, err := l.LearnMixture(drawn(rng, truth, n), k, uint64(i))
		if err != nil {
			e = nil
		}
		out = append(out, e)
	}
	return out
}

// far is the share of estimates, or of pairs of them if truth is nil, that are further apart than
// most.
func far(estimates [][]learner.Component, truth []learner.Component, most float64) float64 {
	over, all := 0.0, 0.0
	for i, e := range estimates {
		against := estimates[:i]
		if truth != nil {
			against = [][]learner.Component{truth}
		}
		for _, other := range against {
			all++
			if e == nil || other == nil || !(apart(e, other) <= most) {
				over++
			}
		}
	}
	return over / all
}

// TestBadBlocks: three components in two columns, six sds apart, 113 rows: of all blocks of random
// mixtures the share further than 1.5 from the truth. The restatement's table has .06 with fourteen
// starts and .03 with splits and merges; here it is below .01. With .012, and within a mixture of
// .1 at worst, the sd over thirty mixtures of ten blocks is below .009: .04 is exceeded with
// probability 1e-3.
//
// Source: [PPE] Section D of the restatement (bad shards).
func TestBadBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	mixtures, blocks := 30, 10
	if long() {
		mixtures, blocks = 100, 100
	}
	bad := 0.0
	for range mixtures {
		truth := random(rng, 3, 2, 6, 3, 2)
		bad += far(estimates(t, rng, Learner{}, truth, 3, blocks, 113), truth, 1.5) / float64(mixtures)
	}
	t.Logf("%.4f of the blocks are bad", bad)
	if bad > .04 {
		t.Errorf("%.4f of the blocks are bad", bad)
	}
}

// TestOneMean: blocks of components with one mean that cross, of sds 1 and 7, or of sizes 1 and 7
// of which one holds the other: the share further than 1.5 from the truth. Without starts by axes
// and by shells it was .02 to .05, and .6 of three that cross; now it is below .01, .05 of three:
// twice that and .05 more is exceeded with probability 1e-4.
func TestOneMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, c := range []struct {
		k, n   int
		shells bool
		most   float64
	}{{2, 155, false, .07}, {3, 400, false, .15}, {2, 155, true, .07}} {
		var truth []learner.Component
		for i := range c.k {
			sin, cos := math.Sincos(math.Pi * float64(i) / float64(c.k))
			root := [][]float64{{7 * cos, -sin}, {7 * sin, cos}}
			if size := math.Pow(7, float64(i)); c.shells {
				root = [][]float64{{size, 0}, {0, size}}
			}
			truth = append(truth, learner.Component{Weight: 1 / float64(c.k), Mean: []float64{3, 4}, Root: root})
		}
		bad := far(estimates(t, rng, Learner{}, truth, c.k, 150, c.n), truth, 1.5)
		if t.Logf("%+v: %.3f of the blocks are bad", c, bad); bad > c.most {
			t.Errorf("%+v: %.3f of the blocks are bad", c, bad)
		}
	}
}

// TestPriorAgrees: with the prior, estimates of blocks are nearer to one another: the medians over
// pairs fall, by a tenth or more, in the mean over ten mixtures. The sd of that mean is some .02.
func TestPriorAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const mixtures, blocks = 10, 16
	ratio := 0.0
	for range mixtures {
		truth := random(rng, 2, 2, 4, 3, 2)
		median := func(l Learner) float64 {
			found := estimates(t, rng, l, truth, 2, blocks, 120)
			var d []float64
			for i, a := range found {
				for _, b := range found[:i] {
					if a != nil && b != nil {
						d = append(d, apart(a, b))
					}
				}
			}
			slices.Sort(d)
			return d[len(d)/2]
		}
		ratio += median(Learner{}) / median(Learner{Prior: -1}) / mixtures
	}
	t.Logf("the medians fall to %.3f", ratio)
	if ratio > .95 {
		t.Errorf("the medians fall to %.3f only", ratio)
	}
}

// TestTooManyComponents: blocks that are asked for more components than there are do not agree, as
// they are to. Two thirds of the pairs or more are further than 1 apart, where the reduction's test
// bears a tenth at most; with the right number hardly one is.
func TestTooManyComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for range 5 {
		truth := random(rng, 2, 2, 6, 3, 2)
		right := far(estimates(t, rng, Learner{}, truth, 2, 12, 200), nil, 1)
		wrong := far(estimates(t, rng, Learner{}, truth, 3, 12, 200), nil, 1)
		if right > .1 || wrong < .35 {
			t.Errorf("of the pairs %v are far apart with the right number of components, %v with one more", right, wrong)
		}
	}
}

// TestManyRows: on a large table the error is that of sampling, about sqrt(d(d+1)k/n) and some for
// unequal weights and overlap.
func TestManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, c := range []struct {
		k, d, n int
		sep     float64
	}{{3, 2, 20000, 6}, {2, 5, 10000, 5}, {3, 3, 100000, 4}} {
		if c.n > 20000 && !long() {
			continue
		}
		truth := random(rng, c.k, c.d, c.sep, 5, 2)
		got, err := Learner{}.LearnMixture(drawn(rng, truth, c.n), c.k, 3)
		if err != nil {
			t.Fatal(err)
		}
		floor := math.Sqrt(float64(c.d*(c.d+1)*c.k) / float64(c.n))
		if v := apart(got, truth); !(v < 4*floor) {
			t.Errorf("%+v: %v from the truth, and sampling makes about %v", c, v, floor)
		}
	}
}

// TestTrim: with one row of a hundred thirty times too far out, trimming finds the components, and
// EM without it does not. Of 20 tables one fails about; six fail with probability 3e-4 at that
// rate.
func TestTrim(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const runs = 20
	good, plain := 0, 0
	for range runs {
		truth := random(rng, 2, 2, 7, 3, 1.5)
		rows := drawn(rng, truth, 1000)
		for i := range 10 {
			for c := range rows[i] {
				rows[i][c] *= 30
			}
		}
		if got, err := (Learner{Trim: .04}).LearnMixture(rows, 2, 1); err == nil && apart(got, truth) < .5 {
			good++
		}
		if got, err := (Learner{}).LearnMixture(rows, 2, 1); err == nil && apart(got, truth) < .5 {
			plain++
		}
	}
	t.Logf("%d of %d with trimming, %d without", good, runs, plain)
	if good < 15 || plain > runs/2 {
		t.Errorf("%d of %d with trimming, %d without", good, runs, plain)
	}
}

// TestTrimOnCleanRows: where there are no outliers it hardly changes what blocks find: the medians
// of the distances of pairs grow by a twentieth or less in the mean over mixtures, where leaving
// out the same share whatever it is makes a fifth. The sd of that mean is some .01.
func TestTrimOnCleanRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const mixtures, blocks = 10, 20
	ratio := 0.0
	for range mixtures {
		truth := random(rng, 2, 2, 6, 3, 2)
		state := rng.Uint64()
		median := func(l Learner) float64 {
			found := estimates(t, rand.New(rand.NewPCG(state, 2)), l, truth, 2, blocks, 120)
			var d []float64
			for i, a := range found {
				for _, b := range found[:i] {
					d = append(d, apart(a, b))
				}
			}
			slices.Sort(d)
			return d[len(d)/2]
		}
		ratio += median(Learner{Trim: .04}) / median(Learner{}) / mixtures
	}
	t.Logf("the medians grow to %.3f", ratio)
	if ratio > 1.08 {
		t.Errorf("the medians grow to %.3f", ratio)
	}
}
