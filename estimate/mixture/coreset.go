package mixture

import (
	"math"
	"sort"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"gonum.org/v1/gonum/mat"
)

// A coreset is a weighted set of points in a few coordinates: the released leaves of a noisy tree of counts. Everything done with
// it is post-processing.
type coreset struct {
	dim    int
	points [][]float64
	weight []float64 // noisy counts, positive
	// cell is the variance within a leaf per coordinate: (side/2)^2/3 of the uniform distribution.
	cell [][]float64
	// sd is the noise of one count; total the sum of the weights.
	sd, total float64
}

// Utility constants of the tree ([KSSU19] Section C.3 of the restatement).
const (
	expandAbove = 4.0 // a cell is split if its count exceeds this many sds of one count
	keepAbove   = 2.0 // a cell of the first level is kept if its count exceeds this many sds
)

// treeDimension is the number of leading directions that the tree sees.
func treeDimension(d int) int {
	if d == 4 {
		return 3 // the fourth direction is worth less than finer cells
	}
	return min(d, 4)
}

// treeLevels are the first and the last level (bits per axis) of the tree in q dimensions.
func treeLevels(q int, fine bool) (first, last int) {
	first, last = 2, 4
	switch q {
	case 1:
		first, last = 4, 8
	case 2:
		first, last = 3, 7
	case 3:
		first, last = 2, 5
	}
	if fine {
		last++
	}
	return first, last
}

// buildCoreset measures a dyadic tree of counts in the frame's coordinates, one measurement per level, and makes it consistent:
// the children of a split cell share its count, by projection of their noisy counts onto the simplex, so that no mass is lost
// where cells are too small to stand out one by one.
//
// Cells of fewer than least rows are never split.
//
// Source: [KSSU19] Section C.3 of the restatement.
// Differs: the projection; the restatement drops children below a threshold, and their rows with them.
func buildCoreset(a *kernel.Allotment, step string, frame query.Affine, half []float64, first, last int, least, mu float64) (*coreset, error) {
	q := frame.Out()
	per := mu / math.Sqrt(float64(last-first+1))
	c := &coreset{dim: q}
	var parents []uint64 // split cells of the level before, and their counts
	var totals []float64
	for level := first; level <= last && (level == first || len(parents) > 0); level++ {
		ans, err := a.Sum(step, query.CellCounts{Frame: frame, HalfWidth: half, Level: level, Parents: parents}, per)
		if err != nil {
			return nil, err
		}
		c.sd = ans.Sigma
		counts := ans.Values
		if level == first {
			keepLarge(counts, keepAbove*c.sd)
		} else {
			for i, total := range totals {
				toSimplex(counts[i<<q:(i+1)<<q], total)
			}
		}
		var next []uint64
		var nextTotals []float64
		for i, count := range counts {
			key := uint64(i)
			if level > first {
				key = childKey(parents, i, q, level)
			}
			switch {
			case count > max(expandAbove*c.sd, least) && level < last && len(next) < mostSplit:
				next, nextTotals = append(next, key), append(nextTotals, count)
			case count > 0:
				c.add(key, level, half, count)
			}
		}
		parents, totals = next, nextTotals
	}
	return c, nil
}

// mostSplit bounds the cells that one level may split.
const mostSplit = 1 << 14

// keepLarge sets counts below low to zero.
func keepLarge(counts []float64, low float64) {
	for i, v := range counts {
		if v < low {
			counts[i] = 0
		}
	}
}

// toSimplex moves counts to the nearest non-negative vector with the given sum.
func toSimplex(counts []float64, total float64) {
	sorted := append([]float64(nil), counts...)
	sort.Sort(sort.Reverse(sort.Float64Slice(sorted)))
	sum, shift := 0.0, 0.0
	for i, v := range sorted {
		sum += v
		if t := (sum - total) / float64(i+1); v > t {
			shift = t
		}
	}
	for i, v := range counts {
		counts[i] = math.Max(0, v-shift)
	}
}

func childKey(parents []uint64, i, q, level int) uint64 {
	return query.Child(parents[i>>q], i&(1<<q-1), q, level)
}

func (c *coreset) add(key uint64, level int, half []float64, count float64) {
	at := query.Unpack(key, c.dim, level)
	p, v := make([]float64, c.dim), make([]float64, c.dim)
	for i, h := range half {
		side := 2 * h / math.Ldexp(1, level)
		p[i] = -h + (float64(at[i])+.5)*side
		v[i] = side * side / 12
	}
	c.points = append(c.points, p)
	c.cell = append(c.cell, v)
	c.weight = append(c.weight, count)
	c.total += count
}

// meanCell is the weighted mean within-cell variance per coordinate.
func (c *coreset) meanCell() []float64 {
	m := make([]float64, c.dim)
	for i, v := range c.cell {
		for l := range m {
			m[l] += c.weight[i] * v[l] / c.total
		}
	}
	return m
}

// covariance is the weighted covariance of the points, cells included.
func (c *coreset) moments() (mean []float64, cov *mat.SymDense) {
	mean = make([]float64, c.dim)
	for i, p := range c.points {
		for l, x := range p {
			mean[l] += c.weight[i] * x / c.total
		}
	}
	cov = mat.NewSymDense(c.dim, nil)
	for i, p := range c.points {
		w := c.weight[i] / c.total
		for l := range p {
			for m := l; m < c.dim; m++ {
				cov.SetSym(l, m, cov.At(l, m)+w*(p[l]-mean[l])*(p[m]-mean[m]))
			}
			cov.SetSym(l, l, cov.At(l, l)+w*c.cell[i][l])
		}
	}
	return mean, cov
}
