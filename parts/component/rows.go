package component

import "math"

// RowCount is the number of good rows, those that are not null, as far as it is released: the
// inverse-variance mean of several noisy counts.
type RowCount struct {
	Public      float64 // n, or NaN where it is private
	sum, weight float64
}

// Add takes a released number of good rows and the sd of its noise.
func (r *RowCount) Add(count, sd float64) {
	r.sum += count / (sd * sd)
	r.weight += 1 / (sd * sd)
}

// missingSDs: where n is public the number of good rows is n unless the released counts say
// otherwise by this many noise sds. A guess.
const missingSDs = 3.5

// Good returns what the counts say together, or the public n if they agree with it.
func (r *RowCount) Good() float64 {
	count, sd := r.Mean(), 1/math.Sqrt(r.weight)
	if math.Abs(count-r.Public) < missingSDs*sd {
		return r.Public
	}
	return math.Max(count, 1)
}

// Variance returns that of the noise of Mean.
func (r *RowCount) Variance() float64 { return 1 / r.weight }

// Mean returns what the counts say, without the public n.
func (r *RowCount) Mean() float64 { return r.sum / r.weight }
