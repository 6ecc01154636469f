package blackbox

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
)

// A cell is a kind of problem: n rows of fresh random mixtures of k components in d columns, the
// nearest six sds apart.
type cell struct {
	k, d, n int
	eps     float64
}

// issue are the cells in which 90 % of fits are claimed to end near EM.
var issue = []cell{{1, 1, 5000, 1}, {1, 2, 10000, 1}, {2, 1, 30000, 1}, {2, 2, 40000, 1}, {3, 2, 90000, 1}, {2, 5, 100000, 1}, {3, 5, 200000, 1}, {5, 2, 200000, 1}}

// attempt is whether a fit of a fresh mixture is released and near EM.
func (c cell) attempt(t *testing.T, rel privacy.Relation, steps int, rng *rand.Rand) (released, near bool) {
	return attempt(t, apartTruth(t, rng, c.k, c.d, 6), rel, c.n, c.eps, steps, rng)
}

// attempt is whether a fit of n rows is released and near EM from the truth.
func attempt(t *testing.T, truth *model.Mixture, rel privacy.Relation, n int, eps float64, steps int, rng *rand.Rand) (released, near bool) {
	k, d := len(truth.Components), truth.Dim()
	rows := estimatetest.Draw(t, truth, n, rng)
	f := estimatetest.RunChecked(t, everyLearner, estimatetest.Case{Rows: rows, Columns: d, Relation: rel, Epsilon: eps, Delta: delta,
		Components: k, Noise: fresh})
	if f.Model == nil {
		t.Logf("k = %d, d = %d, n = %d, epsilon %v, %v: %+v", k, d, n, eps, rel, f.NoRelease)
		return false, false
	}
	tv, best := variation(t, truth, f, rng), oracle(t, truth, rows, steps, rng)
	if near = nearEM(tv, best); !near {
		t.Logf("k = %d, d = %d, n = %d, epsilon %v, %v: TV %.4f, of EM %.4f", k, d, n, eps, rel, tv, best)
	}
	return true, near
}

// TestRecovery: fits of fresh mixtures end in a model whose total variation is within 3.5 times
// that of EM without privacy, plus .005: 90 % of them.
func TestRecovery(t *testing.T) {
	rng := newRand(t)
	all, near := 0, 0
	for _, c := range []cell{issue[0], issue[1], {1, 1, 1500, 4}, {1, 2, 2500, 4}, {2, 1, 8000, 4}, {2, 2, 10000, 4}} {
		for _, rel := range relations {
			if _, ok := c.attempt(t, rel, 20, rng); ok {
				near++
			}
			all++
		}
	}
	t.Logf("%d of %d", near, all)
	stattest.GoodAtLeast(t, near, all, .9, alarm)
}

// TestIssue: what the method claims, at epsilon 1, under both relations: of 20 fits of fresh
// mixtures at least 18 are released and near EM.
//
// False-alarm rate of a line: where a line misses that, 40 more runs decide, of which all but 6 of
// 60 have to succeed; if 97 % do, it fails with probability 7e-4.
func TestIssue(t *testing.T) {
	if !estimatetest.Long() {
		t.Skip("20 fits a line; set GAUZE_LONG=1")
	}
	for _, c := range issue {
		for _, rel := range relations {
			t.Run(fmt.Sprintf("%+v %v", c, rel), func(t *testing.T) {
				rng := newRand(t)
				runs, released, near := 0, 0, 0
				some := func(n int) {
					for range n {
						r, ok := c.attempt(t, rel, 40, rng)
						if runs++; r {
							released++
						}
						if ok {
							near++
						}
					}
				}
				if some(20); near < 18 {
					some(40)
				}
				if t.Logf("%d runs: %d released, %d near EM", runs, released, near); 10*near < 9*runs {
					t.Errorf("%d of %d, want 90 %%", near, runs)
				}
			})
		}
	}
}

// TestOneMean: two components with one mean that cross, of nearly one size: of 16 fits of fresh
// mixtures, under both relations in turn, 90 % are released and near EM; and of 20 where one holds
// the other, 60 %. At epsilon 8, or at 1 and of 40 if the run is long.
//
// False-alarm rate: 1e-6 for each arrangement; that none is near would be an alarm.
func TestOneMean(t *testing.T) {
	rng := newRand(t)
	n, eps := 10000, 8.0
	if estimatetest.Long() {
		n, eps = 80000, 1
	}
	for _, c := range []struct {
		of   madeup.Arrangement
		runs int
		part float64
	}{{madeup.Crossing, 16, .9}, {madeup.Nested, 20, .6}} {
		if estimatetest.Long() {
			c.runs = 40
		}
		var near [2]int
		for i := range c.runs {
			truth, err := madeup.BlackBox{Columns: 2, Components: 2, Arrangement: c.of}.Truth(rng.Uint64())
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := attempt(t, truth, relations[i%2], n, eps, 20, rng); ok {
				near[i%2]++
			}
			if stattest.Enough(near[0]+near[1], c.runs, c.part, alarm) {
				break
			}
		}
		t.Logf("%s: %v of %d at least near EM under each relation", c.of, near, c.runs/2)
		stattest.GoodAtLeast(t, near[0]+near[1], c.runs, c.part, alarm)
		stattest.BadAtLeast(t, 0, c.runs, c.part, alarm) // so few runs could tell
	}
}

// TestEveryLearner: on a table of two groups far apart every learner's fits are released, and one's
// own.
func TestEveryLearner(t *testing.T) {
	rng := newRand(t)
	for d := 1; d <= 2; d++ {
		rows := twoGroups(rng, 4000, d)
		for i, l := range append(everyLearner.Learners(), "one's own") {
			for j, rel := range relations {
				if (i+j+d)%2 != 0 && !estimatetest.Long() {
					continue
				}
				c := estimatetest.Case{Rows: rows, Columns: d, Relation: rel, Epsilon: 16, Delta: delta, Components: 2, Learner: l}
				if l == "moitra-valiant" { // as printed it stops at moments, whose blocks agree later
					c.Rows = twoGroups(rng, 12_000, d)
				}
				if c.Noise.Seed = rng.Uint64(); l == "one's own" {
					c.Learner, c.Own = "", estimatetest.Signs{}
				}
				f := estimatetest.RunChecked(t, everyLearner, c)
				if f.Model == nil {
					t.Errorf("%v, d = %d, %s: %+v", rel, d, l, f.NoRelease)
					continue
				}
				for i, g := range f.Model.Components {
					if x := g.Mean[0]; len(f.Model.Components) != 2 || !(x > 5.8 && x < 6.2 || x > -6.2 && x < -5.8) || f.Model.Weights[i] < .45 {
						t.Errorf("%v, d = %d, %s: %v at %v", rel, d, l, f.Model.Weights, g.Mean)
					}
				}
			}
		}
	}
}

// TestNothingToFind: where k is larger than the number of components, or there are none, blocks do
// not agree: no release in more than 95 % of runs.
//
// False-alarm rate: 1e-6 for all runs together, and for each line of a long run.
func TestNothingToFind(t *testing.T) {
	rng := newRand(t)
	each, all, bottom := 1, 0, 0
	if estimatetest.Long() {
		each = 20
	}
	for _, c := range []struct {
		k, of, d, n int // k are asked for of a mixture; 0: rows of a cube
		eps         float64
	}{{2, 1, 1, 30000, 1}, {2, 1, 2, 40000, 1}, {2, 1, 2, 8000, 4}, {2, 1, 3, 8000, 4}, {2, 0, 1, 8000, 4}, {2, 0, 2, 8000, 4}, {3, 2, 1, 8000, 4},
		{3, 2, 2, 8000, 4}, {3, 0, 2, 8000, 4}, {5, 3, 2, 40000, 4}, {4, 0, 3, 20000, 4}, {3, 2, 2, 90000, 1}, {2, 0, 5, 100000, 1}} {
		if c.n*c.k > 40000 && each == 1 {
			continue
		}
		none := 0
		for range each {
			rows := make([][]float64, c.n)
			if c.of > 0 {
				rows = estimatetest.Draw(t, apartTruth(t, rng, c.of, c.d, 6), c.n, rng)
			} else {
				for i := range rows {
					rows[i] = make([]float64, c.d)
					for j := range rows[i] {
						rows[i][j] = rng.Float64()
					}
				}
			}
			f := estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: rows, Columns: c.d, Epsilon: c.eps, Delta: delta, Components: c.k, Noise: fresh})
			if r := f.NoRelease; r != nil {
				if none++; float64(c.n) > Usual().rowsFor(problem(privacy.ReplaceOne, c.k, c.d, c.n, c.eps)) && !strings.Contains(r.Advice, "be fewer than stated") {
					t.Errorf("%+v: the advice is %q", c, r.Advice)
				}
			} else {
				t.Logf("%+v: released, %v", c, f.Model.Weights)
			}
		}
		t.Logf("%+v: no release of %d in %d", c, none, each)
		if all, bottom = all+each, bottom+none; each > 1 {
			stattest.GoodAtLeast(t, none, each, .95, alarm)
		}
	}
	stattest.GoodAtLeast(t, bottom, all, .95, alarm)
}

// TestTooFewComponents: fits that were asked for one component fewer than there are say so, or
// there is none, 90 % of them; those of as many as there are do not, 95 % of them.
func TestTooFewComponents(t *testing.T) {
	rng := newRand(t)
	told, too, untold, right := 0, 0, 0, 0
	cases := []struct{ k, d, n int }{{1, 2, 4000}, {2, 1, 10000}, {2, 2, 14000}, {2, 5, 30000}}
	if !estimatetest.Long() {
		cases = cases[:3] // five columns take as long as all others
	}
	for _, c := range cases {
		for j, rel := range relations {
			if j == 0 && c.k*c.d > 2 && !estimatetest.Long() {
				continue // the dearest case has one of the relations
			}
			for i := range 4 {
				f := estimatetest.RunChecked(t, everyLearner, estimatetest.Case{Rows: estimatetest.Draw(t, apartTruth(t, rng, c.k+i%2, c.d, 6), c.n, rng),
					Columns: c.d, Relation: rel, Epsilon: 4, Delta: delta, Components: c.k, Noise: fresh})
				flagged := strings.Contains(strings.Join(flags.Texts(f.Diagnostics.Flags), "; "), "more components than were asked for")
				switch {
				case i%2 == 1:
					if too++; f.Model == nil || flagged {
						told++
					}
				default:
					if right++; !flagged {
						untold++
					}
				}
			}
		}
	}
	t.Logf("%d of %d too few are told, %d of %d that are right are not", told, too, untold, right)
	stattest.GoodAtLeast(t, told, too, .9, alarm)
	stattest.GoodAtLeast(t, untold, right, .95, alarm)
	stattest.BadAtLeast(t, too/4, too, .9, alarm) // so few runs could tell
}
