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
	"github.com/gauze-dp/gauze/release"
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

// TestMissingCellsOfComponents: where the cells of one column are missing in one group far more
// often than in the other, each component says how often, the release verifies, with a background
// too, and does not once it tells of fewer or other columns. False alarms: below 1e-6, errors being
// eight of the noise and sampling together.
func TestMissingCellsOfComponents(t *testing.T) {
	const n = 12000
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		b := kernel.NewBuilder(3)
		for i := range n {
			row := []float64{10*float64(i%2) + rng.NormFloat64(), rng.NormFloat64(), 10*float64(i%2) + rng.NormFloat64()}
			if rng.IntN(10) < []int{1, 6}[i%2] {
				row[1] = math.NaN()
			}
			if rng.IntN(10) == 0 {
				row[0] = math.NaN()
			}
			b.Append(row)
		}
		result, err := Fit(context.Background(), b.Protect(r), Request{Relation: r, Budget: privacy.Budget{Epsilon: 2, Delta: 1e-6}, Columns: Named("at", "own", "whole")})
		if err != nil || result.Release == nil {
			t.Fatalf("%v: %v, %v", r, err, result)
		}
		m, seen := result.Release.Model, 0
		for k, note := range result.Release.Diagnostics.Components {
			if m.Weights[k] < .3 {
				continue
			}
			seen++
			want := .1
			if m.Components[k].Mean[2] > 5 {
				want = .6
			}
			if off := 8 * math.Hypot(note.MissingNoise, .5/math.Sqrt(n/2)); math.Abs(note.Missing["own"]-want) > off || math.Abs(note.Missing["at"]-.1) > off || note.Missing["whole"] > off || off > .25 {
				t.Errorf("%v: component %d at %v lacks %v, give or take %v; want %v of own and .1 of at", r, k, m.Components[k].Mean, note.Missing, note.MissingNoise, want)
			}
		}
		if seen != 2 {
			t.Errorf("%v: %d components, weights %v", r, seen, m.Weights)
		}
		for name, alter := range map[string]func(*release.Release){
			"nothing": func(*release.Release) {},
			"fewer":   func(r *release.Release) { delete(r.Diagnostics.Components[0].Missing, "own") },
			"another": func(r *release.Release) {
				delete(r.Diagnostics.Components[0].Missing, "own")
				r.Diagnostics.Components[0].Missing["else"] = .5
			},
			"counts of more columns, untold": func(r *release.Release) {
				r.Diagnostics.Components = nil
				for i, s := range r.Certificate.Plan {
					if s.Step == "missing cells" {
						r.Certificate.Plan[i].Shape.Of, r.Certificate.Plan[i].Sensitivity, r.Certificate.Plan[i].Noise = 4*s.Shape.Of, 2*s.Sensitivity, 2*s.Noise
					}
				}
			},
			"more than all": func(r *release.Release) { r.Diagnostics.Components[0].Missing["own"] = 1.5 },
		} {
			out := reread(t, result.Release)
			alter(out)
			if v := Verify(out); (v.Faults == nil) != (name == "nothing") {
				t.Errorf("%v, %s: %v", r, name, v.Faults)
			}
		}
	}
}

// TestIncompleteAxisAligned: rows that lack cells count beside the whole ones, in which boxes are
// found: where those of one group lack a cell far more often, its weight and mean are those of all
// rows, and each component says how much is missing. False alarms: below 1e-6, errors being
// eight of the noise and sampling together.
func TestIncompleteAxisAligned(t *testing.T) {
	const n = 20000
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	b := kernel.NewBuilder(2)
	for i := range n {
		row := []float64{20*float64(i%2) + rng.NormFloat64(), 20*float64(i%2) + rng.NormFloat64()}
		if rng.IntN(10) < []int{0, 6}[i%2] {
			row[1] = math.NaN()
		}
		b.Append(row)
	}
	result, err := Fit(context.Background(), b.Protect(privacy.ReplaceOne), Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 2, Delta: 1e-6}, Columns: Named("a", "b"), Method: "axis-aligned", Components: 2})
	if err != nil || result.Release == nil {
		t.Fatalf("%v, %v", err, result)
	}
	out := reread(t, result.Release)
	if v := Verify(out); v.Faults != nil || !v.Replanned {
		t.Error(v)
	}
	groups, _ := out.Model.Split()
	if len(groups) != 2 {
		t.Fatalf("%d components", len(groups))
	}
	for _, i := range groups {
		g, want, missing := out.Model.Components[i], 0., 0.
		if g.Mean[0] > 10 {
			want, missing = 20, .6
		}
		if w := out.Model.Weights[i]; math.Abs(w-.5) > .05 || math.Abs(g.Mean[1]-want) > .3 || math.Abs(out.Diagnostics.Components[i].Missing["b"]-missing) > .08 {
			t.Errorf("at %v: weight %v, misses %v, want .5 at %v and %v", g.Mean, w, out.Diagnostics.Components[i].Missing, want, missing)
		}
	}
}

// TestFewWholeRows: where hardly a row is whole, and few are enough to look for groups, the default
// fits one distribution to the cells that there are, under both relations. The mean of a column has
// an error of about .02 sds, its sd one of 3 %: of 40 such fits none was off by .15 of either.
func TestFewWholeRows(t *testing.T) {
	const n, d = 4000, 12
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 2))
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		b := kernel.NewMixedBuilder(d, 0, nil)
		row, names := make([]float64, d), make([]string, d)
		for range n {
			shared := rng.NormFloat64()
			for j := range d {
				row[j] = math.Pow(10, float64(j%4)) * (5 + .8*rng.NormFloat64() + .6*shared)
				if rng.IntN(6) == 0 {
					row[j] = math.NaN()
				}
				names[j] = string(rune('a' + j))
			}
			b.Append(row)
		}
		result, err := Fit(context.Background(), b.Protect(r), Request{Relation: r, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Columns: Named(names...)})
		if err != nil || result.Release == nil {
			t.Fatalf("%v: %v, %+v", r, err, result)
		}
		g := result.Release.Model.Components[0]
		for j := range d {
			unit := math.Pow(10, float64(j%4))
			if sd := math.Sqrt(g.Cov.At(j, j)) / unit; math.Abs(g.Mean[j]/unit-5) > .25 || math.Abs(sd-1) > .25 {
				t.Errorf("%v: column %s has mean %v and sd %v, want 5 and 1", r, names[j], g.Mean[j]/unit, sd)
			}
		}
	}
}
