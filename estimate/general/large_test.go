package general

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// enough is the method for which samples of so much strength are enough.
func enough(strength float64) Estimator {
	e := tested
	e.Enough = strength
	return e
}

// TestOddsFor: a sample grows like the root of a large table, and there is none where it would say
// little.
func TestOddsFor(t *testing.T) {
	p := estimate.Problem{Columns: 10, Mu: muOne}
	for _, c := range []struct {
		rows, mu float64
		columns  int
		odds     float64
	}{{2e5, muOne, 10, 1}, {5e5, muOne, 10, 2}, {1e6, muOne, 10, 4}, {1e6, muOne, 2, 4}, {1e6, muOne, 20, 1}, {1e7, muOne, 10, 8}, {1e8, muOne, 10, 27}, {1e9, muOne, 10, 87},
		{1e7, muOne / 100, 10, 1}, {1e7, muOne, 50, 2}, {0, muOne, 10, 1}, {-5, muOne, 10, 1}} {
		p.Mu, p.Columns = c.mu, c.columns
		if got := tested.oddsFor(p, c.rows); got != c.odds {
			t.Errorf("%v rows of %d, mu %v: one in %v, want %v", c.rows, c.columns, c.mu, got, c.odds)
		}
		if got := enough(math.Inf(1)).oddsFor(p, c.rows); got != 1 {
			t.Errorf("%v rows of which none are to be left out: one in %v", c.rows, got)
		}
	}
	p = estimate.Problem{Columns: 10, Mu: muOne, Rows: 1e7, Relation: privacy.ReplaceOne, MaxComponents: 5}
	if notes := strings.Join(tested.Expect(p).Notes, "; "); !strings.Contains(notes, "one row in 8") {
		t.Errorf("a plan says %q", notes)
	}
}

// TestLargeReplay: where a sample is asked first, a fit's questions are functions of its answers on
// a neighbouring table too, and where a row is replaced no path loses more than mu^2. (A row more
// takes a coin more of the seeded draws, so that pairs of rows, which come after, are others: see
// TestLargeRowMore.) The rows that differ take turns, unless GAUZE_LONG is set.
func TestLargeReplay(t *testing.T) {
	const n = 16000
	rng := newRand(t)
	for r, rel := range relations {
		for i, k := range []int{0, 2} {
			rows := twoGroups(rng, n, 1)
			for j, v := range []float64{1e308, math.NaN(), 0} {
				if (r+i+j)%2 != 0 && !estimatetest.Long() {
					continue
				}
				row := []float64{v}
				other := append([][]float64{row}, rows[1:]...)
				if rel == privacy.AddRemoveOne {
					other = append(slices.Clone(rows), row)
				}
				f, loss := estimatetest.Neighbours(t, enough(10), estimatetest.Case{Rows: rows, Columns: 1, Relation: rel, Mu: .5, Components: k,
					Noise: kerneltest.Options{Seed: rng.Uint64()}}, other)
				if limit := math.Pow(f.Session.Mu(), 2); rel == privacy.ReplaceOne && loss.Path > limit*(1+1e-9) {
					t.Errorf("%v, another row of %v: a path loses mu^2 = %v of %v", rel, v, loss.Path, limit)
				}
			}
		}
	}
}

// TestNumberSettles: whether there are several components is asked after the first rounds, and how
// many there are is decided before the last rounds, of which a large table has more, so that what
// is left has rounds to settle in.
func TestNumberSettles(t *testing.T) {
	rows := twoGroups(newRand(t), 16000, 1)
	for _, strength := range []float64{10, math.Inf(1)} {
		var asked kerneltest.Transcript
		estimatetest.Run(t, enough(strength), estimatetest.Case{Rows: rows, Columns: 1, Mu: .5, Noise: kerneltest.Options{Seed: 1, Record: &asked}})
		rounds := 0
		for _, step := range asked.Steps[:max(0, slices.Index(asked.Steps, "contest"))] {
			if step == program.StepRounds {
				rounds++
			}
		}
		if rounds != openRounds {
			t.Errorf("a strength of %v is enough: %d rounds before the contest, want %d", strength, rounds, openRounds)
		}
	}
	for odds, want := range map[float64]int{4: 20 - settledRounds, 1: 20 - restRounds} {
		f := fit{odds: odds, schedule: schedule{rounds: 20}}
		if got := f.numbered(); got != want {
			t.Errorf("one row in %v is asked first: decided after %d rounds of 20, want %d", odds, got, want)
		}
	}
}

// TestLargeTablesAreReadLess: a fit that asks a sample first reads all rows about as often as its
// last rounds and what cannot do with less, in fewer than 40 passes, and is as near the truth.
//
// False-alarm rate: below 1e-6, as the noise moves no mean by a hundredth of a cluster's width.
func TestLargeTablesAreReadLess(t *testing.T) {
	const n, d, k = 60000, 2, 3
	rng := newRand(t)
	truth := estimatetest.Truth(t, rng, madeup.Moderate{Columns: d, Components: k, Separation: 6, Kappa: 3, LeastWeight: .2})
	table := kerneltest.Table(estimatetest.Draw(t, truth, n, rng), d, privacy.ReplaceOne)
	p := estimate.Problem{Columns: d, Rows: n, Relation: privacy.ReplaceOne, Mu: 4, MaxComponents: 10, NoDelta: true}
	passes := func(tested Estimator) float64 {
		plan, err := tested.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		e := kerneltest.NewCountingEngine()
		s := kerneltest.Open(t, table, plan, kernel.Terms{Relation: p.Relation, Budget: privacy.Budget{Rho: 8}, Engine: e}, kerneltest.Options{Fresh: true})
		out, err := tested.Fit(context.Background(), s, p)
		if err != nil || out.Model == nil {
			t.Fatalf("no model: %v, %v", out.NoRelease, err)
		}
		if tv, _ := estimatetest.TV(t, truth, out.Model, 4000, rng); tv > .1 {
			t.Errorf("a strength of %v is enough: TV %v", tested.Enough, tv)
		}
		return e.Passes()
	}
	all, few := passes(enough(math.Inf(1))), passes(enough(100))
	t.Logf("%v passes, and %v with a sample", all, few)
	if few > .6*all || few > 35 {
		t.Errorf("%v passes with a sample, %v without", few, all)
	}
}
