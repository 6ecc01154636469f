package estimatetest

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Loss is what one run reveals about which of two neighbouring tables it saw.
type Loss struct {
	// Ratio is ln(P(transcript | own rows)/P(transcript | other rows)): no attack on the released
	// values beats it. It is exact but for the rounding of noise to integers, and leaves histograms
	// of gaps out: what passes their thresholds says more than sums do; and tests of blocks that
	// agree, with what they mask.
	Ratio float64
	// Path is the sum of |difference of the exact sums|^2/sigma^2 over the run, that of blocks'
	// agreement included: at most mu^2 on every path.
	Path float64
	// ByStep is Path, by step.
	ByStep map[string]float64
}

// Neighbours fits c, then replays the answers on the table other, and fails the test if the second
// run asks or pays anything else: then it branched on something that was not released. Null rows
// are rows of NaN.
//
// Where pairs of rows are measured, both runs draw the same pairs of places in the table, and the
// loss is that of someone who sees the draws too, which only helps. So a row that is replaced must
// keep its place, and the noise must be seeded.
func Neighbours(tb testing.TB, e estimate.Estimator, c Case, other [][]float64) (Fit, Loss) {
	tb.Helper()
	var own, again kerneltest.Transcript
	c.Noise.Record = &own
	f := Run(tb, e, c)
	if f.Session == nil {
		return f, Loss{}
	}
	c2 := c
	c2.Rows, c2.Noise.Replay, c2.Noise.Record = other, &own, &again
	if f2 := Run(tb, e, c2); (f2.Model == nil) != (f.Model == nil) {
		tb.Error("the same released values ended in another outcome")
	}
	if !SameQuestions(own, again) {
		tb.Errorf("the same released values led to other questions: %d measurements and %d", len(own.Steps), len(again.Steps))
		return f, Loss{}
	}
	factor := c.Noise.NoiseFactor
	if factor == 0 {
		factor = 1
	}
	return f, lossOf(own, again, c, other, factor)
}

// summed is what sums over rows and over pairs of rows have in common.
type summed interface {
	Sensitivity(privacy.Relation) float64
	Weight(i int) float64
	Unit() float64
}

func lossOf(own, other kerneltest.Transcript, c Case, rows [][]float64, factor float64) Loss {
	l := Loss{ByStep: map[string]float64{}}
	for k, asked := range own.Queries {
		if gaps, ok := asked.(query.SpacingMasses); ok {
			step := gapLoss(gaps, c, rows, own.Mus[k])
			l.Path += step
			l.ByStep[own.Steps[k]] += step
			continue
		}
		if _, ok := asked.(blocks.Stability); ok {
			if len(own.Sums[k]) == 0 {
				continue // the mask, which the plan has paid for
			}
			step := math.Pow(float64(own.Sums[k][0]-other.Sums[k][0])*own.Mus[k], 2)
			l.Path += step
			l.ByStep[own.Steps[k]] += step
			continue
		}
		q, ok := asked.(summed)
		if _, pairs := asked.(query.Pairs); !ok || pairs && c.Noise.Fresh {
			panic("estimatetest: a query that is not a sum, or pairs that nobody can draw again")
		}
		for i, mine := range own.Sums[k] {
			theirs := other.Sums[k][i]
			if mine == theirs {
				continue
			}
			sigma := q.Sensitivity(c.relation()) / own.Mus[k] * q.Weight(i)
			y := own.Answers[k][i] / q.Unit()
			a, b := (y-float64(mine))/sigma/factor, (y-float64(theirs))/sigma/factor
			l.Ratio += (b - a) * (b + a) / 2
			step := math.Pow(float64(mine-theirs)/sigma, 2)
			l.Path += step
			l.ByStep[own.Steps[k]] += step
		}
	}
	return l
}

// gapLoss returns the part of Path for a spacing histogram: over the buckets that are empty on
// neither side, as delta pays for the others.
func gapLoss(q query.SpacingMasses, c Case, other [][]float64, mu float64) (loss float64) {
	sigma := q.Sensitivity(c.relation()) / mu
	theirs := gapMasses(q, other, c.Columns)
	for bucket, mine := range gapMasses(q, c.Rows, c.Columns) {
		if m, ok := theirs[bucket]; ok {
			loss += math.Pow(float64(mine-m)/sigma, 2)
		}
	}
	return loss
}

// gapMasses returns the exact masses of the buckets that are not empty; the Mass of the keys is
// left 0.
func gapMasses(q query.SpacingMasses, rows [][]float64, d int) map[query.SpacingMass]int64 {
	var cells []float64
	for _, r := range rows {
		cells = append(cells, r...)
	}
	leaf := make([]int, len(rows))
	q.Partition.Sorter(d).Sort(leaf, cells)
	values := make([][]float64, q.Partition.Leaves())
	for i, l := range leaf {
		if l >= 0 {
			values[l] = append(values[l], rows[i][q.Column])
		}
	}
	masses := map[query.SpacingMass]int64{}
	for l, v := range values {
		slices.Sort(v)
		for _, m := range q.Masses(l, v) {
			masses[query.SpacingMass{Leaf: m.Leaf, Scale: m.Scale, Place: m.Place}] += m.Mass
		}
	}
	return masses
}

// SameQuestions reports whether two runs took the same steps and asked the same queries at the same
// prices, to the last bit.
func SameQuestions(a, b kerneltest.Transcript) bool {
	return kerneltest.Same(a.Steps, b.Steps) && kerneltest.Same(a.Mus, b.Mus) && kerneltest.Same(a.Queries, b.Queries)
}
