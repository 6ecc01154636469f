package blackbox

import (
	"math"
	"sync/atomic"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner"
)

// counting is a learner that counts the rows it is given, which no learner may.
type counting struct {
	estimatetest.Signs
	rows *atomic.Int64
}

func (c counting) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	c.rows.Add(int64(len(rows)))
	return c.Signs.LearnMixture(rows, k, seed)
}

// TestLearnersSeeASample: of a large table learners see as many rows as the choice says, however
// many there are, and of a small one all. Under add-or-remove-one that number is binomial, of a
// measured number of rows: seven sds and a hundredth are allowed.
func TestLearnersSeeASample(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		most := Usual().newCutter(problem(rel, 1, 1, 0, 4)).most
		for _, n := range []int{int(most / 2), int(2 * most), int(4 * most)} {
			rows := make([][]float64, n)
			for i := range rows {
				rows[i] = []float64{rng.NormFloat64()}
			}
			seen := counting{rows: new(atomic.Int64)}
			out := fitted(t, estimatetest.Case{Rows: rows, Columns: 1, Relation: rel, Epsilon: 4, Delta: delta, Components: 1, Own: seen, Noise: fresh}, 2)
			want, slack := min(float64(n), most), 1.0
			if want < float64(n) {
				slack = most/100 + 7*math.Sqrt(most)
			}
			if rel == privacy.ReplaceOne && slack > 1 {
				slack = most / 100 // the number of all blocks is a whole one
			}
			if got := float64(seen.rows.Load()); math.Abs(got-want) > slack || out.Model == nil {
				t.Errorf("%v: learners saw %v of %d rows, %v were to be; %v", rel, got, n, want, out.NoRelease)
			}
		}
	}
}

// TestPlenty: beyond the rows that learners see the choice is one and the same, of an ample margin,
// and up to them it is that of all rows.
func TestPlenty(t *testing.T) {
	eachProblem(func(what string, p estimate.Problem) {
		c := Usual().newCutter(p)
		if c.most > mostRows {
			return // no number of rows is ample
		}
		all := c
		all.most = math.Inf(1)
		last := c.cut(c.most)
		if last.margin < Usual().Ample || last.rows != c.most || last != all.cut(c.most) || all.cut(c.most/Usual().Plenty/1.05).margin >= Usual().Ample {
			t.Errorf("%s: learners see up to %v rows, of a margin of %v", what, c.most, last.margin)
		}
		if c.cut(c.most/2) != all.cut(c.most/2) || c.cut(3*c.most) != last || c.cut(1e15) != last {
			t.Errorf("%s: the choice of few rows, or of many", what)
		}
	})
}
