package fit1d

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/parts"
)

// A Component holds about Rows rows, spread as N(Origin+Offset, SD^2).
type Component struct{ Rows, Origin, Offset, SD float64 }

// Mean returns Origin+Offset, rounded.
func (c Component) Mean() float64 { return c.Origin + c.Offset }

// z returns where x lies, in standard deviations.
func (c Component) z(x float64) float64 { return ((x - c.Origin) - c.Offset) / c.SD }

// centred returns c with an origin near its mean.
func (c Component) centred() Component {
	if m := c.Mean(); math.Abs(c.Offset) > 16*c.SD && m != c.Origin {
		// x - c.Origin is exact near the origin, and m is a number: what is left is the rounding of
		// m.
		c.Offset -= m - c.Origin
		c.Origin = m
	}
	return c
}

// Data are histograms of the same rows, ready to be fitted.
type Data struct {
	sets   []set
	count  []float64 // of the bins of all sets, one set after another
	noise2 []float64 // variance of their noise
	share  []float64 // of what the rows' own chance is worth, that the bin's set has: see New
	weight []float64 // one over the variance of count minus its expectation
	known  Known
}

// Known is what is known of the components' standard deviations; the zero value is nothing.
type Known struct {
	SD float64 // of all of them, if positive
	// they are at least that: 1/sqrt 12 of the unit that values are recorded in, and bins that are
	// a unit wide resolve all there is
	Least float64
}

// A set is one histogram: its edges, and where its bins begin.
type set struct {
	edges []float64
	first int
}

// NewData prepares histograms of the same rows.
//
// The rows' own chance is in all histograms: were the bins the same, the best estimate of their
// counts would have precision 1/(s + S), S = 1/sum(1/sigma_i^2), for chance of variance s. Giving
// histogram i the variance sigma_i^2 + s/share_i with share_i = S/sigma_i^2 comes to the same, and
// bins of different histograms need no common refinement. The sum is over the histograms that
// resolve as much there.
func NewData(histograms []Histogram, known Known) *Data {
	d := &Data{known: known}
	for _, h := range histograms {
		d.sets = append(d.sets, set{h.Edges, len(d.count)})
		d.count = append(d.count, h.Counts...)
		for b := range h.Counts {
			own := 1 / h.Variance(b)
			d.noise2 = append(d.noise2, h.Variance(b))
			d.share = append(d.share, own/precision(histograms, h, b))
		}
	}
	d.weight = make([]float64, len(d.count))
	d.weigh(d.count)
	return d
}

// precision returns that of all histograms that have bins about as narrow where bin b of h is.
func precision(histograms []Histogram, h Histogram, b int) (sum float64) {
	const alike = 2
	if b == 0 || b == len(h.Edges) {
		sum = parts.Sum(histograms, func(other Histogram) float64 { return 1 / (other.Sigma * other.Sigma) })
		return math.Max(sum, 1/h.Variance(b))
	}
	low, high := h.Edges[b-1], h.Edges[b]
	mid := low + (high-low)/2
	for _, other := range histograms {
		i, _ := slices.BinarySearch(other.Edges, mid)
		if i > 0 && i < len(other.Edges) && other.Edges[i]-other.Edges[i-1] <= alike*(high-low) {
			sum += 1 / other.Variance(i)
		}
	}
	return math.Max(sum, 1/h.Variance(b))
}

// weigh sets the weights for counts expected to be those.
func (d *Data) weigh(expected []float64) {
	for b, e := range expected {
		d.weight[b] = 1 / (d.noise2[b] + math.Max(e, 1)/d.share[b])
	}
}

// Weigh sets the weights for counts as the components have them; New sets them for the counts
// themselves.
func (d *Data) Weigh(cs []Component) { d.weigh(d.Expected(cs)) }

// Expected returns the counts that the components have in all bins.
func (d *Data) Expected(cs []Component) []float64 {
	out := make([]float64, len(d.count))
	var t terms
	for _, c := range cs {
		d.fill(&t, c)
		t.addTo(out, c.Rows)
	}
	return out
}

// cost returns the sum of squared residuals over their variances.
func (d *Data) cost(cs []Component) float64 { return d.costOf(d.Expected(cs)) }

func (d *Data) costOf(expected []float64) (cost float64) {
	for b, e := range expected {
		r := d.count[b] - e
		cost += r * r * d.weight[b]
	}
	return cost
}

// terms are the probabilities that a component has in the bins, and their derivatives by its offset
// in sds and by the log of its sd. Bins in no span have none.
type terms struct {
	spans     []span
	p, dm, ds []float64 // of the spans' bins, one span after another
}

// A span is a run of bins [from, to) of one set; its terms begin at `at`.
type span struct{ from, to, at int }

// reach is how far out, in sds, a component has rows.
const reach = 8.5

// fill computes the terms of c.
func (d *Data) fill(t *terms, c Component) {
	t.spans, t.p, t.dm, t.ds = t.spans[:0], t.p[:0], t.dm[:0], t.ds[:0]
	for _, s := range d.sets {
		n := len(s.edges)
		low := lowerBound(s.edges, c, -reach)
		high := lowerBound(s.edges, c, reach)
		sp := span{from: s.first + low, to: s.first + high + 1, at: len(t.p)}
		bins := high + 1 - low
		t.p, t.dm, t.ds = slices.Grow(t.p, bins), slices.Grow(t.dm, bins), slices.Grow(t.ds, bins)
		cdf, pdf, zpdf := 0.0, 0.0, 0.0
		for b := low; b <= high; b++ {
			cdf1, pdf1, zpdf1 := 1.0, 0.0, 0.0
			if b < n && b < high {
				z := c.z(s.edges[b])
				cdf1, pdf1 = gaussian(z)
				zpdf1 = z * pdf1
			}
			t.p = append(t.p, cdf1-cdf)
			t.dm = append(t.dm, pdf-pdf1)
			t.ds = append(t.ds, zpdf-zpdf1)
			cdf, pdf, zpdf = cdf1, pdf1, zpdf1
		}
		t.spans = append(t.spans, sp)
	}
}

// lowerBound returns the first edge at or beyond z standard deviations of c.
func lowerBound(edges []float64, c Component, z float64) int {
	return sort.Search(len(edges), func(i int) bool { return !(c.z(edges[i]) < z) })
}

func (t *terms) addTo(expected []float64, rows float64) {
	for _, s := range t.spans {
		floats.AddScaled(expected[s.from:s.to], rows, t.p[s.at:s.at+s.to-s.from])
	}
}

// floor returns the least standard deviation of a component at c: what its bin, in the finest
// histogram there, can still tell from a point.
func (d *Data) floor(c Component) float64 {
	low, high := math.Inf(-1), math.Inf(1)
	for _, s := range d.sets {
		b := lowerBound(s.edges, c, 0)
		if b > 0 {
			low = math.Max(low, s.edges[b-1])
		}
		if b < len(s.edges) {
			high = math.Min(high, s.edges[b])
		}
	}
	if math.IsInf(high-low, 0) {
		return d.known.Least
	}
	return math.Max(d.known.Least, floorOfBin*(high-low))
}

// widest returns the largest standard deviation that counts can tell from a larger one: beyond all
// edges there is no scale.
func (d *Data) widest() float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range d.sets {
		if n := len(s.edges); n > 0 {
			low, high = math.Min(low, s.edges[0]), math.Max(high, s.edges[n-1])
		}
	}
	if !(high > low) {
		return mostSD
	}
	return math.Min(high-low, mostSD)
}

const mostSD = 0x1p1000 // leaves room in float64

// Utility constants: of the width of a bin, guesses.
const (
	floorOfBin  = .15
	resolvedBin = .45
)

// Resolved reports whether some histogram has bins narrow enough for the component's spread to be
// seen, or as narrow as values are recorded.
func (d *Data) Resolved(c Component) bool {
	low, high := d.Bin(c)
	return c.SD > resolvedBin*(high-low) || high-low < 1.01*math.Sqrt(12)*d.known.Least
}

// Atom reports a component in a bin that holds one number only, or none that is not next to zero:
// its rows have one value, the lower end.
func (d *Data) Atom(c Component) bool {
	const zero = 0x1p-1000
	low, high := d.Bin(c)
	return high <= math.Nextafter(low, math.Inf(1)) || high-low < zero
}

// Seen reports whether the component's rows are clear of the noise, and where they are: its mean is
// in a bounded bin.
func (d *Data) Seen(c Component) bool {
	if low, high := d.Bin(c); math.IsInf(high-low, 0) {
		return false
	}
	var t terms
	d.fill(&t, c)
	precision := 0.0
	for _, s := range t.spans {
		for i, p := range t.p[s.at : s.at+s.to-s.from] {
			precision += p * p * d.weight[s.from+i]
		}
	}
	return c.Rows*math.Sqrt(precision) > seenSDs+math.Sqrt(2*math.Log(float64(len(d.count))))
}

// seenSDs is the number of sds of chance and noise by which the rows of a component exceed the most
// that is chance in that many bins. A utility constant, a guess.
const seenSDs = 1.5

// Outside returns how many rows of all are in no bin of the last histogram where the components
// expect any, and the sd of its noise.
func (d *Data) Outside(cs []Component, all float64) (rows, sd float64) {
	expected := d.Expected(cs)
	variance := 0.0
	for b := d.sets[len(d.sets)-1].first; b < len(d.count); b++ {
		if expected[b] >= 1 {
			all -= d.count[b]
			variance += d.noise2[b]
		}
	}
	return all, math.Sqrt(variance)
}

// Kurtosis returns the overall fourth moment over the squared variance: 3 for a Gaussian.
func Kurtosis(cs []Component) (k float64) {
	mean, sd := MeanSD(cs)
	rows := 0.0
	for _, c := range cs {
		at, s := ((c.Origin-mean)+c.Offset)/sd, c.SD/sd
		k += c.Rows * (at*at*at*at + 6*at*at*s*s + 3*s*s*s*s)
		rows += c.Rows
	}
	return k / rows
}

// AsCounted returns the components moved and stretched, all alike, so that their overall mean and
// sd are those of the counts in the bins of the last histogram in which they expect rows and that
// are narrower than all of them together, each in the middle of its bin. It is for coarse units:
// how rows spread within a bin cannot be fitted.
func (d *Data) AsCounted(cs []Component) []Component {
	s := d.sets[len(d.sets)-1]
	expected := d.Expected(cs)
	from, of := MeanSD(cs)
	var bins []Component
	for i := 1; i < len(s.edges); i++ {
		if b := s.first + i; expected[b] >= 1 && s.edges[i]-s.edges[i-1] <= 2*of {
			bins = append(bins, Component{Rows: math.Max(0, d.count[b]), Origin: s.edges[i-1], Offset: (s.edges[i] - s.edges[i-1]) / 2})
		}
	}
	mean, sd := MeanSD(bins)
	if !(sd > 0 && of > 0) {
		return cs
	}
	cs = slices.Clone(cs)
	for i, c := range cs {
		cs[i] = Component{Rows: c.Rows, Origin: mean, Offset: ((c.Origin - from) + c.Offset) * sd / of, SD: c.SD * sd / of}
	}
	return cs
}

// MeanSD returns the overall mean and sd of components. They are centred, for components far from
// zero, and in a unit that squares neither overflow nor underflow in.
func MeanSD(cs []Component) (mean, sd float64) {
	if len(cs) == 0 {
		return 0, 0
	}
	origin, rows, first, second, unit := cs[0].Mean(), 0.0, 0.0, 0.0, 0.0
	for _, c := range cs {
		unit = math.Max(unit, math.Max(math.Abs((c.Origin-origin)+c.Offset), c.SD))
	}
	for _, c := range cs {
		at := ((c.Origin - origin) + c.Offset) / unit
		rows += c.Rows
		first += c.Rows * at
		second += c.Rows * (at*at + c.SD/unit*(c.SD/unit))
	}
	first /= rows
	return origin + unit*first, unit * math.Sqrt(math.Max(second/rows-first*first, 0))
}

// Misfit is, for every component, the part of its rows that lie in other bins of the last histogram
// than the components say, beyond what chance and noise explain, a distance in total variation; and
// the sd of the same part of all rows, were there none.
func (d *Data) Misfit(cs []Component) (of []float64, sd float64) {
	from := d.sets[len(d.sets)-1].first
	expected := d.Expected(cs)
	rows, variance := 0.0, 0.0
	off := make([]float64, len(d.count))
	for b := from; b < len(d.count); b++ {
		e := math.Max(0, expected[b])
		off[b] = (math.Abs(d.count[b]-e) - math.Sqrt(2/math.Pi*(d.noise2[b]+e))) / math.Max(e, 1)
		rows += e
		variance += (1 - 2/math.Pi) * (d.noise2[b] + e)
	}
	var t terms
	for _, c := range cs {
		d.fill(&t, c)
		s, sum := t.spans[len(t.spans)-1], 0.0
		for i, p := range t.p[s.at : s.at+s.to-s.from] {
			sum += p * off[s.from+i]
		}
		of = append(of, math.Max(0, sum/2))
	}
	return of, math.Sqrt(variance) / (2 * math.Max(rows, 1))
}

// Gain returns what component i of cs takes off the cost.
func (d *Data) Gain(cs []Component, i int) float64 {
	all, rest := d.Expected(cs), d.Expected(slices.Delete(slices.Clone(cs), i, i+1))
	return d.costOf(rest) - d.costOf(all)
}

// Bin returns the narrowest bin with the component's mean; it may be unbounded.
func (d *Data) Bin(c Component) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	for _, s := range d.sets {
		if b := lowerBound(s.edges, c, 0); b > 0 && b < len(s.edges) && s.edges[b]-s.edges[b-1] < high-low {
			low, high = s.edges[b-1], s.edges[b]
		}
	}
	return low, high
}

// RowsOf returns those of all the components.
func RowsOf(cs []Component) float64 {
	return parts.Sum(cs, func(c Component) float64 { return c.Rows })
}
