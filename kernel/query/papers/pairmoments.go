package papers

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// PairMoments asks, over pairs, for the second moment of y = W(x-x')/sqrt2, clipped to |y| <=
// Radius, and for the number of pairs. If Truncate, pairs with |y| > Radius count for neither.
//
// Answer (see Read): r^2 times the number of pairs, then the upper triangle of sum y y^T, row by
// row, all in the unit of y^2.
//
// Privacy. A pair adds (c, h h^T) with h = round(q y/r), |h|^2 < 2^(2B) CHECKED in integers for
// every pair, and c = q^2 <= 2^(2B); a pair that fails, has no finite image or is truncated adds
// zero. After division by the weights the norm is that of (c, the whole matrix h h^T). One pair
// instead of another: the counts cancel, and |h h^T - k k^T|_F^2 = |h|^4 + |k|^4 - 2<h,k>^2 <= 2
// 2^(4B). One pair more or less, or instead of one that adds zero: c^2 + |h|^4 <= 2 2^(4B). Hence
// PairSensitivity = sqrt2 2^(2B): the count is free.
//
// Source: [KSSU19] Sections A.6, B.6 and B.7 of the restatement; integers as in ClippedMoments.
type PairMoments struct {
	Map      query.Affine // its Center does not matter
	Radius   float64      // r, from 1e-140 to 1e140
	Truncate bool
}

// PairSpread asks, over pairs, for the sum of s = min(|W(x-y)|^2/2, Bound) and for the number of
// pairs; a pair whose image overflows counts with s = Bound.
//
// Answer (see Read): the sum of s - Bound/4, then .6614 Bound times the number of pairs.
//
// Privacy. A pair adds (u, c) with the integers u = round(2^30 s/Bound) - 2^28, so -2^28 <= u <= 3
// 2^28, checked, and c = pairUnits, the largest with c^2 + (3 2^28)^2 <= 2^60. One pair instead of
// another: the counts cancel, and u changes by at most 2^30. One pair more or less, or instead of
// one with a null row, which adds zero: u^2 + c^2 <= 2^60. Hence PairSensitivity = 2^30, which is
// Bound: the count is nearly free (the sum's noise is 1.07 sigma).
//
// Source: [KSSU19] Sections A.6 and B.6 of the restatement. Differs: sum and count in one release.
type PairSpread struct {
	Map   query.Affine // its Center does not matter
	Bound float64      // v, from 1e-280 to 1e280, in the unit of |W(x-y)|^2
}

const (
	spreadUnits = 1 << 30
	pairUnits   = 710_213_459 // of the count: .6614 2^30
)

// Kind returns "pair moments".
func (PairMoments) Kind() string { return "pair moments" }

// Kind returns "pair spread".
func (PairSpread) Kind() string { return "pair spread" }

// Validate returns an error if the radius or the frame cannot be used.
func (q PairMoments) Validate(d int) error {
	if !(q.Radius >= 1e-140 && q.Radius <= 1e140) {
		return fmt.Errorf("query: PairMoments.Radius: want a number from 1e-140 to 1e140, got %v", q.Radius)
	}
	return linear(q.Map, d).Validate(d)
}

// Validate returns an error if the bound or the frame cannot be used.
func (q PairSpread) Validate(d int) error {
	if !(q.Bound >= 1e-280 && q.Bound <= 1e280) {
		return fmt.Errorf("query: PairSpread.Bound: want a number from 1e-280 to 1e280, got %v", q.Bound)
	}
	return linear(q.Map, d).Validate(d)
}

// Size returns 1 + D(D+1)/2 for D coordinates of y.
func (q PairMoments) Size() int { return 1 + q.Map.Out()*(q.Map.Out()+1)/2 }

// Size returns 2.
func (PairSpread) Size() int { return 2 }

// PairSensitivity returns sqrt2 2^(2B).
func (PairMoments) PairSensitivity() float64 {
	return query.ReplaceFactor(privacy.ReplaceOne) * rowkernels.GramBound
}

// PairSensitivity returns 2^30.
func (PairSpread) PairSensitivity() float64 { return spreadUnits }

// Weight returns 1 for the count and the diagonal, 1/sqrt2 off it.
func (q PairMoments) Weight(i int) float64 {
	if i == 0 {
		return 1
	}
	return query.TriangleWeight(i-1, q.Map.Out())
}

// Weight returns 1.
func (PairSpread) Weight(int) float64 { return 1 }

// headroom returns the scale of h that leaves room for the entry 1 of a counted pair, see
// pairMomentsMap.
func (q PairMoments) headroom() float64 {
	return rowkernels.Headroom(rowkernels.GramBits, q.Map.Out()+1, false)
}

// Unit returns (r/q)^2.
func (q PairMoments) Unit() float64 {
	u := q.Radius / q.headroom()
	return u * u
}

// Unit returns Bound 2^-30.
func (q PairSpread) Unit() float64 { return q.Bound / spreadUnits }

// Read splits an answer, in the query's unit, into the noisy number of pairs, whose noise sd is
// sigma/r^2, and the upper triangle of the noisy sum of y y^T.
func (q PairMoments) Read(values []float64) (pairs float64, second []float64) {
	return values[0] / (q.Radius * q.Radius), values[1:]
}

// Read splits an answer, in the query's unit, into the noisy sum of s, noise sd 1.07 sigma, and the
// noisy number of pairs, noise sd 1.51 sigma/Bound. Their noises are correlated (.35).
func (q PairSpread) Read(values []float64) (sum, pairs float64) {
	pairs = values[1] / q.Bound * (float64(spreadUnits) / pairUnits)
	return values[0] + pairs*q.Bound/4, pairs
}

// Compile returns the map of differences.
func (q PairMoments) Compile(d int) query.RowMap {
	g := rowkernels.NewGram(q.Map.Out() + 1)
	m := &pairMomentsMap{View: linear(q.Map, d).View(d), q: q, gram: g, triangle: make([]int64, g.Dim*(g.Dim+1)/2)}
	m.Z = g.H[1:g.Dim] // rounded in place
	return m
}

// pairMomentsMap adds up Gram matrices of (1, h): the first entry of the triangle is then the
// number of pairs that passed the check (1 + |h|^2 <= 2^(2B)), the rest of its first row is left
// out of the answer, and what follows is the triangle of h h^T.
type pairMomentsMap struct {
	*rowkernels.View
	q        PairMoments
	gram     *rowkernels.Gram
	triangle []int64
}

// Add maps differences panel by panel.
func (m *pairMomentsMap) Add(sum []int64, rows []float64) {
	var factor rowkernels.Column
	q, r := m.q.headroom(), m.q.Radius
	most := float64(2 * float64(r*r)) // of |W(x-x')|^2
	m.Each(rows, func(int) {
		for i, n := range &m.Norm2 {
			m.gram.H[0][i] = 1
			switch {
			case !rowkernels.Finite(n) || m.q.Truncate && n > most: // fails the check
				m.gram.H[0][i], factor[i] = math.NaN(), math.NaN()
			case n > most:
				factor[i] = q / math.Sqrt(n)
			default:
				factor[i] = q / (math.Sqrt2 * r)
			}
		}
		m.gram.RoundAll(&factor, &rowkernels.Column{})
		m.gram.Add(m.triangle)
	})
	m.gram.Flush(m.triangle)
	sum[0] += m.triangle[0] * int64(q) * int64(q)
	for i, v := range m.triangle[m.gram.Dim:] {
		sum[1+i] += v
	}
	clear(m.triangle)
}

// Compile returns the map of differences.
func (q PairSpread) Compile(d int) query.RowMap {
	return &pairSpreadMap{linear(q.Map, d).View(d), q.Bound}
}

type pairSpreadMap struct {
	*rowkernels.View
	bound float64
}

// Add maps differences panel by panel.
func (m *pairSpreadMap) Add(sum []int64, rows []float64) {
	m.Each(rows, func(n int) {
		for r := range n {
			if m.Null(r) { // a pair with a null row
				continue
			}
			u := int64(spreadUnits)
			// false for NaN, from an image that overflows
			if share := m.Norm2[r] / 2 / m.bound; share < 1 {
				u = int64(rowkernels.Nearest(float64(share * spreadUnits)))
			}
			sum[0] += min(max(u, 0), spreadUnits) - spreadUnits/4
			sum[1] += pairUnits
		}
	})
}
