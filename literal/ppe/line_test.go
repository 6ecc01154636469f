package ppe

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// onLine is a fit of n rows of N(1e4, 25).
func onLine(t testing.TB, e estimate.Estimator, rel privacy.Relation, rows [][]float64, eps float64, noise kerneltest.Options) estimatetest.Fit {
	return estimatetest.RunChecked(t, e, estimatetest.Case{Rows: rows, Columns: 1, Relation: rel, Epsilon: eps, Delta: delta, Components: 1,
		KnownCovariance: [][]float64{{25}}, Noise: noise})
}

func ofLine(rng *rand.Rand, n int) (rows [][]float64) {
	for range n {
		rows = append(rows, []float64{1e4 + 5*rng.NormFloat64()})
	}
	return rows
}

// TestLineRecovers: the mean of a Gaussian of known variance, by PPE on a line, is within the noise
// that the release states, of five sds, from the rows that a plan asks for, with both kinds of
// constants and any learner. (12 fits; false alarms 1e-6 each; the test passes surely where blocks
// agree, which one fit in 10^4 may miss: two misses are a failure.)
//
// Shows: [PPE] Theorem 4.3.1; Algorithm 1.
func TestLineRecovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 21))
	missed := 0
	for name, e := range map[string]estimate.Estimator{"practical": NewLine(Practical()), "printed": NewLine(Practical()).Printed()} {
		for _, rel := range relations {
			for _, eps := range []float64{3, 20, 1e3} {
				p := problem(rel, 1, 1, 0, eps)
				p.KnownCovariance = [][]float64{{25}}
				n := int(e.Expect(p).RowsNeeded)
				f := onLine(t, e, rel, ofLine(rng, n), eps, kerneltest.Options{Seed: rng.Uint64()})
				if f.Model == nil {
					t.Logf("%s, %v, epsilon %v, n = %d: %+v %+v", name, rel, eps, n, f.NoRelease, f.Refused)
					missed++
					continue
				}
				lines := f.Session.Measurements()
				sd := lines[2].Noise / lines[2].Sensitivity * 2 * agreeSDs * math.Sqrt2 * 1.05 // in those of a block's mean
				_, _, blocks := e.(Line).test(p)
				block := 5 * math.Sqrt(float64(blocks)/float64(n))
				off := math.Abs(f.Model.Components[0].Mean[0] - 1e4)
				t.Logf("%s, %v, epsilon %v, n = %d: off by %.3f, sd of the noise %.3f, of a block %.3f", name, rel, eps, n, off, sd*block, block)
				if off > 5*math.Hypot(sd, 1)*block {
					t.Errorf("%s, %v, epsilon %v, n = %d: off by %.3f", name, rel, eps, n, off)
				}
			}
		}
	}
	if missed > 1 {
		t.Errorf("%d of 12 fits end without a model", missed)
	}
}

// TestLineMoreBudgetNeverHurts: on one table, the error at epsilon 10^3 and 10^6 is that of one
// block's mean at most (five sds), and every n that is accepted is accepted with more rows.
func TestLineMoreBudgetNeverHurts(t *testing.T) {
	rows := ofLine(rand.New(rand.NewPCG(3, 3)), 40000)
	last := math.Inf(1)
	for _, eps := range []float64{10, 1e3, 1e6} {
		f := onLine(t, NewLine(Practical()), privacy.ReplaceOne, rows, eps, kerneltest.Options{Seed: 3})
		if f.Model == nil {
			t.Fatalf("epsilon %v: %+v %+v", eps, f.NoRelease, f.Refused)
		}
		off := math.Abs(f.Model.Components[0].Mean[0] - 1e4)
		if t.Logf("epsilon %v: off by %.4f", eps, off); off > last+.6 {
			t.Errorf("epsilon %v: off by %.3f, before %.3f", eps, off, last)
		}
		last = math.Min(last, off)
	}
	accepted := false
	for n := 1 << 12; n < 1<<40; n *= 2 {
		p := problem(privacy.ReplaceOne, 1, 1, 0, 1)
		p.Rows, p.KnownCovariance = n, [][]float64{{25}}
		if _, err := NewLine(Practical()).Plan(p); err != nil && (accepted || float64(n) >= NewLine(Practical()).Expect(p).RowsNeeded) {
			t.Errorf("n = %d: %v", n, err)
		} else {
			accepted = err == nil
		}
	}
}

// TestLineRefuses: what it is not for; and a variance that is far too small ends without a release.
func TestLineRefuses(t *testing.T) {
	good := problem(privacy.ReplaceOne, 1, 1, 100000, 20)
	good.KnownCovariance = [][]float64{{25}}
	for name, change := range map[string]func(*estimate.Problem){
		"two columns": func(p *estimate.Problem) { p.Columns = 2 }, "two components": func(p *estimate.Problem) { p.Components = 2 },
		"no variance": func(p *estimate.Problem) { p.KnownCovariance = nil }, "zCDP": func(p *estimate.Problem) { p.NoDelta = true },
		"few rows": func(p *estimate.Problem) { p.Rows = 100 },
	} {
		p := good
		change(&p)
		if _, err := NewLine(Practical()).Plan(p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	rows := ofLine(rand.New(rand.NewPCG(3, 4)), 20000)
	f := estimatetest.RunChecked(t, NewLine(Practical()), estimatetest.Case{Rows: rows, Columns: 1, Epsilon: 20, Delta: delta, Components: 1,
		KnownCovariance: [][]float64{{.01}}})
	if f.NoRelease == nil {
		t.Errorf("a variance of a 2500th: %+v", f.Outcome)
	}
}

// TestLineIsBelieved: a mean that noise or sampling moves by .4 standard deviations and more is not
// released: at epsilon 1 the printed constants refuse 200,000 rows and name 23 million, and where
// the number of rows is private, or most rows are bad, no model comes out. At the rows that are
// accepted at least, total variation is below .25 in nine of ten fits (by the law of the noise).
func TestLineIsBelieved(t *testing.T) {
	printed := NewLine(Practical()).Printed()
	f := onLine(t, printed, privacy.ReplaceOne, make([][]float64, 200000), 1, kerneltest.Options{})
	if f.Refused == nil || !strings.Contains(f.Refused.Advice, "23,000,000 rows") {
		t.Errorf("200,000 rows at epsilon 1: got %+v", f.Refused)
	}
	rows := ofLine(rand.New(rand.NewPCG(3, 5)), 20000)
	for i := range rows[:18000] {
		rows[i] = []float64{math.NaN()}
	}
	for _, c := range []struct {
		rel  privacy.Relation
		rows [][]float64
	}{{privacy.AddRemoveOne, rows[18000:]}, {privacy.ReplaceOne, rows}} {
		if f := onLine(t, NewLine(Practical()), c.rel, c.rows, 20, kerneltest.Options{Seed: 3}); f.NoRelease == nil {
			t.Errorf("%v, 2000 rows of 8400: %+v %+v", c.rel, f.Outcome, f.Refused)
		}
	}
	const z = 1.645 // nine of ten errors are within so many sds
	if tv := math.Erf(z * wantedError * math.Sqrt(hopelessLine) / 2 / math.Sqrt2); tv > .25 {
		t.Errorf("total variation up to %.2f of what is accepted", tv)
	}
}

// TestLineEveryTable: whatever the rows, a fit ends in a sound model or in a reason; run again with
// the same answers it asks the same.
func TestLineEveryTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 8))
	for _, table := range estimatetest.Hard() {
		for _, rel := range relations {
			onLine(t, NewLine(Practical()), rel, table.Rows(rng, 10000, 1), 20, kerneltest.Options{Seed: rng.Uint64()})
		}
	}
	rows := ofLine(rng, 20000)
	for _, rel := range relations {
		var own, again kerneltest.Transcript
		f := onLine(t, NewLine(Practical()), rel, rows, 20, kerneltest.Options{Seed: 3, Record: &own})
		other := append(slices.Clone(rows[1:]), []float64{math.NaN()})
		for i := range 15000 {
			other[i] = []float64{1e9 * float64(i%3)}
		}
		g := onLine(t, NewLine(Practical()), rel, other, 20, kerneltest.Options{Replay: &own, Record: &again})
		if f.Model == nil || g.Model == nil || !estimatetest.SameQuestions(own, again) || apartOf(f.Model, g.Model) > 1e-12 {
			t.Errorf("%v: the same answers led to other questions, or to another end: %+v %+v", rel, f.Outcome, g.Outcome)
		}
	}
}
