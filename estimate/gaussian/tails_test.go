package gaussian

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/columns"
)

// TestTailsWithoutVariance: a column is said to have no sd where that is so, and not where it is
// merely skewed. Of 36 fits of skewed columns none had the flag, of 12 of Cauchy columns all;
// before, 34 of the 36 had it.
func TestTailsWithoutVariance(t *testing.T) {
	rng := newRand(t)
	const n, d, runs = 20000, 2, 6
	for _, law := range []struct {
		name   string
		draw   func(*rand.Rand) float64
		absent bool // of the variance
	}{
		{"exponential", func(r *rand.Rand) float64 { return r.ExpFloat64() }, false},
		{"ages", func(r *rand.Rand) float64 {
			return math.Min(110, math.Round(12*(r.ExpFloat64()+r.ExpFloat64()+r.ExpFloat64())))
		}, false},
		{"lognormal", func(r *rand.Rand) float64 { return math.Exp(.5 * r.NormFloat64()) }, false},
		{"Cauchy", func(r *rand.Rand) float64 { return math.Tan(math.Pi * (r.Float64() - .5)) }, true},
	} {
		said := 0
		for i := range runs {
			if right := i - said; (law.absent && said >= runs/2 || !law.absent && right >= runs/2) && !long() {
				break // whatever comes of the others: three wrong ones of six are let pass
			}
			o := gaussianSetting(d, n, privacy.ReplaceOne, 1, 0).fit(t, filled(n, d, func(int, int) float64 { return law.draw(rng) }))
			if o.Model == nil {
				t.Fatalf("%s: %+v", law.name, o.NoRelease)
			}
			for _, f := range o.Diagnostics.Flags {
				if f.Code == flags.HeavyTail {
					said++
					break
				}
			}
		}
		t.Logf("%s: %d of %d fits", law.name, said, runs)
		if law.absent {
			said = runs - said
		}
		stattest.GoodAtMost(t, said, runs, .05, 1e-4)
	}
}

// TestClippedColumns: of columns that were measured by themselves only those are named of which
// much is an estimate of what clipping took, whatever it took from all of them together.
func TestClippedColumns(t *testing.T) {
	p := &plain{Fit: &Fit{}, lost: .5}
	p.Run.Columns = &program.Columns{}
	p.Space.Columns = []int{1, 4, 5}
	p.table.Columns = []columns.Column{{Tail: 3}, {}, {Tail: 4}}
	if of, lost := p.clipped(); !slices.Equal(of, []int{1, 5}) || lost != .5 {
		t.Errorf("columns %v lost %v, want 1 and 5, which have tails", of, lost)
	}
	p.table.Given = []float64{.1, 0, .4}
	if of, lost := p.clipped(); !slices.Equal(of, []int{5}) || lost != .4 {
		t.Errorf("columns %v lost %v, want 5 alone", of, lost)
	}
}
