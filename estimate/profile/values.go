package profile

import (
	"cmp"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// Utility constants, guesses.
const (
	mostPoints, fewPoints = 256, 64 // of a comb over the rows, and over one bin
	mostStanding          = 3       // bins that stand out and get a comb of their own
	standsPart, standsSDs = .02, 5.0
	standsOut             = 3.0 // times its neighbours
	atomPart, atomSDs     = .02, 5.0
	mostAtoms             = 12
	// Outside of the octaves that hold rows, and farther than farWidths of a closer look from where
	// it was, so much more is clear: noise alone gets there in one of 10^6, since a column that
	// reaches too far has too much noise.
	farSDs      = 2.2
	farWidths   = 8.0
	mostWindows = 64
	gridPart    = .08 // of the cells must show it
)

// A comb is numbers that people write down, and the number of rows from the first to the last.
type comb struct {
	points      []float64
	rows, about float64
}

// findValues looks for the values that many rows share, and for the unit that columns are recorded
// in.
func (f *fit) findValues() error { return f.valuesOf(f.live) }

// valuesOf does what findValues does, for some of the columns.
func (f *fit) valuesOf(of []*column) error {
	combs := map[*column][]comb{}
	var asked []*column
	for _, c := range of {
		c.standing()
		if list := c.combs(); len(list) > 0 {
			combs[c] = list
			asked = append(asked, c)
		}
	}
	if asked == nil {
		return nil
	}
	edges := func(c *column) (all []float64) {
		for _, k := range combs[c] {
			all = append(all, fit1d.PointEdges(k.points)...)
		}
		return increasing(all)
	}
	counts, sigma, err := f.histogram(stepValues, asked, edges, f.terms.values.of(f, float64(len(asked))))
	if err != nil {
		return err
	}
	for i, c := range asked {
		c.readValues(combs[c], edges(c), counts[i], sigma)
	}
	return nil
}

// standing finds the atoms that bins of one value show: of 0, and of a declared unit.
func (c *column) standing() {
	b := &c.bins
	for i, n := range b.rows {
		switch {
		case !b.isZero(i) || !(n > math.Max(atomSDs*b.sds[i], atomPart*c.cells)):
		default:
			c.add(atom{0, n, b.sds[i]})
		}
	}
}

// add adds an atom, in the place of one of the same value if it is better known.
func (c *column) add(a atom) {
	a.rows = math.Max(0, math.Min(a.rows, c.cells))
	for i, old := range c.atoms {
		if old.value == a.value {
			if a.sd < old.sd {
				c.atoms[i] = a
			}
			return
		}
	}
	c.atoms = append(c.atoms, a)
}

// combs returns where to look for values: over everything seen, over the bin with most rows, and
// over bins that stand out.
func (c *column) combs() (out []comb) {
	b := &c.bins
	if c.seen == nil {
		return nil
	}
	left, right := b.ends()
	add := func(from, to, most int) {
		low, high := b.span(from, to)
		k := comb{points: c.points(low, high, most)}
		for i := from; i < to; i++ {
			k.rows, k.about = k.rows+b.rows[i], math.Hypot(k.about, b.sds[i])
		}
		if k.points != nil {
			out = append(out, k)
		}
	}
	add(left, right, mostPoints)
	order := make([]int, 0, right-left)
	for i := left; i < right; i++ {
		if !b.isZero(i) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(b.rows[j], b.rows[i]) })
	for n, i := range order[:min(len(order), 1+mostStanding)] {
		if n == 0 {
			add(i, i+1, mostPoints)
		} else if b.stands(i, c.cells) {
			add(i, i+1, fewPoints)
		}
	}
	if right-left > windowOctave { // a bin that stands out far from the others
		for n, i := 0, right-1; i > left && n < 1; i-- {
			if b.rows[i] > math.Max(standsSDs*b.sds[i], standsPart/2*c.cells) {
				add(i, i+1, fewPoints)
				n++
			}
		}
		for n, i := 0, left; i < right && n < 1; i++ {
			if b.rows[i] > math.Max(standsSDs*b.sds[i], standsPart/2*c.cells) {
				add(i, i+1, fewPoints)
				n++
			}
		}
	}
	return out
}

// points returns the numbers of a comb between low and high: multiples of the declared unit, or
// numbers that people write down.
func (c *column) points(low, high float64, most int) (points []float64) {
	if !c.declared {
		return fit1d.RoundNumbers(low, high, most)
	}
	unit := c.grid.Unit
	from, to := math.Ceil(low/unit), math.Floor(high/unit)
	if !(to-from < float64(most)) || math.Abs(from) > 1e12 || math.Abs(to) > 1e12 {
		return nil
	}
	for k := from; k <= to; k++ {
		points = append(points, k*unit)
	}
	return points
}

// stands reports whether a bin has far more rows, for its width, than its neighbours.
func (b *bins) stands(i int, cells float64) bool {
	if b.rows[i] < math.Max(standsSDs*b.sds[i], standsPart*cells) {
		return false
	}
	low, high := b.span(i, i+1)
	width, beside, n := high-low, 0.0, 0.0
	for _, k := range [...]int{i - 2, i - 1, i + 1, i + 2} {
		if k > 0 && k < len(b.edges) && !b.isZero(k) {
			l, h := b.span(k, k+1)
			beside += math.Max(b.rows[k], 0) * math.Min(1, width/(h-l))
			n++
		}
	}
	return b.rows[i] > .5*cells || n == 0 || b.rows[i] > standsOut*beside/n+4*b.sds[i]
}

// span returns the range of the bins [from, to); those at the ends reach as far again as all
// others.
func (b *bins) span(from, to int) (low, high float64) {
	first, last := b.edges[0], b.edges[len(b.edges)-1]
	low, high = finite(first-(last-first)), finite(last+(last-first))
	if from > 0 {
		low = b.edges[from-1]
	}
	if to-1 < len(b.edges) {
		high = b.edges[to-1]
	}
	return low, high
}

// ends returns the first and the last bin of any window of one, two, four or eight that stands out
// from the noise.
func (b *bins) ends() (left, right int) {
	most := 0
	for i, n := range b.rows {
		if n > b.rows[most] {
			most = i
		}
	}
	left, right = most, most+1
	z := math.Sqrt(2 * math.Log(10*float64(len(b.rows))))
	near := farWidths * (b.within[1] - b.within[0])
	sds := func(low, high float64) float64 {
		if low < b.octaves[0] || high > b.octaves[1] || b.looks > 1 && (low < b.within[0]-near || high > b.within[1]+near) {
			return z + farSDs
		}
		return z
	}
	for w := 1; w <= mostWindows; w *= 2 {
		for i := 0; i+w <= left; i++ {
			if low, high := b.span(i, i+w); b.clear(i, i+w, sds(low, high)) {
				left = b.clearest(i, i+w, -1)
				break
			}
		}
		for i := len(b.rows); i-w >= right; i-- {
			if low, high := b.span(i-w, i); b.clear(i-w, i, sds(low, high)) {
				right = b.clearest(i-w, i, 1)
				break
			}
		}
	}
	return left, right
}

// clear reports whether the bins [from, to) hold rows, by at least sds noise sds.
func (b *bins) clear(from, to int, sds float64) bool {
	sum, sd := b.total(from, to)
	return sum > sds*sd
}

// clearest returns where a window ends, outwards, that is the clearest of those within [from, to)
// that begin at its inner end: the bins beyond are noise, however clear all of it is.
func (b *bins) clearest(from, to, outwards int) (end int) {
	best := math.Inf(-1)
	for k := range to - from {
		low, high := from, from+k+1
		if outwards < 0 {
			low, high = to-1-k, to
		}
		if sum, sd := b.total(low, high); sum/sd > best {
			if best, end = sum/sd, high; outwards < 0 {
				end = low
			}
		}
	}
	return end
}

// readValues finds atoms and the unit in what was counted at the points of combs.
func (c *column) readValues(combs []comb, edges, counts []float64, sigma float64) {
	var seen []atom
	ones := slices.Repeat([]float64{1}, len(counts))
	for n, k := range combs {
		of := fit1d.PointCounts(k.points, edges, counts)
		sd := sigma * 1.5 // where combs overlap a point's bin is made of several
		for i, rows := range of {
			if rows > math.Max(atomSDs*sd, atomPart*c.cells) {
				seen = append(seen, atom{k.points[i], rows, sd})
			}
		}
		if c.grid.Unit > 0 {
			continue
		}
		if e := fit1d.PointEdges(k.points); e[0] == edges[0] && e[len(e)-1] == edges[len(edges)-1] { // all but the rows outside
			k.rows, k.about = c.cells-math.Max(0, counts[0]+counts[len(counts)-1]), math.Hypot(math.Sqrt2*sigma, c.cellsSD)
		}
		bins := parts.Sum(fit1d.PointCounts(k.points, edges, ones), func(n float64) float64 { return n }) / float64(len(k.points))
		if l, ok := fit1d.InferGrid(k.points, of, sigma*math.Sqrt(bins), k.rows, k.about); ok && (n == 0 || k.rows > gridPart*c.cells) {
			c.grid = l
		}
	}
	slices.SortStableFunc(seen, func(a, b atom) int { return cmp.Compare(b.rows, a.rows) })
	for _, a := range seen[:min(len(seen), mostAtoms)] {
		c.add(a)
	}
}
