package single

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/query"
)

// The grid of |z|^2 on which a radius is looked for: geometric from d/radialLow to radialHigh d.
const (
	radialLow   = 32
	radialHigh  = 1e4
	radialRatio = 1.2
)

// radial is a released histogram of q = |z|^2 over the rows, z in the working coordinates of a preconditioner.
type radial struct {
	d      int
	edges  []float64 // of q
	counts []float64 // of the bins between them: one more
	sigma  float64   // noise sd of each count
	rows   float64
}

// radialEdges is the public grid: finer in many columns, where |z|^2 varies less.
func radialEdges(d int) []float64 {
	k := float64(d)
	ratio := math.Min(radialRatio, 1+math.Sqrt(1/(2*k)))
	var edges []float64
	for q := k / radialLow; q < radialHigh*k; q *= ratio {
		edges = append(edges, q)
	}
	return edges
}

// countRadii releases the histogram of |root W(y-m)|^2 between edges. All bins together cost mu: a row is in one of them. ok is false
// if the frame does not fit float64.
//
// Source: [TYLERPRESS] Section 3, private radius.
// Differs: one histogram in place of a bisection. It costs no more and shows the whole law: also what clipping cuts off.
func (r *run) countRadii(step string, st *state, root, mu float64, edges []float64) (h *radial, ok bool, err error) {
	frame, ok := st.frame(root)
	if !ok {
		return nil, false, nil
	}
	q := query.DistanceCounts{Frame: frame}
	for _, e := range edges {
		q.Edges = append(q.Edges, math.Sqrt(e))
	}
	answer, err := r.a.Sum(r.prefix+step, q, mu)
	if err != nil {
		return nil, false, err
	}
	return &radial{d: st.rank(), edges: edges, counts: answer.Values, sigma: answer.Sigma, rows: r.goodRows()}, true, nil
}

// beyond is the noisy number of rows above edge i.
func (h *radial) beyond(i int) float64 {
	sum := 0.0
	for _, c := range h.counts[i+1:] {
		sum += c
	}
	return sum
}

// upTo is the number of rows below each edge and at last of all, without decreases: the noise is pooled, and shared out such that the
// whole is rows.
func (h *radial) upTo() []float64 {
	sums, total := make([]float64, len(h.counts)), 0.0
	for i, c := range h.counts {
		total += c
		sums[i] = total
	}
	missing := (h.rows - total) / float64(len(sums))
	for i := range sums {
		sums[i] += missing * float64(i+1)
	}
	isotonic(sums)
	for i := range sums {
		sums[i] = math.Min(math.Max(sums[i], 0), h.rows)
	}
	return sums
}

// isotonic makes x the nearest non-decreasing sequence by pooling adjacent violators.
func isotonic(x []float64) {
	type pool struct {
		mean float64
		n    int
	}
	var pools []pool
	for _, v := range x {
		p := pool{v, 1}
		for len(pools) > 0 && pools[len(pools)-1].mean >= p.mean {
			last := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			n := last.n + p.n
			p = pool{(last.mean*float64(last.n) + p.mean*float64(p.n)) / float64(n), n}
		}
		pools = append(pools, p)
	}
	at := 0
	for _, p := range pools {
		for range p.n {
			x[at] = p.mean
			at++
		}
	}
}

// law is what the histogram says about the law of q: the member of the Pearson family nearest to it as far as that describes the tail, and
// otherwise the histogram with a fitted tail; trust in [0, 1] is the weight of the former. limit is the misfit of equal weights.
func (h *radial) law(limit float64) (l law, trust float64) {
	sums := h.upTo()
	at := 0
	for at < len(h.edges)-2 && h.rows-sums[at] > math.Max(tailStart*h.rows, tailStartSDs*h.sigma) {
		at++
	}
	tail := h.fitTail(at)
	family := h.fitPearson(0)
	trust = h.bodyTrust(family) / (1 + math.Exp((h.tailMisfit(at, family, tail)-limit)/misfitSlope))
	l = family.law(h.edges)
	return l.mix(trust, h.free(sums[:at+1], tail)), trust
}

// free is the histogram up to the tail, then the tail. sums are the rows up to each edge where the tail starts and before.
func (h *radial) free(sums []float64, tail pareto) law {
	l := law{d: h.d}
	tailShare := math.Min(tail.count/h.rows, 1)
	last, low := 0.0, 0.0
	for i, s := range sums {
		if s > last {
			l.points = append(l.points, radius2{(low + h.edges[i]) / 2, (s - last) / sums[len(sums)-1] * (1 - tailShare)})
		}
		last, low = s, h.edges[i]
	}
	if tailShare > 0 {
		l.points = append(l.points, tail.points(tailShare)...)
	}
	return l
}
