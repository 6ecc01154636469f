package kv18

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/query"
)

// findScale takes the octave that most distances of pairs fall in: for a Gaussian, its lower end is
// .65 to 1.32 standard deviations.
//
// Source: [KV18] Section 1 of the restatement. Differs: the octaves of float64 are finitely many,
// so all of them, or those that the bounds on the variance leave and one on each side, get noise,
// Gaussian unless delta is 0, and no delta is spent; pairs are secret and random, not neighbours by
// position; no bin passes that could be noise.
func (r *run) findScale() (doubt string, err error) {
	q := query.PairOctaves{Columns: 1, Low: r.reach.low - 1, High: r.reach.high + 1}
	buckets := int(math.Max(1, math.Min(1<<26, r.rows/2)))
	answer, err := r.pairSum(stepScale, query.Pairs{Queries: []query.PairSum{q}, Buckets: []int{buckets}}, r.share.scale*r.Mu2)
	if err != nil {
		return "", err
	}
	best, last := 0, len(answer.Values)-1
	for bin, count := range answer.Values {
		if count > answer.Values[best] && bin != 1 && bin != last { // those beyond hold many octaves
			best = bin
		}
	}
	switch {
	case answer.Values[best] < seen(r.Problem, r.reach.octaves())*answer.Sigma:
		return "the noise hides the most frequent distance of two rows", nil
	case best == 0:
		return "most pairs of rows have one value: it has no scale", nil
	}
	if r.width = r.c.Width * math.Ldexp(1, r.reach.low+best-2); r.width < narrowest || r.width > widest {
		return "the scale of the rows has no variance in float64: record the column in another unit", nil
	}
	return "", nil
}
