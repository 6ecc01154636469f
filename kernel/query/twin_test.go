package query_test

import (
	"math"
	"math/big"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/query"
)

// The exact twins: a second, dumb implementation of every row map, one row and one coordinate at a
// time, summed in big integers. They share with the maps only the formulas; expNegative and LogOf
// alone are reused, because a share that differs in its last bit rounds to another integer now and
// then (TestExpNegative and TestLogOf compare them with math.Exp and math.Log).

// contribution is the integer vector of one row.
type contribution []*big.Int

func bigs(n int) contribution {
	c := make(contribution, n)
	for i := range c {
		c[i] = new(big.Int)
	}
	return c
}

func isNull(row []float64) bool {
	for _, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return true
		}
	}
	return false
}

func twinImage(a query.Affine, row []float64) (z []float64, n2 float64) {
	for _, w := range a.W {
		first, last := 0, len(w)
		for last > 0 && w[last-1] == 0 {
			last--
		}
		for first < last && w[first] == 0 {
			first++
		}
		s := 0.0
		for j := first; j < last; j++ {
			c := j
			if a.Columns != nil {
				c = a.Columns[j]
			}
			diff := row[c] - a.Center[j]
			s += float64(w[j] * diff)
		}
		z = append(z, s)
		n2 += float64(s * s)
	}
	return z, n2
}

// twinInt rounds to the nearest integer, ties to even; nil if v is no number.
func twinInt(v float64) *big.Int {
	v = math.RoundToEven(v)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	i, _ := new(big.Float).SetFloat64(v).Int(nil)
	return i
}

// twinGram is the upper triangle of h h^T, zero if |h|^2 > bound.
func twinNorm(h []*big.Int) *big.Int {
	n := new(big.Int)
	for _, v := range h {
		if v == nil {
			return big.NewInt(math.MaxInt64)
		}
		n.Add(n, new(big.Int).Mul(v, v))
	}
	return n
}

func twinGram(h []*big.Int) contribution {
	var c contribution
	for i := range h {
		for k := i; k < len(h); k++ {
			c = append(c, new(big.Int).Mul(h[i], h[k]))
		}
	}
	return c
}

func twinOfDirections(q query.Directions, row []float64) contribution {
	zero := bigs(q.Size())
	if isNull(row) {
		return zero
	}
	f, _ := twinImage(q.Map, row)
	n2 := 0.0
	for _, v := range f {
		n2 += float64(v * v)
	}
	f = append([]float64{q.Lift}, f...)
	n2 += float64(q.Lift * q.Lift)
	if !(n2 < math.MaxFloat64) || n2 < 1e-280 {
		largest := 0.0
		for _, v := range f {
			largest = math.Max(largest, math.Abs(v))
		}
		if math.IsNaN(largest) || math.IsInf(largest, 0) {
			return zero
		}
		n2 = 0
		for i := range f {
			f[i] /= largest
			if i > 0 {
				n2 += float64(f[i] * f[i])
			}
		}
		n2 += float64(f[0] * f[0])
	}
	var h []*big.Int
	for _, v := range f {
		h = append(h, twinInt(v*(rowkernels.Headroom(rowkernels.GramBits, len(f), false)/math.Sqrt(n2))))
	}
	if twinNorm(h).Cmp(big.NewInt(1<<(2*rowkernels.GramBits))) > 0 {
		return zero
	}
	return twinGram(h)
}

// twinShares are the posterior shares of all components; nil if there are none.
func twinShares(q query.ClippedMoments, row []float64) []float64 {
	var logs []float64
	best := math.Inf(-1)
	for _, c := range q.Components {
		_, n2 := twinImage(c.Map, row)
		l := math.Inf(-1)
		if !math.IsNaN(n2) && !math.IsInf(n2, 0) {
			l = c.LogWeight - n2/2
			if len(q.Components) == 1 {
				l = 0
			}
		}
		logs = append(logs, l)
		best = math.Max(best, l)
	}
	if math.IsInf(best, -1) {
		return nil
	}
	total := 0.0
	for j := range logs {
		if logs[j]-best > rowkernels.LeastExponent {
			logs[j] = rowkernels.ExpNegative(logs[j] - best)
		} else {
			logs[j] = 0
		}
		total += logs[j]
	}
	for j := range logs {
		if logs[j] /= total; logs[j] < query.MinShare {
			logs[j] = 0
		}
	}
	return logs
}

func twinOfClippedMoments(q query.ClippedMoments, row []float64) contribution {
	zero := bigs(q.Size())
	if isNull(row) {
		return zero
	}
	shares := twinShares(q, row)
	if shares == nil {
		return zero
	}
	bits := query.LinearBits
	if isGram(q) {
		bits = rowkernels.GramBits
	}
	total := new(big.Int)
	var all contribution
	for j, c := range q.Components {
		if c.GateOnly {
			continue
		}
		if shares[j] == 0 {
			all = append(all, bigs(q.Form.Size(c.Map.Out()))...)
			continue
		}
		z, n2 := twinImage(c.Map, row)
		if c.Truncate && n2 > c.Radius*c.Radius {
			all = append(all, bigs(q.Form.Size(c.Map.Out()))...)
			continue
		}
		clip := 1.0
		if n2 > c.Radius*c.Radius {
			clip = c.Radius / math.Sqrt(n2)
		}
		h := twinVector(q, z, clip, c.Radius, shares[j])
		if isGram(q) && len(q.Components) > 1 {
			if most := twinMost(q, len(h), shares[j]); total.Add(total, most).Cmp(big.NewInt(1<<(2*bits))) > 0 || twinNorm(h).Cmp(most) > 0 {
				all = append(all, bigs(q.Form.Size(c.Map.Out()))...)
				continue
			}
		} else if total.Add(total, twinNorm(h)).Cmp(new(big.Int).Lsh(big.NewInt(1), uint(2*bits))) > 0 {
			return zero
		}
		if isGram(q) {
			all = append(all, twinGram(h)...)
			continue
		}
		ints := make([]int64, len(h))
		for i := range h {
			ints[i] = h[i].Int64()
		}
		if !q.Form.NonNegative(ints) {
			return zero
		}
		all = append(all, h...)
	}
	return all
}

// twinMost is the largest |h|^2 of so many entries that a row with that share of one of several
// components may have.
func twinMost(q query.ClippedMoments, entries int, share float64) *big.Int {
	of := 0
	for _, c := range q.Components {
		if !c.GateOnly {
			of += twinEntries(q, c)
		}
	}
	slack := math.Ceil(math.Sqrt(float64(of)) / 2)
	return twinInt(65533 * ((65533-slack)*share + float64(entries)/(4*slack)))
}

// twinEntries is the number of entries of a component's vector in a gram form.
func twinEntries(q query.ClippedMoments, c query.Component) int {
	if q.Form == query.CompletedForm {
		return c.Map.Out() + 2
	}
	return c.Map.Out() + 1
}

// twinLog is ln sum_j exp(LogWeight_j - |z_j|^2/2), -Inf if no term is finite.
func twinLog(side []query.Component, row []float64) float64 {
	var logs []float64
	for _, c := range side {
		if _, n2 := twinImage(c.Map, row); !math.IsNaN(n2) && !math.IsInf(n2, 0) {
			logs = append(logs, c.LogWeight-n2/2)
		}
	}
	if logs == nil || math.IsInf(slices.Max(logs), -1) {
		return math.Inf(-1)
	}
	best, total := slices.Max(logs), 0.0
	for _, l := range logs {
		if l-best > rowkernels.LeastExponent {
			total += rowkernels.ExpNegative(l - best)
		}
	}
	return best + query.LogOf(total)
}

func twinOfLogRatio(q query.LogRatio, row []float64) contribution {
	if isNull(row) {
		return bigs(1)
	}
	f, g := twinLog(q.F, row), twinLog(q.G, row)
	if math.IsInf(f, -1) && math.IsInf(g, -1) {
		return bigs(1)
	}
	clipped := math.Min(math.Max(f-g, -q.Bound), q.Bound)
	return contribution{twinInt(clipped / q.Bound * (1 << 30))}
}

func twinVector(q query.ClippedMoments, z []float64, clip, r, share float64) (h []*big.Int) {
	if isGram(q) {
		scale := q.Headroom() / (r * math.Sqrt(1+q.Lift*q.Lift)) * math.Sqrt(share)
		h = append(h, twinInt(q.Lift*r*scale))
		for _, v := range z {
			h = append(h, twinInt(v*(clip*scale)))
		}
		if q.Form == query.CompletedForm {
			h = append(h, twinRest(z, r, clip*scale))
		}
		return h
	}
	scale := q.Headroom() * share
	last := 0.0
	if q.Form == query.DiagonalForm {
		unit := scale / (math.Sqrt(3) * r)
		h = append(h, twinInt(math.Ceil(r*unit*query.CeilGuard)))
		for _, v := range z {
			h = append(h, twinInt(math.Trunc(v*clip*unit)))
		}
		for _, v := range z {
			h = append(h, twinInt((v*clip)*(v*clip)/r*unit))
		}
		return h
	}
	if q.Form == query.ColumnForm {
		return twinMarginal(q.Lift, z, r, scale)
	}
	unit := scale / (1.5 * r)
	h = append(h, twinInt(math.Ceil(r/2*unit*query.CeilGuard)))
	for _, v := range z {
		h = append(h, twinInt(math.Trunc(v*clip*unit)))
		last += float64((v * clip) * (v * clip))
	}
	return append(h, twinInt(math.Ceil(last/r*unit*query.CeilGuard)))
}

// twinMarginal is the vector of means and variances of the columns.
func twinMarginal(a float64, z []float64, r, scale float64) (h []*big.Int) {
	s, sum := slices.Clone(z), 0.0
	for _, v := range z {
		s = append(s, a*(float64(v*v)-1))
	}
	for _, v := range s {
		sum += float64(v * v)
	}
	clip, last, unit := 1.0, 0.0, scale/(math.Sqrt2*r)
	if sum > r*r {
		clip = r / math.Sqrt(sum)
	}
	h = append(h, twinInt(math.Ceil(r/math.Sqrt2*unit*query.CeilGuard)))
	for _, v := range s {
		h = append(h, twinInt(math.Trunc(v*clip*unit)))
		last += float64((v * clip) * (v * clip))
	}
	return append(h, twinInt(math.Ceil(last/(math.Sqrt2*r)*unit*query.CeilGuard)))
}

// isGram reports the forms that are sums of products.
func isGram(q query.ClippedMoments) bool {
	return q.Form == query.FullForm || q.Form == query.CompletedForm
}

// twinRest is what completes z to the length r, times scale.
func twinRest(z []float64, r, scale float64) *big.Int {
	left := r * r
	sum := 0.0
	for _, v := range z {
		sum += float64(v * v)
	}
	if left -= sum; !(left > 0) {
		return new(big.Int)
	}
	return twinInt(math.Sqrt(left) * scale)
}

func one(size, at int, v int64) contribution {
	c := bigs(size)
	if at >= 0 {
		c[at].SetInt64(v)
	}
	return c
}

func twinOfCount(q query.Count, row []float64) contribution {
	if isNull(row) {
		return bigs(1)
	}
	return one(1, 0, 1)
}

func twinOfCounts(q query.Counts, row []float64) (c contribution) {
	values := row
	if q.Map.W != nil {
		_, n2 := twinImage(q.Map, row)
		values = []float64{n2}
	}
	for j, edges := range q.Edges {
		if len(edges) > 0 {
			c = append(c, twinCounts(q, values[j], j, edges, isNull(row))...)
		}
	}
	return c
}

// twinCounts are those of one list of edges.
func twinCounts(q query.Counts, v float64, j int, edges []float64, null bool) contribution {
	c := bigs(len(edges))
	if q.As == query.Bins {
		c = bigs(len(edges) + 1)
	}
	if q.Center != nil {
		v = math.Abs(v - q.Center[j])
	}
	if null || q.SkipZero && v == 0 {
		return c
	}
	bin := 0
	for i, e := range edges {
		switch {
		case q.As == query.Bins && q.Map.W != nil && !(v < e*e), q.As == query.Bins && q.Map.W == nil && v >= e:
			bin++
		case q.As == query.Bins || math.IsNaN(e):
		case v > e || math.IsNaN(v):
			c[i].SetInt64(1)
			if q.As == query.Balance {
				c[i].SetInt64(-1)
			}
		case q.As == query.Balance:
			c[i].SetInt64(1)
		}
	}
	if q.As == query.Bins {
		c[bin].SetInt64(1)
	}
	return c
}

func twinOfCellCounts(q query.GridCounts, row []float64) contribution {
	if isNull(row) {
		return bigs(q.Size())
	}
	y, _ := twinImage(q.Map, row)
	side := math.Ldexp(1, q.Level)
	at := make([]int, len(y))
	for i, v := range y {
		h := q.HalfWidth[i]
		if math.IsNaN(v) || v < -h || v >= h {
			return bigs(q.Size())
		}
		at[i] = int(math.Min(math.Floor((v/h+1)/2*side), side-1))
	}
	if q.Parents == nil {
		return one(q.Size(), int(query.Pack(at, q.Level)), 1)
	}
	for p, parent := range q.Parents {
		for c := range 1 << len(y) {
			if query.Child(parent, c, len(y), q.Level) == query.Pack(at, q.Level) {
				return one(q.Size(), p<<len(y)+c, 1)
			}
		}
	}
	return bigs(q.Size())
}
