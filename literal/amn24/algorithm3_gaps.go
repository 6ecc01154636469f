package amn24

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/literal/paper"
)

const stepGaps = "gaps"

// gapSteps returns the steps of crude approximation in one column.
func (c Constants) gapSteps() []kernel.Step {
	return []kernel.Step{{Name: stepGaps, Query: papers.SpacingBuckets{}.Kind(), Share: c.CrudeShare, Most: 1, Slack: 1, Source: "AMN24 Algorithm 3"}}
}

// gaps runs the crude approximation in one column, without any bound on it: the gaps between
// consecutive values go to buckets, by their octave a and the place, of width n^2 2^a, where they
// lie; a count gets truncated Laplace noise, and every bucket in which it is more than that noise
// can be is a pair: its place and 2^a. The fullest come first.
//
// Failures: no bucket is released.
//
// Source: [AMN24] Algorithm 3.
// Differs: places are n 2^a wide, and a pair is the place's middle and the sd of a component of n/k
// rows that has such gaps: from the lower end and 2^a a factor of n^3 must be made up for, by a net
// that nobody can enumerate; the noise is integer-valued. One row changes three gaps, so the counts
// by 6 in L1 (Lemma F.5), by 3 where rows are added or removed.
func (r *run) gaps(mu float64) (found crude, none *estimate.NoRelease, err error) {
	q := papers.SpacingBuckets{Rows: r.c.bucketRows(r.n)}
	buckets, support, err := pure.TruncatedSpacings(r.a, stepGaps, q, privacy.PureOfMu(mu))
	if err != nil {
		return found, nil, err
	}
	if len(buckets) == 0 {
		return found, &estimate.NoRelease{
			Reason: fmt.Sprintf("no bucket holds more gaps between consecutive values than noise can be, %.0f", support)}, nil
	}
	slices.SortStableFunc(buckets, func(a, b pure.Bucket) int { return cmp.Compare(b.Count, a.Count) })
	for _, b := range buckets {
		found.pairs = append(found.pairs, r.c.told(b, r.n/float64(r.k)))
	}
	if found.factor = within(r.c.Factor, r.n); r.c.Spread > 0 {
		found.fewer = func() (few []pair) {
			h := histogram{buckets[:min(len(buckets), mostExplained)], support, r.n, r.c.told}
			for _, p := range h.explained(r.k) {
				few = append(few, p.pair)
			}
			return few
		}
	}
	return found, nil, nil
}

// bucketRows returns N: places are N^2 gaps wide.
func (c Constants) bucketRows(n float64) int {
	rows := n
	if c.Places > 0 {
		rows = math.Ceil(math.Sqrt(c.Places * n))
	}
	return int(math.Max(2, math.Min(rows, 1<<24)))
}

// told returns the pair of a bucket, for a component of so many rows.
func (c Constants) told(b pure.Bucket, rows float64) pair {
	if c.Spread == 0 {
		return paper.Line(b.Low, b.Length)
	}
	return paper.Line(b.Low/2+b.High/2, b.Length*math.Max(1, c.Spread*rows))
}
