package tyler

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The grid of q: geometric from d/gridLow to gridHigh d.
const (
	gridLow   = 32
	gridHigh  = 1e4
	gridRatio = 1.2
)

// A RadialHistogram is released counts of q = |z|^2 over the rows, z in D coordinates that a
// preconditioner made round.
type RadialHistogram struct {
	D      int
	Edges  []float64 // of q, increasing
	Counts []float64 // of the bins below, between and above them: one more
	Sigma  float64   // noise sd of each count
	Rows   float64
}

// RadialEdges returns a public grid of q: finer in many columns, where |z|^2 varies less.
func RadialEdges(d int) []float64 {
	k := float64(d)
	ratio := math.Min(gridRatio, 1+math.Sqrt(1/(2*k)))
	var edges []float64
	for q := k / gridLow; q < gridHigh*k; q *= ratio {
		edges = append(edges, q)
	}
	return edges
}

// Beyond returns the noisy number of rows above edge i.
func (h *RadialHistogram) Beyond(i int) float64 { return floats.Sum(h.Counts[i+1:]) }

// upTo returns the number of rows below each edge and at last of all, without decreases: the noise
// is pooled, and shared out such that the whole is rows.
func (h *RadialHistogram) upTo() []float64 {
	sums := floats.CumSum(make([]float64, len(h.Counts)), h.Counts)
	missing := (h.Rows - sums[len(sums)-1]) / float64(len(sums))
	for i := range sums {
		sums[i] += missing * float64(i+1)
	}
	isotonic(sums)
	for i := range sums {
		sums[i] = math.Min(math.Max(sums[i], 0), h.Rows)
	}
	return sums
}

// isotonic makes x the nearest non-decreasing sequence by pooling adjacent violators.
func isotonic(x []float64) {
	var mean, size []float64 // of each pool
	for _, v := range x {
		n := 1.0
		for last := len(mean) - 1; last >= 0 && mean[last] >= v; last-- {
			v = (mean[last]*size[last] + v*n) / (size[last] + n)
			n += size[last]
			mean, size = mean[:last], size[:last]
		}
		mean, size = append(mean, v), append(size, n)
	}
	at := 0
	for i, n := range size {
		for range int(n) {
			x[at] = mean[i]
			at++
		}
	}
}

// Law returns what the histogram says about the law of q: the member of the Pearson family nearest
// to it as far as that describes the tail, and otherwise the histogram with a fitted tail; trust in
// [0, 1] is the weight of the former. limit is by how much the fitted tail must be nearer than the
// family's for equal weights, in sums of squares of the bins in sds. The fitted tail has three
// parameters of its own.
func (h *RadialHistogram) Law(limit float64) (l RadialLaw, trust float64) {
	sums := h.upTo()
	at := 0
	for at < len(h.Edges)-2 && h.Rows-sums[at] > math.Max(tailStart*h.Rows, tailStartSDs*h.Sigma) {
		at++
	}
	tail := h.fitTail(at)
	family := h.FitPearson(0)
	trust = h.bodyTrust(family) / (1 + math.Exp((h.tailMisfit(at, family, tail)-limit)/misfitSlope))
	l = family.Law(h.Edges)
	return l.mix(trust, h.free(sums[:at+1], tail)).within(farthest * h.reach(sums)), trust
}

// No row of a law is taken to lie beyond farthest times the q up to which rows are seen, in windows
// neighbouring bins or fewer that hold more than clearSDs of noise: a tail that is fitted to
// noise would set the radius, and be given back. Guesses.
const farthest, windows, clearSDs = 4, 4, 4

// Where less than unseenPart of the rows are up to there, the noise hides the others, which are few
// in each bin: then mostPart of all are within the reach. Guesses.
const unseenPart, mostPart = .5, .75

// reach returns the q up to which rows are seen. sums are the rows up to each edge.
func (h *RadialHistogram) reach(sums []float64) float64 {
	last := h.lastSeen()
	if sums[last] < unseenPart*h.Rows {
		for last+1 < len(h.Edges) && sums[last] < mostPart*h.Rows {
			last++
		}
	}
	return h.Edges[last]
}

// lastSeen returns the last edge below which rows are seen.
func (h *RadialHistogram) lastSeen() int {
	for i := len(h.Edges) - 1; i > 0; i-- {
		sum := 0.0
		for w := 1; w <= min(windows, i+1); w++ {
			if sum += h.Counts[i-w+1]; sum > clearSDs*h.Sigma*math.Sqrt(float64(w)) {
				return i
			}
		}
	}
	return 0
}

// free returns the histogram up to the tail, then the tail. sums are the rows up to each edge where
// the tail starts and before.
func (h *RadialHistogram) free(sums []float64, tail pareto) RadialLaw {
	l := RadialLaw{D: h.D}
	tailShare := math.Min(tail.count/h.Rows, 1)
	last, low := 0.0, 0.0
	for i, s := range sums {
		if s > last {
			l.Points = append(l.Points, RadialPoint{(low + h.Edges[i]) / 2, (s - last) / sums[len(sums)-1] * (1 - tailShare)})
		}
		last, low = s, h.Edges[i]
	}
	if tailShare > 0 {
		l.Points = append(l.Points, tail.points(tailShare)...)
	}
	return l
}
