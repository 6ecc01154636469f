package columns

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestNearUnits: the unit of a Gaussian is its sd, of two clusters far apart twice that of one, at
// any distance and in any unit; a lattice and an atom do not make it smaller; a column of one value
// has none.
func TestNearUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	const n = 20000
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		rows := make([][]float64, n)
		for i := range rows {
			far, whole, atom := 1e-3*rng.NormFloat64(), math.Round(2*rng.NormFloat64()), 0.0
			if i%2 == 0 {
				far += 1e6
			}
			if i%5 > 0 {
				atom = 70 + 50*rng.NormFloat64()
			}
			rows[i] = []float64{40 + 3*rng.NormFloat64(), far, whole, atom, 7}
		}
		scale, least := []float64{4, 1e6, 2, 64, 1}, []float64{0, 0, 1, 0, 0}
		s := kerneltest.Open(t, kerneltest.Table(rows, 5, rel), kernel.Plan{Method: "near", Steps: []kernel.Step{PairUnitsStep.In("", 1)}},
			kernel.Terms{Relation: rel, Budget: privacy.Budget{Rho: .02}}, kerneltest.Options{Seed: 9})
		got, far, err := PairUnits(s.SubBudget(), "", []int{0, 1, 2, 3, 4}, scale, least, n, .99*s.Mu())
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(math.Log(far*2e-3/1e6)) > 1.1 { // the two clusters'
			t.Errorf("%v: far pairs differ by %v of near ones, want about 5e8", rel, far)
		}
		// the atom leaves .64 of the pairs, and some of its own
		for j, want := range []float64{3, 2e-3, 2, 61, 0} {
			if !(math.Abs(got[j]-want) <= .35*want) {
				t.Errorf("%v: column %d has the unit %v, want about %v", rel, j, got[j], want)
			}
		}
	}
}

// TestNearSeen: more rows show near pairs, more columns and less budget hide them.
func TestNearSeen(t *testing.T) {
	for _, c := range []struct {
		relation privacy.Relation
		d        int
		rows, mu float64
		want     bool
	}{
		{privacy.ReplaceOne, 8, 12000, .047, true}, {privacy.AddRemoveOne, 8, 12000, .047, true}, {privacy.ReplaceOne, 10, 3000, .047, false},
		{privacy.AddRemoveOne, 20, 10000, .047, false}, {privacy.ReplaceOne, 8, 12000, .01, false}, {privacy.ReplaceOne, 1, 0, .047, false},
	} {
		if got := PairsSeen(c.relation, c.d, c.rows, c.mu); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
