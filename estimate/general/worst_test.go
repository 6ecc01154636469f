package general

import (
	"fmt"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/columns"
)

// TestEveryTable: whatever the rows are, a fit ends in a sound model or in a reason, within its
// plan and its budget. Of the grid a random part is run, another one for another GAUZE_TEST_SEED.
func TestEveryTable(t *testing.T) {
	type setting struct{ d, n int }
	settings := []setting{{1, 700}, {2, 3000}, {3, 1500}, {4, 900}, {5, 4000}, {10, 2500}, {12, 20}}
	part := .01
	epsilons := []float64{1e-3, .1, 1, 10, 1e6}
	if estimatetest.Long() {
		part = .15
		settings = append(settings, setting{1, 50}, setting{2, 50}, setting{2, 20000}, setting{4, 20000}, setting{5, 400}, setting{10, 20000}, setting{12, 10000})
	}
	for i, table := range estimatetest.Hard() {
		t.Run(fmt.Sprintf("%d %s", i, table.Name), func(t *testing.T) {
			rng := newRand(t)
			for _, s := range settings {
				rows := table.Rows(rng, s.n, s.d)
				for e, eps := range epsilons {
					for _, c := range combinations() {
						// large budgets take many rounds
						if rng.Float64() > part || e >= 3 && rng.IntN(3) > 0 {
							continue
						}
						c.Rows, c.Columns, c.Mu = rows, s.d, privacy.MuOf(eps, 1e-6)
						c.Noise = kerneltest.Options{Seed: rng.Uint64()}
						estimatetest.RunChecked(t, tested, c)
						if t.Failed() {
							t.Fatalf("d %d n %d epsilon %v K %d %v %v", s.d, s.n, eps, c.Components, c.Relation, c.Covariance)
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
		for _, shape := range shapes {
			for _, k := range []int{0, 1, 2, 5} {
				out = append(out, estimatetest.Case{Relation: rel, Covariance: shape, Components: k})
			}
		}
	}
	return out
}

// TestRoundedTo: any declared unit, however far from the columns' spread, ends in a sound model or
// in a reason. Shapes, relations and numbers take turns with units, unless GAUZE_LONG is set.
func TestRoundedTo(t *testing.T) {
	rng := newRand(t)
	rows := estimatetest.Hard()[0].Rows(rng, 3000, 2)
	for i, unit := range []float64{5e-324, 1e-3, 3, 1e150, 1e300} {
		for j, c := range combinations() {
			if c.Components == 1 || c.Components == 5 || (i+j/4+j%4/2)%2 != 0 && !estimatetest.Long() {
				continue
			}
			c.Rows, c.Columns, c.Mu, c.RoundedTo, c.Noise = rows, 2, .5, []float64{unit, .01}, kerneltest.Options{Fresh: true}
			if estimatetest.RunChecked(t, tested, c); t.Failed() {
				t.Fatalf("unit %v, %v %v K %d", unit, c.Relation, c.Covariance, c.Components)
			}
		}
	}
}

// TestHardlyAnyRows: tables of no, one or two rows, and of fewer rows than columns.
func TestHardlyAnyRows(t *testing.T) {
	rng := newRand(t)
	for _, table := range estimatetest.Hard()[:5] {
		for n := range 3 {
			for _, d := range []int{1, 3, 12} {
				for _, c := range combinations() {
					for _, mu := range []float64{.01, muOne, 1414} {
						c.Rows, c.Columns, c.Mu, c.Noise = table.Rows(rng, n, d), d, mu, kerneltest.Options{Fresh: true}
						if f := estimatetest.RunChecked(t, tested, c); f.Model != nil && !estimatetest.IsPoint(f.Model) {
							t.Errorf("%s: a model of %d rows was released", table.Name, n)
						}
					}
				}
			}
		}
	}
}

// TestHardlyEnoughRows: where the noisy count decides between one component and more, and where a
// stage gets exactly what it needs, neither the noise nor a rounding error may lead out of the plan
// or into a refusal.
func TestHardlyEnoughRows(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		for _, d := range []int{1, 4, 9} {
			p := estimate.Problem{Columns: d, Mu: muOne, MaxComponents: 10}
			n := int(rowsFor(p, 2)) + 1
			rows := estimatetest.Hard()[0].Rows(rng, n, d)
			for i := range rows {
				if i%9 == 0 && rel == privacy.ReplaceOne {
					rows[i] = make([]float64, d)
					rows[i][0] = 1 / rows[i][0] // null
				}
			}
			for range stattest.Trials(4, 20) {
				estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: d, Relation: rel, Mu: muOne, Noise: kerneltest.Options{Fresh: true}})
			}
		}
	}
	for d := 1; d <= 12; d++ {
		for _, rel := range relations {
			p := estimate.Problem{Columns: d, Mu: muOne, Components: 2, Relation: rel}
			least := program.SharpRows(p, d)
			for n := 400.0; n < 6000; n += 7 {
				if _, want := columns.CenterShare(rel, d, n, p.Mu*p.Mu); n >= least != want {
					t.Fatalf("%v d = %d n = %v: the units are found from %v rows on, want %v", rel, d, n, least, want)
				}
			}
		}
	}
}
