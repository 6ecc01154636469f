package tylerpress

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var (
	bothRelations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
	allShapes     = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}
)

// fresh has another seed every time.
func fresh() *rand.Rand { return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) }

func newRand(t *testing.T) *rand.Rand { return rand.New(rand.NewPCG(stattest.Seed(t), 1)) }

// BARS
func TestEllipticalBars(t *testing.T) {
	estimatetest.Bars(t, fresh(), NewElliptical(), 9, []estimatetest.Bar{
		{Nu: 5, Columns: 2, Rows: 5000, Most: .095}, {Nu: 5, Columns: 5, Rows: 10000, Most: .083}, {Nu: 10, Columns: 5, Rows: 10000, Most: .073},
		{Nu: 5, Columns: 10, Rows: 20000, Most: .113}, {Nu: 10, Columns: 10, Rows: 20000, Most: .098},
		{Nu: 5, Columns: 5, Rows: 100000, Most: .027}, {Nu: 10, Columns: 10, Rows: 100000, Most: .041},
	})
}

// TestEllipticalShapes: other relations, shapes and laws end in errors of the size that their rows
// allow.
func TestEllipticalShapes(t *testing.T) {
	for _, rel := range bothRelations {
		for _, law := range []string{"gaussian", "laplace", "t5"} {
			limit := .3
			if law == "laplace" {
				limit = .5
			}
			if m := estimatetest.Median(estimatetest.HeavyErrors(t, fresh(), NewElliptical(), law, 3, 8000, 9, rel)); !(m < limit) {
				t.Errorf("%v %s: median error %v", rel, law, m)
			}
		}
		for _, shape := range allShapes[1:] {
			for _, d := range []int{2, 9} {
				t.Run(fmt.Sprint(rel, shape, d), func(t *testing.T) { estimatetest.HeavyShape(t, fresh(), NewElliptical(), rel, shape, d, .5, .2) })
			}
		}
	}
}

// What every fit must hold, see there.
func TestEllipticalEveryTable(t *testing.T) { estimatetest.EveryTable(t, newRand(t), NewElliptical()) }
func TestEllipticalReplay(t *testing.T)     { estimatetest.Replayed(t, newRand(t), NewElliptical()) }
func TestEllipticalNoiseOnly(t *testing.T)  { estimatetest.NoiseOnly(t, newRand(t), NewElliptical()) }
func TestEllipticalTooFewRows(t *testing.T) { estimatetest.TooFewRows(t, fresh(), NewElliptical()) }
