package kernel

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

var (
	step = core.Step{Name: "look", Query: query.Histogram, Share: 1, Most: 9}
	bins = query.Counts{Edges: [][]float64{{-3, 0, 1, 1e300}}}
)

// open is the budget of a session over one column of values whose draws are those of the hook.
func open(t testing.TB, ctx context.Context, r privacy.Relation, values []float64, h *core.TestHook) *core.SubBudget {
	t.Helper()
	b := core.NewBuilder(1)
	for _, v := range values {
		b.Append([]float64{v})
	}
	s, err := core.Open(ctx, core.Hooked(b.Protect(r), h), core.Plan{Method: "test", Steps: []core.Step{step}}, core.Terms{Relation: r, Budget: privacy.Budget{Rho: 2}})
	if err != nil {
		t.Fatal(err)
	}
	return s.SubBudget()
}

// exact are the sums of the bins in a sample, whose coins are given, before noise.
func exact(t testing.TB, r privacy.Relation, values []float64, words []uint64, inverseRate uint64) (sums []int64) {
	t.Helper()
	h := core.NewTestHook()
	h.NoiseFactor, h.Source = 0, stattest.Replay(words)
	h.Record = func(_ string, _ any, _ float64, _ []float64, exact []int64) { sums = exact }
	s, err := Subsample(open(t, context.Background(), r, values, h), inverseRate)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sum(step.Name, bins, 1); err != nil {
		t.Fatal(err)
	}
	return sums
}

// TestSamplesOfNeighbours: with the coins of common rows equal, what is summed of the samples of
// two neighbours differs by the query's sensitivity at most, and by that in some cases: a row that
// is replaced has its coin, one that comes or goes stands anywhere and has one of its own.
func TestSamplesOfNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	pool := []float64{-1e308, -5, -3, -1, 0, math.Copysign(0, -1), .5, 1, 7, 1e300, 1e308, math.NaN(), math.Inf(1)}
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		most, same := 0.0, 0
		for range 4000 {
			n := 1 + rng.IntN(10)
			x, words := make([]float64, n), make([]uint64, n)
			for i := range x {
				x[i], words[i] = pool[rng.IntN(len(pool))], rng.Uint64()
			}
			at, y, own := rng.IntN(n), slices.Clone(x), slices.Clone(words)
			if y[at] = pool[rng.IntN(len(pool))]; r == privacy.AddRemoveOne {
				y, own = slices.Delete(y, at, at+1), slices.Delete(own, at, at+1)
			}
			a, b, square := exact(t, r, x, words, 2), exact(t, r, y, own, 2), 0.0
			for i := range a {
				square += float64((a[i] - b[i]) * (a[i] - b[i]))
			}
			if most = math.Max(most, math.Sqrt(square)); square == 0 {
				same++
			}
		}
		if stated := bins.Sensitivity(r); most > stated || most < .999*stated || same < 1000 {
			t.Errorf("%v: found %v of the stated %v, no difference in %d of 4000", r, most, stated, same)
		}
	}
}

// TestOneInOne: a sample of all rows is the table, whatever its rows, over pieces and chunks.
func TestOneInOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	values, words := make([]float64, 9000), make([]uint64, 9000)
	want := make([]int64, 5)
	for i := range values {
		values[i] = 3 * rng.NormFloat64()
		if i%7 == 0 {
			values[i] = math.NaN()
			continue
		}
		bin := 0
		for _, e := range bins.Edges[0] {
			if values[i] >= e {
				bin++
			}
		}
		want[bin]++
	}
	if got := exact(t, privacy.ReplaceOne, values, words, 1); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOddsAreTheRows: every row is drawn with the same probability, null rows and those at the ends
// of the table too, and no two are drawn together more often than two coins allow.
//
// False-alarm rate: 1e-8.
func TestOddsAreTheRows(t *testing.T) {
	const n, inverseRate, runs = 40, 5, 4000
	values := make([]float64, n) // each kind of value in a bin of its own
	for i := range values {
		values[i] = []float64{-5, -1, .5, 7, 1e308}[i%5]
	}
	sizes, first := make([]float64, runs), 0
	for run := range sizes {
		h := core.NewTestHook()
		h.NoiseFactor = 0
		s, err := Subsample(open(t, context.Background(), privacy.ReplaceOne, values, h), inverseRate)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.Sum(step.Name, bins, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, count := range answer.Values {
			sizes[run] += count
		}
		if rows, public := s.Session().Rows(); !public || float64(rows) != sizes[run] {
			t.Fatalf("%d rows, %v, and %v were counted", rows, public, sizes[run])
		}
		first += int(answer.Values[0])
	}
	stattest.GoodProportion(t, first, runs*n/5, 1./inverseRate, 2e-9)
	mean, square := 0.0, 0.0
	for _, size := range sizes {
		mean += size / runs
		square += (size - n/inverseRate) * (size - n/inverseRate) / runs
	}
	sd := math.Sqrt(n * (1. / inverseRate) * (1 - 1./inverseRate))
	stattest.GoodMean(t, sizes, n/inverseRate, sd, 2e-9)
	// the variance of a squared deviation is below 2.1 sd^4, and 6.5 of its sds are 1e-10
	if far := math.Abs(square/(sd*sd) - 1); far > 6.5*math.Sqrt(2.1/runs) {
		t.Errorf("the sizes' variance is off by %v: mean %v", far, mean)
	}
}

// TestSampleSpendsTheBudget: measurements of a sample and of the table spend one budget and the
// steps of one plan, and cost the same; nothing is told of how many rows there are where that is
// private; what was given up draws nothing.
func TestSampleSpendsTheBudget(t *testing.T) {
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		ctx, cancel := context.WithCancel(context.Background())
		a := open(t, ctx, r, make([]float64, 5000), core.NewTestHook())
		before := a.Left()
		s, err := Subsample(a, 4)
		if err != nil {
			t.Fatal(err)
		}
		if s.Left() != before || a.Left() != before || s.Session().Loss().Mu != 0 {
			t.Errorf("%v: drawing cost something: %v of %v is left", r, s.Left(), before)
		}
		if _, public := s.Session().Rows(); public != (r == privacy.ReplaceOne) {
			t.Errorf("%v: the number of rows is public: %v", r, public)
		}
		for i, who := range []*core.SubBudget{s, a, s} {
			answer, err := who.Sum(step.Name, bins, .5)
			if err != nil || answer.Sigma != bins.Sensitivity(r)/.5 {
				t.Fatalf("%v: noise %v, %v", r, answer.Sigma, err)
			}
			if left := before - float64(i+1)*.25; math.Abs(s.Left()-left) > 1e-12 || s.Left() != a.Left() {
				t.Errorf("%v: after %d looks %v and %v are left, want %v", r, i+1, s.Left(), a.Left(), left)
			}
		}
		if m := a.Session().Measurements(); len(m) != 1 || m[0].Count != 3 {
			t.Errorf("%v: recorded %+v", r, m)
		}
		if _, err := s.Take(.5).Sum(step.Name, bins, 1); !errors.Is(err, core.ErrExhausted) {
			t.Errorf("%v: a look beyond the budget: %v", r, err)
		}
		cancel()
		if _, err := Subsample(a, 4); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: a fit that was given up draws a sample: %v", r, err)
		}
	}
}

// TestNoPartOfASample: if the rows or the coins fail on the way there is no sample. One of the rows
// up to there would differ in two rows, that which comes or goes and the one at its end. Drawing is
// no measurement, and what is said of a failure does not count it as one.
func TestNoPartOfASample(t *testing.T) {
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		h := core.NewTestHook()
		h.Source = stattest.Replay(make([]uint64, 3000))
		a := open(t, context.Background(), r, make([]float64, 5000), h)
		if s, err := Subsample(a, 1); s != nil || err == nil || !strings.HasSuffix(err.Error(), "; what was charged by then is spent") || a.Session().Loss().Mu != 0 {
			t.Errorf("%v: a sample of 3000 rows of 5000: %v, at %v", r, err, a.Session().Loss())
		}
	}
}

// a quitting source hands out zeros and gives the fit up at one of them.
type quitting struct {
	left int
	quit func()
}

func (q *quitting) Uint64() uint64 {
	if q.left--; q.left == 0 {
		q.quit()
	}
	return 0
}

// TestGivenUpHalfway: of a fit that is given up while a sample is drawn nothing is measured any
// more, least of all what was drawn by then: where that ends depends on the clock.
func TestGivenUpHalfway(t *testing.T) {
	for _, r := range sampleRelations {
		for _, at := range []int{1, 2999, 4999, 5000} {
			ctx, cancel := context.WithCancel(context.Background())
			h := core.NewTestHook()
			h.Source = &quitting{at, cancel}
			h.Record = func(string, any, float64, []float64, []int64) { t.Errorf("%v: measured after row %d", r, at) }
			a := open(t, ctx, r, make([]float64, 5000), h)
			s, err := Subsample(a, 1)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v, given up at row %d: %v", r, at, err)
			}
			for _, who := range []*core.SubBudget{s, a} {
				if _, err := who.Sum(step.Name, bins, .5); !errors.Is(err, context.Canceled) {
					t.Errorf("%v, given up at row %d: %v", r, at, err)
				}
			}
			if mu := a.Session().Loss().Mu; mu != 0 {
				t.Errorf("%v: %v was spent", r, mu)
			}
		}
	}
}
