package general

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
)

// TestShortTables: of two groups ten sds apart, of 500 rows each, most fits show both, means within
// half an sd and weights within .08. 57 of 60 and 58 of 60 were right by a harder measure; claimed
// are 90 %, which three of twelve contradict.
//
// False-alarm rate: 1e-6.
func TestShortTables(t *testing.T) {
	rng := newRand(t)
	right, runs := 0, 12
	for range runs {
		rows := make([][]float64, 1000)
		for i := range rows {
			at := 7 * float64(i%2)
			rows[i] = []float64{at + rng.NormFloat64(), 1e6 * (at + rng.NormFloat64())}
		}
		f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 2, Epsilon: 1, Delta: 1e-6, MaxComponents: 10, Noise: fresh})
		if f.Model == nil || components(f) != 2 {
			continue
		}
		ok, foreground := true, f.Model.Weights[0]+f.Model.Weights[1]
		for j, c := range f.Model.Components[:2] {
			away := math.Min(math.Hypot(c.Mean[0], c.Mean[1]/1e6), math.Hypot(c.Mean[0]-7, c.Mean[1]/1e6-7))
			ok = ok && away < .5 && math.Abs(f.Model.Weights[j]/foreground-.5) < .08
		}
		if ok {
			right++
		}
		if stattest.Enough(right, runs, .9, 1e-6) {
			break
		}
	}
	t.Logf("%d of %d at least", right, runs)
	stattest.GoodAtLeast(t, right, runs, .9, 1e-6)
}

// TestWideTables: three groups in 16 columns, ten sds apart in directions of no column, are seen in
// tables too short for a search of their own. Of 95 mixtures of two to four groups in 11 to 30
// columns 90 had their number right, where that of a look at round rows had 16; claimed are 90 %,
// which three of ten contradict: it fails in 9 of 10 runs where one in six is right.
//
// False-alarm rate: 1e-5.
func TestWideTables(t *testing.T) {
	const d, runs = 16, 10
	rng := newRand(t)
	right := 0
	for i := range runs {
		means := make([][]float64, 3)
		for k := range means {
			means[k] = make([]float64, d)
			for j := range d {
				means[k][j] = 10 / math.Sqrt(2*d) * rng.NormFloat64()
			}
		}
		rows := make([][]float64, 4200)
		for i := range rows {
			rows[i] = make([]float64, d)
			for j := range d {
				rows[i][j] = math.Pow(10, float64(j%4)) * (means[i%3][j] + rng.NormFloat64())
			}
		}
		f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: d, Relation: relations[i%2], Mu: muOne, MaxComponents: 10, Noise: fresh})
		if f.Model != nil && components(f) == 3 {
			right++
		}
		if stattest.Enough(right, runs, .9, 1e-5) {
			break
		}
	}
	t.Logf("%d of %d at least", right, runs)
	stattest.GoodAtLeast(t, right, runs, .9, 1e-5)
}

// TestWideSeparated: the method separated looks in such tables, too, with what its plan has for it,
// also where n is private or rows are missing. False-alarm rate: 1e-5, at one fit in twenty without
// a release.
func TestWideSeparated(t *testing.T) {
	const d = 12
	rng := newRand(t)
	rows := make([][]float64, 6000)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range d {
			if rows[i][j] = 20*float64(i%2*(j%2)) + rng.NormFloat64(); i >= 3000 {
				rows[i][j] = math.NaN()
			}
		}
	}
	separated := NewSeparated(tested.one)
	const runs = 4
	good := 0
	for range runs {
		if stattest.Enough(good, 3*runs, .95, 1e-5) {
			break
		}
		for _, c := range []estimatetest.Case{{Rows: rows[:3000], Relation: privacy.AddRemoveOne}, {Rows: rows[:3000]}, {Rows: rows}} {
			c.Columns, c.Mu, c.MaxComponents, c.Noise = d, muOne, 10, fresh
			if f := estimatetest.RunChecked(t, separated, c); f.Model != nil {
				good++
			} else {
				t.Logf("%d rows, %v: %v", len(c.Rows), c.Relation, f.NoRelease)
			}
		}
	}
	stattest.GoodAtLeast(t, good, 3*runs, .95, 1e-5)
}

// TestShortSeen: where a look along lines shows one group, the release says from which share of the
// rows on it would have shown another.
//
// False-alarm rate: 1e-5, at one fit in twenty that sees two.
func TestShortSeen(t *testing.T) {
	rng := newRand(t)
	rows := make([][]float64, 1500)
	for i := range rows {
		rows[i] = []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	}
	const runs = 6
	said := 0
	for range runs {
		f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 5, Mu: muOne, MaxComponents: 10, Noise: fresh})
		if f.Model == nil {
			t.Fatalf("%+v", f.Outcome)
		}
		if slices.ContainsFunc(f.Diagnostics.Flags, func(g estimate.Flag) bool {
			return g.Code == flags.OneComponent && strings.Contains(g.Text, "% of the rows")
		}) {
			said++
		} else {
			t.Logf("flags %v", f.Diagnostics.Flags)
		}
	}
	stattest.GoodAtLeast(t, said, runs, .95, 1e-5)
}

// TestLookingIsCheap: one Gaussian in a short table has looks along lines, which cost glancePart
// twice and smallLine, and what is left goes to its own method.
func TestLookingIsCheap(t *testing.T) {
	rng := newRand(t)
	p := estimate.Problem{Columns: 2, Relation: privacy.ReplaceOne, Mu: muOne, MaxComponents: 10}
	rows := make([][]float64, int(.95*rowsOfSeveral(p)))
	for i := range rows {
		rows[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	var asked kerneltest.Transcript
	f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 2, Mu: muOne, MaxComponents: 10, Noise: kerneltest.Options{Exact: true, Record: &asked}})
	if f.Model == nil || len(f.Model.Components) != 1 {
		t.Fatalf("%+v", f.Outcome)
	}
	if lines := slices.Index(asked.Steps, stepSplit); lines < 0 || slices.ContainsFunc(asked.Steps, func(s string) bool {
		return s != stepSplit && s != stepColumns.Name && !strings.HasPrefix(s, prefixOne)
	}) {
		t.Errorf("steps %q", asked.Steps)
	}
}

// TestShortReplay: in a short table too a fit's questions are functions of its answers, and no path
// loses more than mu^2.
func TestShortReplay(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		rows := twoGroups(rng, 1000, 2)
		for _, v := range []float64{1e308, math.NaN(), 0} {
			row := []float64{v, v}
			other := append([][]float64{row}, rows[1:]...)
			if rel == privacy.AddRemoveOne {
				other = append(slices.Clone(rows), row)
			}
			f, loss := estimatetest.Neighbours(t, tested, estimatetest.Case{Rows: rows, Columns: 2, Relation: rel, Mu: muOne, MaxComponents: 10,
				Noise: kerneltest.Options{Seed: rng.Uint64()}}, other)
			if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
				t.Errorf("%v, another row of %v: a path loses mu^2 = %v of %v", rel, v, loss.Path, limit)
			}
		}
	}
}
