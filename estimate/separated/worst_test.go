package separated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// nested are tables that lead deep into the recursion: groups inside groups, of any scale, blurs
// and atoms, near 0 and far from it.
func nested() []estimatetest.Table {
	deep := func(ratio, offset float64) func(*rand.Rand, int, int) [][]float64 {
		return func(rng *rand.Rand, n, d int) [][]float64 {
			rows := make([][]float64, n)
			for i := range rows {
				rows[i] = make([]float64, d)
				for j := range rows[i] {
					rows[i][j] = offset + 20*float64(i%2) + 20*ratio*float64(i/2%2)*float64(j%2) + 20*ratio*ratio*float64(i/4%2) + ratio*ratio*rng.NormFloat64()
				}
			}
			return rows
		}
	}
	return []estimatetest.Table{
		{Name: "groups in groups, one scale", Rows: deep(1, 0)},
		{Name: "groups in groups, 1e-3", Rows: deep(1e-3, 0)},
		{Name: "groups in groups, 1e-6", Rows: deep(1e-6, 3)},
		{Name: "groups in groups, 1e-9, far away", Rows: deep(1e-9, 1e9)},
		{Name: "atoms far away", Rows: deep(0, 1e9)},
		{Name: "atoms very far away", Rows: deep(0, 1e15)},
		{Name: "a lattice of groups", Rows: func(rng *rand.Rand, n, d int) [][]float64 {
			rows := make([][]float64, n)
			for i := range rows {
				rows[i] = make([]float64, d)
				for j := range rows[i] {
					rows[i][j] = 10*float64(rng.IntN(9)) + .3*rng.NormFloat64()
				}
			}
			return rows
		}},
		{Name: "groups of very unequal sizes", Rows: func(rng *rand.Rand, n, d int) [][]float64 {
			rows := make([][]float64, n)
			for i := range rows {
				g := int(rng.ExpFloat64() * 2)
				rows[i] = make([]float64, d)
				for j := range rows[i] {
					rows[i][j] = math.Pow(7, float64(g))*float64(1+(g+j)%3) + rng.NormFloat64()
				}
			}
			return rows
		}},
	}
}

// combinations are the relations, shapes and numbers of components.
func combinations() (out []estimatetest.Case) {
	for _, rel := range relations {
		for _, shape := range shapes {
			for _, c := range [][2]int{{0, 0}, {0, 1}, {0, 30}, {1, 0}, {2, 0}, {5, 0}, {12, 0}} {
				out = append(out, estimatetest.Case{Relation: rel, Covariance: shape, Components: c[0], MaxComponents: c[1]})
			}
		}
	}
	return out
}

// TestEveryTable: whatever the rows are, a fit ends in a sound model or in a reason, within its
// plan and its budget. Of the grid a random part is run, another one for another GAUZE_TEST_SEED.
func TestEveryTable(t *testing.T) {
	settings := []struct{ d, n int }{{1, 700}, {2, 4000}, {3, 3000}, {4, 900}, {5, 6000}, {13, 6000}, {12, 20}}
	runs, epsilons := 1, []float64{.1, 1, 3}
	if estimatetest.Long() {
		runs, epsilons = 100, []float64{1e-3, .1, 1, 10, 1e6}
		settings = append(settings, settings[1], struct{ d, n int }{50, 20000}, struct{ d, n int }{2, 20000}, struct{ d, n int }{10, 20000})
	}
	all := combinations()
	for i, table := range append(estimatetest.Hard(), nested()...) {
		t.Run(fmt.Sprintf("%d %s", i, table.Name), func(t *testing.T) {
			rng := newRand(t)
			for range runs {
				s, eps, c := settings[rng.IntN(len(settings))], epsilons[rng.IntN(len(epsilons))], all[rng.IntN(len(all))]
				c.Rows, c.Columns, c.Mu = table.Rows(rng, s.n, s.d), s.d, privacy.MuOf(eps, 1e-6)
				c.Noise = kerneltest.Options{Seed: rng.Uint64()}
				if estimatetest.RunChecked(t, New(), c); t.Failed() {
					t.Fatalf("d %d n %d epsilon %v K %d of %d %v %v", s.d, s.n, eps, c.Components, c.MaxComponents, c.Relation, c.Covariance)
				}
			}
		})
	}
}
