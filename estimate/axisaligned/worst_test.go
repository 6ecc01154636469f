package axisaligned

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// tables are those beyond estimatetest.Hard: columns that are constant, of integers, of two values,
// at the ends of float64.
var tables = []estimatetest.Table{
	of("a constant column", func(rng *rand.Rand, i, j int) float64 { return either(j == 0, group(rng, i), 3) }),
	of("a column of zeros", func(rng *rand.Rand, i, j int) float64 { return either(j == 0, group(rng, i), 0) }),
	of("a constant far away", func(rng *rand.Rand, i, j int) float64 { return either(j == 0, group(rng, i), 1e12) }),
	of("zeros", func(*rand.Rand, int, int) float64 { return 0 }),
	of("all null", func(*rand.Rand, int, int) float64 { return math.NaN() }),
	of("all 1e308", func(*rand.Rand, int, int) float64 { return 1e308 }),
	of("neighbouring numbers", func(_ *rand.Rand, i, _ int) float64 { return either(i%2 == 0, 1, math.Nextafter(1, 2)) }),
	of("a column of two values", func(rng *rand.Rand, i, j int) float64 { return either(j == 0, group(rng, i), float64(i%2)) }),
	of("mostly zeros", func(rng *rand.Rand, _, _ int) float64 { return either(rng.IntN(10) > 0, 0, rng.ExpFloat64()) }),
	of("integers of sd 1", func(rng *rand.Rand, i, _ int) float64 { return math.Round(group(rng, i)) }),
	of("integers of sd 5", func(rng *rand.Rand, i, _ int) float64 { return math.Round(5 * group(rng, i)) }),
	of("lognormal integers", func(rng *rand.Rand, _, _ int) float64 { return math.Round(1000 * math.Exp(rng.NormFloat64())) }),
	of("counting", func(_ *rand.Rand, i, _ int) float64 { return float64(i) }),
	of("powers of two", func(_ *rand.Rand, i, _ int) float64 { return math.Ldexp(1, i%100-50) }),
	of("Cauchy", func(rng *rand.Rand, _, _ int) float64 { return rng.NormFloat64() / rng.NormFloat64() }),
}

func of(name string, cell func(rng *rand.Rand, i, j int) float64) estimatetest.Table {
	return estimatetest.Table{Name: name, Rows: func(rng *rand.Rand, n, d int) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, d)
			for j := range rows[i] {
				rows[i][j] = cell(rng, i, j)
			}
		}
		return rows
	}}
}

func either(first bool, a, b float64) float64 {
	if first {
		return a
	}
	return b
}

// group is a row of one of two groups, 20 sds apart.
func group(rng *rand.Rand, i int) float64 { return 20*float64(i%2) + rng.NormFloat64() }

// TestEveryTable: whatever the rows are, a fit ends in a sound model or in a reason, within its
// plan and its budget. Of the grid a random part is run, another one for another GAUZE_TEST_SEED.
func TestEveryTable(t *testing.T) {
	type setting struct{ d, n int }
	sizes := []setting{{1, 700}, {2, 2000}, {3, 900}, {2, 50}}
	part := .001
	if estimatetest.Long() {
		part = .03
		sizes = append(sizes, setting{1, 50}, setting{1, 20000}, setting{2, 20000}, setting{5, 400}, setting{5, 3000}, setting{9, 1200}, setting{20, 10000})
	}
	for i, table := range append(estimatetest.Hard(), tables...) {
		t.Run(fmt.Sprintf("%d %s", i, table.Name), func(t *testing.T) {
			rng := newRand(t)
			for _, s := range sizes {
				rows := table.Rows(rng, s.n, s.d)
				for _, eps := range []float64{1e-3, .1, 1, 10, 1e4} {
					for _, c := range combinations() {
						if rng.Float64() > part {
							continue
						}
						c.Rows, c.Columns, c.Epsilon, c.Delta, c.Noise = rows, s.d, eps, delta, kerneltest.Options{Seed: rng.Uint64()}
						estimatetest.RunChecked(t, tested, c)
						if t.Failed() {
							t.Fatalf("d %d n %d epsilon %v k %d %v %v", s.d, s.n, eps, c.Components, c.Relation, c.Covariance)
						}
					}
				}
			}
		})
	}
}

// combinations are the relations, shapes and numbers of components.
func combinations() (out []estimatetest.Case) {
	for _, rel := range relations {
		for _, shape := range []estimate.CovarianceType{estimate.Diagonal, estimate.Spherical} {
			for _, k := range []int{0, 1, 2, 5} {
				out = append(out, estimatetest.Case{Relation: rel, Covariance: shape, Components: k})
			}
		}
	}
	return out
}

// TestAllKindsOnce: every table once at epsilon 1, whatever part of the grid is run.
func TestAllKindsOnce(t *testing.T) {
	rng := newRand(t)
	for i, table := range append(estimatetest.Hard(), tables...) {
		c := combinations()[(3*i)%16]
		c.Rows, c.Columns, c.Epsilon, c.Delta, c.Noise = table.Rows(rng, 500, 2), 2, 1, delta, kerneltest.Options{Seed: rng.Uint64()}
		if estimatetest.RunChecked(t, tested, c); t.Failed() {
			t.Fatalf("%s, %v %v k %d", table.Name, c.Relation, c.Covariance, c.Components)
		}
	}
}

// TestHardlyAnyRows: of tables of no, one or two rows no model is released. A count that is all
// noise passes four of its sds with probability 3e-5, and then boxes of noise must pass too; for
// the seed that the test has, none does.
func TestHardlyAnyRows(t *testing.T) {
	rng := newRand(t)
	for _, table := range append(estimatetest.Hard()[:5], tables[:4]...) {
		for n := range 3 {
			for _, d := range []int{1, 3, 12} {
				for _, c := range combinations() {
					if rng.IntN(4) > 0 && !estimatetest.Long() {
						continue
					}
					for _, eps := range []float64{.01, 1} {
						c.Rows, c.Columns, c.Epsilon, c.Delta, c.Noise = table.Rows(rng, n, d), d, eps, delta, kerneltest.Options{Seed: rng.Uint64()}
						if f := estimatetest.RunChecked(t, tested, c); f.Model != nil {
							t.Errorf("%s: a model of %d rows was released", table.Name, n)
						}
					}
				}
			}
		}
	}
}

// TestManyRowsFewComponents: a hundred thousand rows of one component, and hardly any for each of
// many. The noise is seeded: what is tested is that either ends in a model or a reason.
func TestManyRowsFewComponents(t *testing.T) {
	rng := newRand(t)
	rows := make([][]float64, 100000)
	for i := range rows {
		rows[i] = []float64{1e6 + 1e-3*rng.NormFloat64()}
	}
	for _, c := range []estimatetest.Case{
		{Rows: rows, Components: 1}, {Rows: rows, Components: 1, Relation: privacy.AddRemoveOne}, {Rows: rows, Components: 24},
		{Rows: rows[:700], Components: 10}, {Rows: rows[:700], Components: 10, Relation: privacy.AddRemoveOne},
	} {
		c.Columns, c.Epsilon, c.Delta, c.Noise = 1, 1, delta, kerneltest.Options{Seed: rng.Uint64()}
		f := estimatetest.RunChecked(t, tested, c)
		if c.Components != 1 {
			continue
		}
		if f.Model == nil {
			t.Fatalf("%v: no model of 100000 rows: %+v", c.Relation, f.NoRelease)
		}
		if g := f.Model.Components[0]; len(f.Model.Components) != 1 || math.Abs(g.Mean[0]-1e6) > 1e-4 || math.Abs(math.Sqrt(g.Cov.At(0, 0))/1e-3-1) > .05 {
			t.Errorf("%v: mean %v, sd %v, want 1e6 and 1e-3", c.Relation, g.Mean[0], math.Sqrt(g.Cov.At(0, 0)))
		}
	}
}

// TestCanceled: an interruption is an error, before anything is spent.
func TestCanceled(t *testing.T) {
	rng := newRand(t)
	c := estimatetest.Case{Rows: tables[0].Rows(rng, 2000, 2), Columns: 2, Epsilon: 1, Delta: delta, Components: 2}
	plan, err := tested.Plan(c.Problem())
	if err != nil {
		t.Fatal(err)
	}
	s := kerneltest.Open(t, kerneltest.Table(c.Rows, 2, privacy.ReplaceOne), plan, kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: delta}}, fresh)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tested.Fit(ctx, s, c.Problem()); !errors.Is(err, context.Canceled) || len(s.Measurements()) > 0 {
		t.Errorf("got %v after %d measurements, want %v before any", err, len(s.Measurements()), context.Canceled)
	}
}

// TestConstantColumn: a column of one value is that value in every component, without spread to
// nine digits at least, and takes nothing from the other column's fit; so is one that has a value
// of its own in each group.
func TestConstantColumn(t *testing.T) {
	rng := newRand(t)
	for i, value := range []func(i int) float64{
		func(int) float64 { return 0 }, func(int) float64 { return 3 }, func(int) float64 { return -1e12 }, func(i int) float64 { return float64(i % 2) },
	} {
		rows := make([][]float64, 8000)
		for r := range rows {
			rows[r] = []float64{group(rng, r), value(r)}
		}
		f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 2, Relation: relations[i%2], Components: 2, Epsilon: 1, Delta: delta,
			Noise: kerneltest.Options{Seed: rng.Uint64()}})
		if f.Model == nil || len(f.Model.Components) != 2 {
			t.Errorf("%d: %+v", i, f.Outcome)
			continue
		}
		for c, g := range f.Model.Components {
			own := math.Round(g.Mean[0] / 20) // the group
			if math.Abs(g.Mean[0]-20*own) > .3 || math.Abs(math.Sqrt(g.Cov.At(0, 0))-1) > .3 || math.Abs(f.Model.Weights[c]-.5) > .05 {
				t.Errorf("%d: weight %v, mean %v, sd %v", i, f.Model.Weights[c], g.Mean, math.Sqrt(g.Cov.At(0, 0)))
			}
			want := value(int(own))
			tiny := 1e-9 * math.Max(math.Abs(want), 1)
			if math.Abs(g.Mean[1]-want) > tiny || math.Sqrt(g.Cov.At(1, 1)) > tiny {
				t.Errorf("%d: mean %v and variance %v, want %v and 0", i, g.Mean[1], g.Cov.At(1, 1), want)
			}
		}
	}
}
