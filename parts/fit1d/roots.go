package fit1d

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parts"
)

// A Histogram is a released histogram of one column over the whole line: bin b holds Edges[b-1] <=
// x < Edges[b], and the first and the last bin are unbounded. Sigma is the noise sd of a count.
//
// Invariant: len(Counts) == len(Edges)+1; the edges are increasing.
type Histogram struct {
	Edges, Counts []float64
	Sigma         float64
	// Merged is how many measured bins each bin is the sum of: its noise has that many times the
	// variance. Nil: one each.
	Merged []float64
}

// merged returns how many measured bins bin b is the sum of.
func (h Histogram) merged(b int) float64 {
	if h.Merged == nil {
		return 1
	}
	return h.Merged[b]
}

// Variance of the noise of count b.
func (h Histogram) Variance(b int) float64 { return h.Sigma * h.Sigma * h.merged(b) }

// keeping returns h with those of its edges that are to be kept, and the bins between them merged.
func (h Histogram) keeping(keep func(edge float64) bool) Histogram {
	out := Histogram{Sigma: h.Sigma, Counts: []float64{h.Counts[0]}, Merged: []float64{h.merged(0)}}
	for i, e := range h.Edges {
		if keep(e) {
			out.Edges, out.Counts, out.Merged = append(out.Edges, e), append(out.Counts, 0), append(out.Merged, 0)
		}
		last := len(out.Counts) - 1
		out.Counts[last] += h.Counts[i+1]
		out.Merged[last] += h.merged(i + 1)
	}
	return out
}

// Around returns h with the bins merged that lie outside all the leaves and a leaf's width around
// each.
func (h Histogram) Around(leaves []Leaf) Histogram {
	return h.keeping(func(e float64) bool {
		return slices.ContainsFunc(leaves, func(l Leaf) bool { return e >= l.Low-(l.High-l.Low) && e <= l.High+(l.High-l.Low) })
	})
}

// Without returns h without those of its edges that are in a list, in order.
func (h Histogram) Without(edges []float64) Histogram {
	return h.keeping(func(e float64) bool {
		_, is := slices.BinarySearch(edges, e)
		return !is
	})
}

// Recorded returns h for a column whose values are on a grid: every edge moves to the middle
// between its neighbouring values, which changes no count, and bins that then have no values are
// left out.
func (h Histogram) Recorded(l Grid) Histogram {
	out := Histogram{Sigma: h.Sigma}
	for b, count := range h.Counts {
		e := math.Inf(1)
		if b < len(h.Edges) {
			e = l.Above(h.Edges[b])
		}
		if n := len(out.Edges); n > 0 && e <= out.Edges[n-1] {
			continue
		}
		out.Counts, out.Merged = append(out.Counts, count), append(out.Merged, h.merged(b))
		if b < len(h.Edges) {
			out.Edges = append(out.Edges, e)
		}
	}
	return out
}

// A Stretch of the line, and how many rows it holds by what was seen before, with noise about.
type Stretch struct{ Low, High, Rows, About float64 }

// StretchWithin returns the shortest stretch of whole bins of a histogram around low and high in
// which a lattice may be seen with noise sigma.
func StretchWithin(seen []Histogram, low, high, sigma float64) (best Stretch, ok bool) {
	for _, h := range seen {
		from := sort.SearchFloat64s(h.Edges, math.Nextafter(low, math.Inf(1))) - 1
		to := sort.SearchFloat64s(h.Edges, high)
		if from < 0 || to == len(h.Edges) {
			continue
		}
		s, variance := Stretch{Low: h.Edges[from], High: h.Edges[to]}, 0.0
		for b := from + 1; b <= to; b++ {
			s.Rows += h.Counts[b]
			variance += h.Variance(b)
		}
		s.About = math.Sqrt(variance)
		if GridVisible(sigma, s.Rows, s.About) && (!ok || s.High-s.Low < best.High-best.Low) {
			best, ok = s, true
		}
	}
	return best, ok
}

// Again returns the mean of two histograms with the same edges, by their precisions.
func (h Histogram) Again(other Histogram) Histogram {
	p, q := 1/(h.Sigma*h.Sigma), 1/(other.Sigma*other.Sigma)
	out := Histogram{Edges: h.Edges, Counts: make([]float64, len(h.Counts)), Sigma: 1 / math.Sqrt(p+q)}
	for b := range out.Counts {
		out.Counts[b] = (p*h.Counts[b] + q*other.Counts[b]) / (p + q)
	}
	return out
}

// A Leaf is an interval with about Mass rows, spread evenly as far as could be seen.
type Leaf struct{ Low, High, Mass float64 }

// Utility constants of the first grid, guesses.
const (
	gapOfSD = 2.3 // a Gaussian of m rows has gaps of about 2.3 sd/m: the geometric mean
	binSDs  = 1.5 // width of a bin, in these sds
	// A window shows the small gaps of another's component if a wider one at the same place has
	// this many times its mass: it gets only fewBins, in case there is a narrow component as well.
	leakage       = 4.0
	fewBins       = 16
	rootsMostBins = 1024
	maxEdges      = 1 << 13
)

// SpacingEdges returns the edges of the first histogram: those of the grids of all windows, which
// must be those of one leaf. Nil without windows.
func SpacingEdges(windows []kernel.Spacing) (edges []float64) {
	for i, w := range windows {
		bins := binsOf(windows, i)
		step := (w.High - w.Low) / float64(bins)
		if len(edges)+bins > maxEdges {
			break
		}
		for b := range bins + 1 {
			edges = append(edges, w.Low+float64(b)*step)
		}
	}
	return increasing(edges)
}

// binsOf returns how many bins window i is cut into, a power of two.
func binsOf(windows []kernel.Spacing, i int) int {
	w := windows[i]
	mass, logGap := 0.0, 0.0
	for _, v := range windows {
		switch overlap := v.Low < w.High && w.Low < v.High; {
		case overlap && v.Scale > w.Scale && v.Mass > leakage*w.Mass:
			return fewBins
		case overlap && v.Scale-w.Scale <= 1 && w.Scale-v.Scale <= 1:
			mass += v.Mass
			logGap += v.Mass * math.Log(v.Length)
		}
	}
	step := binSDs * mass * math.Exp(logGap/mass) / gapOfSD
	bins := fewBins
	for bins < rootsMostBins && float64(bins)*step < w.High-w.Low {
		bins *= 2
	}
	return bins
}

// increasing sorts edges and leaves out what is not finite or comes twice.
func increasing(edges []float64) []float64 {
	edges = slices.DeleteFunc(edges, func(e float64) bool { return !dense.Finite(e) })
	for i, e := range edges {
		edges[i] = e + 0 // no negative zero
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}

// Utility constants of what counts as seen, guesses.
const (
	seenMargin = .3 // beyond sqrt(2 ln bins) noise sds: a run of bins
	splitSDs   = 3  // a difference of density within a run
	keptSDs    = 2  // a part of a run
)

// Leaves returns the runs of bins that hold more than noise, cut where their density changes, in
// order. The unbounded bins are in none.
func (h Histogram) Leaves() (leaves []Leaf) {
	sums := h.sums()
	for _, r := range h.runs(sums) {
		leaves = h.segments(leaves, sums, r[0], r[1])
	}
	return leaves
}

// sums returns the partial sums of the counts of the bounded bins: that between edges i and i+1 is
// bin i.
func (h Histogram) sums() []float64 {
	sums := make([]float64, max(1, len(h.Edges)))
	for i := 1; i < len(h.Edges); i++ {
		sums[i] = sums[i-1] + h.Counts[i]
	}
	return sums
}

// runs returns the disjoint runs of bounded bins [from, to), in order, the clearest first taken.
func (h Histogram) runs(sums []float64) (runs [][2]int) {
	bins := len(sums) - 1
	if bins < 1 {
		return nil
	}
	type run struct {
		from, to int
		z        float64
	}
	limit := (math.Sqrt(2*math.Log(float64(bins+1))) + seenMargin) * h.Sigma
	var seen []run
	for length := 1; length <= bins; length += max(1, length/3) {
		root := math.Sqrt(float64(length))
		for from := 0; from+length <= bins; from++ {
			if z := (sums[from+length] - sums[from]) / root; z > limit {
				seen = append(seen, run{from, from + length, z})
			}
		}
	}
	for len(seen) > 0 {
		best := slices.MaxFunc(seen, func(a, b run) int { return cmp.Compare(a.z, b.z) }) // the first of equals
		runs = append(runs, [2]int{best.from, best.to})
		seen = slices.DeleteFunc(seen, func(r run) bool { return r.from < best.to && best.from < r.to })
	}
	slices.SortFunc(runs, func(a, b [2]int) int { return a[0] - b[0] })
	return runs
}

// segments appends the leaves of a run of bins: itself if its rows could be spread evenly, else
// those of its two parts that differ most.
func (h Histogram) segments(leaves []Leaf, sums []float64, from, to int) []Leaf {
	length := func(a, b int) float64 { return h.Edges[b] - h.Edges[a] }
	total := sums[to] - sums[from]
	best, at := splitSDs*splitSDs+0.0, 0
	for t := from + 1; t < to; t++ {
		f := length(from, t) / length(from, to)
		left := sums[t] - sums[from]
		noise := h.Sigma*h.Sigma*(float64(t-from)*(1-f)*(1-f)+float64(to-t)*f*f) + math.Max(0, total)*f*(1-f)
		if d := left - f*total; d*d > best*noise {
			best, at = d*d/noise, t
		}
	}
	if at > 0 {
		return h.segments(h.segments(leaves, sums, from, at), sums, at, to)
	}
	if total < keptSDs*h.Sigma*math.Sqrt(float64(to-from)) {
		return leaves
	}
	return append(leaves, Leaf{h.Edges[from], h.Edges[to], total})
}

// RefinedEdges returns the edges of the next histogram: about bins bins of equal mass over the
// leaves, at least two in each, and margins beside them.
func RefinedEdges(leaves []Leaf, bins int) (edges []float64) {
	total := parts.Sum(leaves, func(l Leaf) float64 { return l.Mass })
	for _, l := range leaves {
		parts := max(2, int(math.Round(float64(bins)*l.Mass/total)))
		width := l.High - l.Low
		for i := range parts + 1 {
			edges = append(edges, l.Low+width*float64(i)/float64(parts))
		}
	}
	for i, l := range leaves {
		width := l.High - l.Low
		if i == 0 || leaves[i-1].High < l.Low {
			edges = append(edges, margin(l.Low, -width, bound(leaves, i-1))...)
		}
		if i == len(leaves)-1 || l.High < leaves[i+1].Low {
			edges = append(edges, margin(l.High, width, bound(leaves, i+1))...)
		}
	}
	return increasing(edges)
}

// bound returns where leaf i begins or ends towards its neighbour; infinite beyond the last.
func bound(leaves []Leaf, i int) float64 {
	switch {
	case i < 0:
		return math.Inf(-1)
	case i >= len(leaves):
		return math.Inf(1)
	}
	return leaves[i].Low/2 + leaves[i].High/2
}

// margin returns the edges beside a leaf of that width that ends at from, as far as limit.
func margin(from, width, limit float64) (edges []float64) {
	for _, f := range []float64{.5, 1.25} {
		if e := from + f*width; math.Abs(e-from) < math.Abs(limit-from) {
			edges = append(edges, e)
		}
	}
	return edges
}

// Utility constants of the search in holes, guesses.
const (
	holeBins = 160
	// where there is no other end: bins that double, then some that grow faster; the last bin has
	// all rows from there on
	holeDoubles = 16
	holeSteps   = 26
	holeLog     = 4 // log2 of the growth of those
	// powers of two: the distances from an end of the line's part that has no other end
	nearestLog = -1022
	lastLog    = 1023
)

// HoleEdges returns the edges of a histogram that looks for rows between low and high, about whose
// scale nothing is known; either may be infinite. Bins are of one width between two ends, and grow
// by powers of two from the one end, then of sixteen, the first as wide as unit.
func HoleEdges(low, high, unit float64) (edges []float64) {
	unit = math.Max(unit, math.Ldexp(1, nearestLog))
	switch {
	case math.IsInf(low, 0) && math.IsInf(high, 0):
		for e := nearestLog; e <= lastLog; e++ {
			edges = append(edges, math.Ldexp(-1, e), math.Ldexp(1, e))
		}
		edges = append(edges, 0)
	case math.IsInf(low, 0) || math.IsInf(high, 0):
		end := low
		if math.IsInf(low, 0) {
			end, unit = high, -unit
		}
		edges = append(edges, end)
		for i := range holeDoubles + holeSteps {
			edges = append(edges, end+math.Ldexp(unit, i+max(0, i-holeDoubles)*(holeLog-1)))
		}
	default:
		for i := range holeBins + 1 {
			f := float64(i) / holeBins
			edges = append(edges, low*(1-f)+high*f)
		}
	}
	return increasing(edges)
}

// EdgesBetween returns the edges moved to the middle between two values of a column that is on a
// grid; as they are if there is none.
func EdgesBetween(edges []float64, l Grid) []float64 {
	if !(l.Unit > 0) {
		return edges
	}
	return increasing(parts.Map(edges, l.Beyond))
}

// ApartFromZero returns the edges without those next to zero, where a component's place and spread
// would have no digits: 0 and beside stay.
func ApartFromZero(edges []float64) []float64 {
	const zero = 0x1p-1001 // linefit takes a bin that is no wider for one that holds zeros only
	out := make([]float64, len(edges))
	for i, e := range edges {
		if out[i] = e; e != 0 && math.Abs(e) < zero {
			out[i] = math.Copysign(zero, e)
		}
	}
	return increasing(out)
}

// JoinEdges returns the edges of several lists in one.
func JoinEdges(lists ...[]float64) []float64 { return increasing(slices.Concat(lists...)) }
