package pure

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// SelectOnLine does what SelectLocal does for the options of papers.LineDeficits, infinitely many:
// those whose S is Below or more count as infinitely many of constant S = Below, and l.Unlisted is
// Below whatever l says. One leaf.
//
// Theorem: as for SelectLocal. The list of options depends on the rows, but the mechanism is a
// function of S alone, defined for all pairs and of sensitivity 1: those that are not listed are
// exactly those with S = Below, they are never chosen (the step always fails unless Below exceeds
// Eta+2), and volumes count them as infinitely many.
//
// Proof: selectlocal_proof.md, step 8; kernel/query/papers/linedeficits_proof.md.
//
// Not protected: the time, as for everything in this package; it depends on how many scales and
// places the rows span.
//
// Source: [AMN24] Theorem C.3; Algorithm 2.
func SelectOnLine(a *core.SubBudget, step string, q papers.Selection, l Local, epsilon float64) (pair papers.LinePair, ok bool, err error) {
	if len(q.Scores) != 1 {
		return pair, false, fmt.Errorf("kernel: step %q: want one leaf, got %d scores", step, len(q.Scores))
	}
	score, ok := q.Scores[0].(papers.LineDeficits)
	if !ok {
		return pair, false, fmt.Errorf("kernel: step %q: want papers.LineDeficits, got a %T", step, q.Scores[0])
	}
	l.Unlisted = int64(score.Below)
	values, err := selectLocal(a, step, q, l, epsilon, func(s papers.Score, rows []float64, d int) ([]int64, func(i int) []float64) {
		pairs, scores := s.(papers.LineDeficits).Listed(rows, d)
		return scores, func(i int) []float64 { return []float64{1, float64(pairs[i].Scale), float64(pairs[i].Place)} }
	})
	if err != nil || len(values) < 3 || values[0] != 1 {
		return pair, false, err
	}
	return papers.LinePair{Scale: int64(values[1]), Place: int64(values[2])}, true, nil
}
