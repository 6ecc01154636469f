package general

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/madeup"
)

// TestSure: more noise and closer components make a number less sure, which is never certain, and
// the other number is one less only where two are close.
func TestSure(t *testing.T) {
	for _, c := range []struct {
		found          int
		noise, closest float64
		confidence     float64
		or             int
	}{
		{3, .1, 3, .99, 4},
		{3, .5, 3, .90, 4},
		{3, 1, 3, .77, 4},
		{3, .1, 1.5, .94, 2},
		{2, .1, .5, .01, 1},
		{1, .02, math.Inf(1), .95, 2},
		{1, .1, math.Inf(1), .67, 2},
		{1, 1, math.Inf(1), .08, 2},
		{2, 1e-300, math.Inf(1), .99, 3},
		{2, 1e300, -1e300, 0, 1},
	} {
		want := estimate.Number{Found: c.found, Confidence: c.confidence, Or: c.or}
		if got := *sure(c.found, c.noise, c.closest); got != want {
			t.Errorf("%+v: got %+v", c, got)
		}
	}
}

// TestNumberIsSaid: a number that is plain is called sure and one that noise hides is not, where it
// was open; where it was given nothing is said.
//
// False-alarm rate: below 1e-3, of seven fits of each of which four are so: 205 of 210 were. Fits
// end with the fourth.
func TestNumberIsSaid(t *testing.T) {
	rng := newRand(t)
	for _, c := range []struct {
		clusters, columns, rows int
		gap                     float64
		said                    func(confidence float64) bool
	}{
		{3, 2, 6_000, 6, func(x float64) bool { return x >= .95 }},
		{2, 5, 1_000, 3.5, func(x float64) bool { return x < .7 }},
	} {
		said := 0
		for i := 0; i < 8 && said < 4; i++ {
			p := madeup.Plain{Components: c.clusters, Columns: c.columns, Placement: madeup.OnLine, Distance: c.gap}
			table, err := p.Draw(rng.Uint64(), c.rows)
			if err != nil {
				t.Fatal(err)
			}
			rows := make([][]float64, c.rows)
			for r := range rows {
				rows[r] = table.Rows.RawRowView(r)
			}
			of := estimatetest.Case{Rows: rows, Columns: c.columns, Mu: muOne, MaxComponents: 10, Noise: fresh}
			if i == 0 {
				of.Components = c.clusters
			}
			switch n := estimatetest.RunChecked(t, tested, of).Diagnostics.Number; {
			case i == 0 && n != nil:
				t.Errorf("%d were asked for: got %+v", c.clusters, n)
			case i > 0 && n != nil && c.said(n.Confidence):
				said++
			case i > 0:
				t.Logf("%d clusters: %+v", c.clusters, n)
			}
		}
		if said < 4 {
			t.Errorf("%d clusters: said in %d of 7 fits", c.clusters, said)
		}
	}
}
