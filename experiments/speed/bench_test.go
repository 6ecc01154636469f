package speed

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// The first program of every group is its yardstick. A group's table is drawn once for each round.

// BenchmarkMixture is fits of a table of a mixture beside plain covariance passes; with -cpu 1,2 on
// one core and on two.
func BenchmarkMixture(b *testing.B) {
	const n, d, k = 1_000_000, 10, 5
	group(b, "n=%d,d=%d,k=%d", []any{n, d, k}, func(b *testing.B) {
		truth, err := randomMixture(k, d)
		t := drawTable(b, truth, err, n)
		b.Run("plain-loop", func(b *testing.B) { t.plain(b, func(t table) { plainCovariance(t, runtime.GOMAXPROCS(0)) }) })
		t.run(b, "gaussian", asked("gaussian", 1))
		t.run(b, "mixture", asked("general", k))
		t.run(b, "auto", asked("general", 0))
	})
}

// BenchmarkPasses is fits of a large table, of one Gaussian and of a mixture: how often do they
// read it?
func BenchmarkPasses(b *testing.B) {
	const n, d = 10_000_000, 4
	for _, k := range []int{1, 5} {
		group(b, "n=%d,d=%d,k=%d", []any{n, d, k}, func(b *testing.B) {
			truth, err := randomMixture(k, d)
			t := drawTable(b, truth, err, n)
			run := func(name, method string, k int) {
				r := asked(method, k)
				r.Budget.Delta = delta / 10
				t.run(b, name, r)
			}
			run("auto", "general", 0)
			if k == 1 {
				run("gaussian", "gaussian", 1)
				return
			}
			run("k-given", "general", k)
			run("separated", "separated", k)
		})
	}
}

// BenchmarkGaussian is fits of one Gaussian beside several plain passes and numpy's; what a step
// takes has the estimator's own work before it in it. It is meant for -cpu 1.
func BenchmarkGaussian(b *testing.B) {
	for _, c := range []struct {
		n, d    int
		epsilon float64
	}{{100_000, 50, 1}, {1_000_000, 10, 1}, {100_000, 200, 8}} {
		group(b, "n=%d,d=%d,eps=%g", []any{c.n, c.d, c.epsilon}, func(b *testing.B) {
			truth, err := randomMixture(1, c.d)
			t := drawTable(b, truth, err, c.n)
			for i := range yardsticks { // the cheapest, which is the last, is the yardstick
				y := yardsticks[len(yardsticks)-1-i]
				b.Run(y.name, func(b *testing.B) { t.plain(b, func(t table) { y.pass(t) }) })
			}
			t.python(b, "numpy", "covariance.py", plainPasses)
			r := asked("gaussian", 1)
			r.Budget.Epsilon = c.epsilon
			t.run(b, "gaussian", r)
		})
	}
}

// BenchmarkUnbounded is fits of mixtures of any places and scales, a new one in every round, beside
// sorting the columns. A protected table keeps what it has sorted, so that every fit gets its own.
func BenchmarkUnbounded(b *testing.B) {
	const n, k = 1_000_000, 3
	add := func(method, what string, n, d, k int, truth func(seed uint64) (*model.Mixture, error)) {
		group(b, "%s,%s,n=%d", []any{method, what, n}, func(b *testing.B) {
			m, err := truth(round())
			t := drawTable(b, m, err, n)
			b.Run("sorting", t.sorting)
			b.Run("plain-panels", func(b *testing.B) { t.plain(b, func(t table) { panelCovariance(t) }) })
			for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}[:max(1, 3-d)] {
				for _, c := range []struct {
					name string
					k    int
				}{{"k-given", k}, {"k-found", 0}} {
					r := asked(method, c.k)
					r.Relation = relation
					if method == "axis-aligned" {
						r.Covariance = estimate.Diagonal
					}
					t.run(b, relation.String()+","+c.name, r)
				}
			}
		})
	}
	aligned := func(d, k int, a madeup.Arrangement) func(uint64) (*model.Mixture, error) {
		return madeup.Unbounded{Columns: d, Components: k, Arrangement: a}.Truth
	}
	add("univariate", "k=1", n, 1, 1, aligned(1, 1, madeup.Apart))
	add("univariate", "k=3,apart", n, 1, k, aligned(1, k, madeup.Apart))
	add("univariate", "k=3,overlapping", n, 1, k, aligned(1, k, madeup.Overlapping))
	add("univariate", "k=2,nested", n, 1, 2, aligned(1, 2, madeup.Nested))
	for _, d := range []int{2, 4, 8} {
		add("axis-aligned", fmt.Sprintf("d=%d,k=3", d), n/10, d, k, aligned(d, k, madeup.Apart))
	}
	for _, d := range []int{2, 4, 8} {
		add("general", fmt.Sprintf("d=%d,k=3,far", d), n/10, d, k, func(seed uint64) (*model.Mixture, error) { return farMixture(seed, k, d) })
		add("general", fmt.Sprintf("d=%d,k=3,near", d), n/10, d, k, func(uint64) (*model.Mixture, error) { return randomMixture(k, d) })
	}
}

// BenchmarkBlackBox is fits of the black-box reduction at the sizes of the named problems of
// experiments/reduction, a new table in every round, by stages; with -cpu 1,2 on one core and on
// two.
func BenchmarkBlackBox(b *testing.B) {
	for _, c := range []struct {
		k, d, n int
		learner string
	}{
		{1, 1, 5000, "em"}, {1, 2, 10_000, "em"}, {2, 1, 30_000, "em"}, {2, 2, 40_000, "em"}, {3, 2, 90_000, "em"}, {2, 5, 100_000, "em"}, {3, 5, 200_000, "em"},
		{5, 2, 200_000, "em"}, {2, 2, 90_000, "spectral"}, {2, 2, 90_000, "pearson-lines"},
	} {
		group(b, "k=%d,d=%d,n=%d", []any{c.k, c.d, c.n}, func(b *testing.B) {
			in, err := madeup.BlackBox{Columns: c.d, Components: c.k, Separation: 6}.Draw(round(), c.n)
			if err != nil {
				b.Fatal(err)
			}
			r := asked("black-box", c.k)
			r.Learner = c.learner
			table{d: c.d, flat: in.Rows.RawMatrix().Data}.run(b, c.learner, r)
		})
	}
}

// delta is below one over the rows of the largest table, as a budget has to be.
const delta = 1e-7

// asked is what most fits are asked.
func asked(method string, k int) gauze.Request {
	return gauze.Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: delta}, Method: method, Components: k}
}

// randomMixture has components whose means differ by about four standard deviations in every
// column, each with correlated columns.
func randomMixture(k, d int) (*model.Mixture, error) {
	rng := rand.New(rand.NewPCG(1, 1))
	var weights []float64
	var components []model.Gaussian
	for j := range k {
		cov, err := model.FullFromFactor(randomFactor(rng, d))
		if err != nil {
			return nil, err
		}
		mean := make([]float64, d)
		for i := range mean {
			mean[i] = 100 + 3*rng.NormFloat64()
		}
		weights = append(weights, float64(j+2)/float64(k*(k+3)/2))
		components = append(components, model.Gaussian{Mean: mean, Cov: cov})
	}
	return model.New(nil, weights, components)
}

// farMixture has small components with correlated columns so far apart that a tree of counts does
// not see their shapes: what general makes boxes for.
func farMixture(seed uint64, k, d int) (*model.Mixture, error) {
	const size, away = 1e-2, 1e6
	rng := rand.New(rand.NewPCG(seed, 2))
	var gs []model.Gaussian
	for range k {
		f, mean := randomFactor(rng, d), make([]float64, d)
		f.Scale(size, f)
		for j := range mean {
			mean[j] = away * rng.NormFloat64()
		}
		cov, err := model.FullFromFactor(f)
		if err != nil {
			return nil, err
		}
		gs = append(gs, model.Gaussian{Mean: mean, Cov: cov})
	}
	return model.New(nil, nil, gs)
}

// sorting sorts copies of all columns, made before the clock starts.
func (t table) sorting(b *testing.B) {
	times := max(1, 1_000_000/len(t.flat)) // one takes few ticks of the clock of CPU time
	measure(b, times, func() func() {
		var columns [][]float64
		for range times {
			for j := range t.d {
				c := make([]float64, 0, len(t.flat)/t.d)
				for i := j; i < len(t.flat); i += t.d {
					c = append(c, t.flat[i])
				}
				columns = append(columns, c)
			}
		}
		return func() {
			for _, c := range columns {
				slices.Sort(c)
			}
		}
	})
}
