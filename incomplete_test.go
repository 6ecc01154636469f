package gauze

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/source"
)

// TestIncompleteMixtures: of three groups in ten columns, in which a fifth of the cells is missing
// at random and one row in ten is whole, the default finds three, with their means and spreads, and
// with the wards that they have, under both relations. False alarms: none of 16 fits.
func TestIncompleteMixtures(t *testing.T) {
	const n, d = 20000, 10
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		b := kernel.NewMixedBuilder(d, 1, nil)
		row := make([]float64, d+1)
		for i := range n {
			shared := rng.NormFloat64()
			if row[d] = float64(i % 3); rng.IntN(10) == 0 {
				row[d] = float64(rng.IntN(3))
			}
			for j := range d {
				row[j] = float64(4*((i%3+j)%3)) + .8*rng.NormFloat64() + .6*shared
				if rng.IntN(5) == 0 {
					row[j] = math.NaN()
				}
			}
			b.Append(row)
		}
		request := Request{Relation: r, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Columns: Named("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "ward")}
		request.Columns[d].Kind, request.Columns[d].Categories = source.Categories, []string{"0", "1", "2"}
		result, err := Fit(context.Background(), b.Protect(r), request)
		if err != nil || result.Release == nil {
			t.Fatalf("%v: %v, %v", r, err, result)
		}
		m, found := result.Release.Model, map[int]bool{}
		for k, g := range m.Components {
			if m.Weights[k] < .2 {
				continue
			}
			group := ((int(math.Round(g.Mean[0]/4)) % 3) + 3) % 3
			found[group] = true
			if p := m.Categories[0].Probabilities[k][group]; math.Abs(p-.933) > .08 {
				t.Errorf("%v: group %d has its own ward in %v of its rows, want .933", r, group, p)
			}
			for j := range d {
				if want := float64(4 * ((group + j) % 3)); math.Abs(g.Mean[j]-want) > .4 || math.Abs(g.Cov.At(j, j)-1) > .6 {
					t.Errorf("%v: group %d, column %d has mean %v and variance %v, want %v and 1", r, group, j, g.Mean[j], g.Cov.At(j, j), want)
				}
			}
		}
		if len(found) != 3 {
			t.Errorf("%v: found %v of 3 groups, weights %v", r, found, m.Weights)
		}
		if !slices.ContainsFunc(result.Release.Diagnostics.Flags, func(f flags.Flag[string]) bool { return f.Code == flags.MissingCells }) {
			t.Errorf("%v: no flag says that cells are missing", r)
		}
		if v := Verify(result.Release); v.Faults != nil || !v.Replanned {
			t.Errorf("%v: %v", r, v.Faults)
		}
	}
}
