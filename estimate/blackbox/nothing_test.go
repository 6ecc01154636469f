package blackbox

import (
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestNoBlocks: where the rows that are counted, with noise, are too few for any block and the
// public number of them is not, a fit ends in a reason.
func TestNoBlocks(t *testing.T) {
	const d, epsilon = 1, 20
	c, most := Usual().newCutter(problem(privacy.ReplaceOne, 1, d, 0, epsilon)), 1
	for c.cut(float64(most)).margin == 0 {
		most++
	}
	if c.cut(float64(most)).margin < hopeless {
		t.Fatalf("%d rows have a margin of %v: the test could not fail", most, c.cut(float64(most)).margin)
	}
	rng := newRand(t)
	for n := most; n < most+20; n += 4 {
		rows := make([][]float64, n)
		for i := range rows {
			for range d {
				rows[i] = append(rows[i], rng.NormFloat64())
			}
		}
		for range 8 {
			fitted(t, estimatetest.Case{Rows: rows, Columns: d, Relation: privacy.ReplaceOne, Epsilon: epsilon, Delta: delta, Components: 1, Noise: fresh}, 1)
		}
	}
}
