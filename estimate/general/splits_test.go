package general

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// TestChain: five clusters of eight columns, 5 sds apart along a line that is no axis, are found
// with their number open. A tree in several directions has cells wider than a cluster there, and
// joins them.
//
// False-alarm rate: 1e-6.
func TestChain(t *testing.T) {
	const runs = 30
	rng, right := newRand(t), 0
	for range runs {
		p := madeup.Plain{Components: 5, Columns: 8, Placement: madeup.OnLine, Distance: 5}
		in, err := p.Draw(rng.Uint64(), 12000)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([][]float64, 12000)
		for i := range rows {
			rows[i] = in.Rows.RawRowView(i)
		}
		f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 8, Epsilon: 1, Delta: boxedDelta, Noise: fresh})
		if f.Model == nil {
			continue
		}
		if tv, _ := estimatetest.TV(t, in.Truth, withoutBackground(t, f), 4000, rng); tv < madeup.Limit(5, 8, 12000) {
			right++
		}
		if stattest.Enough(right, runs, .55, 1e-6) {
			break
		}
	}
	t.Logf("%d of %d at least", right, runs)
	stattest.GoodAtLeast(t, right, runs, .55, 1e-6)
}

// TestPieces: a line with one Gaussian is one piece, whatever the noise; two that are half as wide
// and 4 of their sds apart are two, where they are.
//
// False-alarm rate: 1e-6, as a piece must take 8 + 1.5 ln n off a sum of squares.
func TestPieces(t *testing.T) {
	rng := newRand(t)
	for range 20 {
		edges, noise := floats.Span(make([]float64, 33), -4, 4), 30.0
		line := func(modes ...float64) privateem.Line {
			out := privateem.Line{Edges: edges, SD: noise, Counts: make([]float64, 34)}
			sd := 1.0
			if len(modes) > 1 {
				sd = .4
			}
			for b := range out.Counts {
				for _, m := range modes {
					cdf := func(x float64) float64 { return math.Erfc((m-x)/sd/math.Sqrt2) / 2 }
					below, above := 0.0, 1.0
					if b > 0 {
						below = cdf(edges[b-1])
					}
					if b < len(edges) {
						above = cdf(edges[b])
					}
					out.Counts[b] += 4000 / float64(len(modes)) * (above - below)
				}
				out.Counts[b] += noise * rng.NormFloat64()
			}
			return out
		}
		one, _, err := pieces(context.Background(), line(0))
		if err != nil {
			t.Fatal(err)
		}
		two, gain, err := pieces(context.Background(), line(-.9, .9))
		if err != nil {
			t.Fatal(err)
		}
		if len(one) != 1 || len(two) != 2 || !(gain > 0) || math.Abs(math.Abs(two[0].Mean())-.9) > .2 {
			t.Errorf("%v, and %v with a gain of %v", one, two, gain)
		}
	}
}
