package profile

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parts"
)

// bins are a histogram of one column: rows[i] of noise sds[i] are in [edges[i-1], edges[i]).
type bins struct {
	edges     []float64
	rows, sds []float64
	width     float64    // of the finest
	within    [2]float64 // where they are that
	first     []float64  // edges of the first look
	octaves   [2]float64 // from the first to the last that holds rows
	looks     int
	// A closer look divides rows whose sum is known: of the bins [apart[0], apart[1]) the sum has
	// the variance together, less than each by itself lets expect.
	apart    [2]int
	together float64
}

// Utility constants, guesses, tried on made-up columns.
const (
	leastBins, mostBins       = 12, 48
	rowsPerBin                = 3.0 // least rows of a useful bin, in noise sds
	mostFine, mostFiner       = 128, 512
	finerSDs                  = 60.0
	mergedSDs                 = 2.0 // noise sds of rows, on average, in bins of a window that is resolved
	windowPart                = .4  // of the rows must be in a window to resolve it
	windowSDs                 = 2.5
	leastResolved             = 3 // bins that hold that part
	twoSDs, twoFinerSDs       = 150.0, 60.0
	hiddenSDs                 = 6.0
	windowWidth, windowOctave = 1.25, 4
	tinyPart                  = 1e-9
	// The finest bins reach to the octaves with all but outerPart of the rows on each side, if that
	// is at most outerTimes as far; with plentyPerBin noise sds a bin there are more of them.
	outerPart, outerTimes, plentyPerBin = .04, 2.5, 12.0
	fartherBins, fartherTimes           = 4, 4.0
	octavePart                          = .01 // of the cells in an octave, so that its ends are edges
)

// firstBins releases the first histogram of all columns: linear bins where half of the rows are,
// as many as noise carries, doubling outwards as far as octaves hold rows.
func (f *fit) firstBins() error {
	mu2 := f.bins.of(f, float64(len(f.live)))
	sigma := lists(f.problem.Relation, len(f.live)) / parts.Mu(mu2)
	for _, c := range f.live {
		c.lay(sigma)
	}
	counts, sigma, err := f.histogram(stepBins, f.live, func(c *column) []float64 { return c.bins.edges }, mu2)
	if err != nil {
		return err
	}
	for i, c := range f.live {
		c.bins.rows, c.bins.sds = slices.Clone(counts[i]), slices.Repeat([]float64{sigma}, len(counts[i]))
		c.bins.first, c.bins.looks = c.bins.edges, 1
	}
	return nil
}

// lay lays out the first histogram, of noise sigma a bin.
func (c *column) lay(sigma float64) {
	b := &c.bins
	if c.seen == nil {
		b.edges = []float64{0, math.SmallestNonzeroFloat64}
		return
	}
	body := 0.0
	for _, o := range c.seen {
		body += math.Max(o.rows, 0)
	}
	low, high := halfWindow(c.seen)
	over := 0
	for _, o := range c.seen {
		if o.high >= low && o.low <= high {
			over++
		}
	}
	if over >= windowOctave {
		mid, half := low/2+high/2, (high/2-low/2)*2*windowWidth
		b.within = [2]float64{finite(mid - half), finite(mid + half)}
	} else {
		b.within = [2]float64{math.Inf(1), math.Inf(-1)}
		for _, o := range c.seen {
			if o.high >= low && o.low <= high {
				b.within = [2]float64{math.Min(b.within[0], o.low), math.Max(b.within[1], o.high)}
			}
		}
	}
	if low, high := quantileOf(c.seen, outerPart), quantileOf(c.seen, 1-outerPart); high/2-low/2 <= outerTimes*(b.within[1]/2-b.within[0]/2) {
		b.within = [2]float64{math.Min(b.within[0], low), math.Max(b.within[1], high)}
	}
	most := math.Max(leastBins, math.Min(body/(rowsPerBin*sigma), mostBins))
	most = math.Max(most, math.Min(body/(plentyPerBin*sigma), mostFine))
	var fine []float64
	fine, b.width = linear(b.within[0], b.within[1], int(most), c.grid.Unit)
	first, last := c.seen[0].low, c.seen[len(c.seen)-1].high
	b.octaves = [2]float64{first, last}
	b.edges = outward(fine, finite(first-(last-first)), finite(last+(last-first)))
	for i := 1; i <= fartherBins; i++ { // rows that octaves do not see may be farther out
		step := (last - first) * math.Pow(fartherTimes, float64(i))
		b.edges = append(b.edges, finite(first-step), finite(last+step))
	}
	for _, o := range c.seen {
		if o.rows > octavePart*c.cells || o.low == first || o.high == last {
			for _, e := range [2]float64{o.low, o.high} {
				if e < fine[0]-2*b.width || e > fine[len(fine)-1]+2*b.width {
					b.edges = append(b.edges, e)
				}
			}
		}
	}
	b.edges = increasing(b.edges)
	if c.zero > 0 {
		b.edges = withZero(b.edges, b.width)
	}
}

func finite(x float64) float64 { return math.Max(-math.MaxFloat64, math.Min(x, math.MaxFloat64)) }

// withZero gives 0 a bin of its own.
func withZero(edges []float64, width float64) []float64 {
	edges = slices.DeleteFunc(slices.Clone(edges), func(e float64) bool { return math.Abs(e) <= tinyPart*width })
	return increasing(append(edges, 0, math.SmallestNonzeroFloat64))
}

func increasing(edges []float64) []float64 {
	slices.Sort(edges)
	return slices.Compact(edges)
}

// linear returns the edges of at most most bins of equal width over [a, b], half way between the
// multiples of a unit if there is one.
func linear(a, b float64, most int, unit float64) (edges []float64, width float64) {
	width = b/float64(most) - a/float64(most)
	if unit > 0 && b/unit-a/unit < 1e9 {
		k := math.Max(1, math.Ceil(width/unit))
		width = k * unit
		first := math.Floor(a/unit) - .5
		for i := range most + 2 {
			edges = append(edges, finite((first+k*float64(i))*unit))
			if edges[i] > b {
				break
			}
		}
		return increasing(edges), width
	}
	size := math.Max(math.Abs(a), math.Abs(b))
	width = math.Max(width, 4*(math.Nextafter(size, math.Inf(1))-size))
	if math.IsInf(width, 0) || width != width {
		width = math.MaxFloat64 / float64(most)
	}
	for i := range most + 1 {
		edges = append(edges, finite(a+width*float64(i)))
		if edges[i] >= b {
			break
		}
	}
	return increasing(edges), width
}

// outward adds bins that double in width outwards of fine ones, from low to high at least.
func outward(fine []float64, low, high float64) []float64 {
	first, last := fine[0], fine[len(fine)-1]
	width := (last - first) / float64(max(1, len(fine)-1))
	size := math.Max(math.Abs(first), math.Abs(last))
	width = math.Max(width, 8*(math.Nextafter(size, math.Inf(1))-size))
	edges := slices.Clone(fine)
	for k, up, down := 1, last, first; k < 2200 && (up < high || down > low); k++ {
		step := width * (math.Exp2(float64(k)) - 1)
		if up < high {
			up = finite(last + step)
			edges = append(edges, up)
		}
		if down > low {
			down = finite(first - step)
			edges = append(edges, down)
		}
	}
	return increasing(edges)
}

// inside returns the range of the bins that lie within the finest.
func (b *bins) inside() (from, to int) {
	from = -1
	for i := 1; i < len(b.edges); i++ {
		if b.edges[i-1] >= b.within[0]-.1*b.width && b.edges[i] <= b.within[1]+.1*b.width {
			if from < 0 {
				from = i
			}
			to = i + 1
		}
	}
	return max(from, 0), to
}

// isZero reports the bin of 0 alone.
func (b *bins) isZero(i int) bool {
	return i > 0 && i < len(b.edges) && b.edges[i-1] == 0 && b.edges[i] == math.SmallestNonzeroFloat64
}

// window returns the narrowest run of counts that clearly holds about half of them; all of them if
// none does.
func window(rows []float64, sigma float64) (from, width int) {
	sums := make([]float64, len(rows)+1)
	for i, n := range rows {
		sums[i+1] = sums[i] + n
	}
	total := math.Max(sums[len(rows)], 0)
	for w := 1; w < len(rows); w = max(w+1, int(float64(w)*1.3)) {
		at, best := 0, math.Inf(-1)
		for i := 0; i+w <= len(rows); i++ {
			if n := sums[i+w] - sums[i]; n > best {
				at, best = i, n
			}
		}
		if best-windowSDs*sigma*math.Sqrt(float64(w)) >= windowPart*total {
			return at, w
		}
	}
	return 0, len(rows)
}

// lookCloser looks closer at the columns that are not resolved, again and again, and then for the
// values that they have.
func (f *fit) lookCloser() error {
	var ever []*column
	for range mostCloser {
		var coarse []*column
		for _, c := range f.live {
			if low, high, want := c.unresolved(); want {
				c.fine = [2]float64{low, high}
				coarse = append(coarse, c)
			}
		}
		if coarse == nil {
			break
		}
		mu2 := f.terms.closer.of(f, float64(len(coarse)))
		sigma := lists(f.problem.Relation, len(coarse)) / parts.Mu(mu2)
		edges := map[*column][]float64{}
		for _, c := range coarse {
			edges[c] = c.finer(sigma)
		}
		counts, sigma, err := f.histogram(stepBins, coarse, func(c *column) []float64 { return edges[c] }, mu2)
		if err != nil {
			return err
		}
		for i, c := range coarse {
			c.join(edges[c], counts[i], sigma)
			if !slices.Contains(ever, c) {
				ever = append(ever, c)
			}
		}
	}
	return f.valuesOf(ever)
}

// unresolved returns where a column's rows share few bins, and whether a finer histogram is wanted.
func (c *column) unresolved() (low, high float64, want bool) {
	b := &c.bins
	if c.seen == nil || b.looks == 0 {
		return 0, 0, false
	}
	from, to := b.inside()
	if to-from < 1 {
		return 0, 0, false
	}
	rows, all, sigma := make([]float64, to-from), 0.0, 0.0
	for i := range rows {
		if k := from + i; !b.isZero(k) {
			rows[i] = b.rows[k] - c.atomsIn(b.edges[k-1], b.edges[k])
			all += rows[i]
			sigma = math.Max(sigma, b.sds[k])
		}
	}
	at, w := window(rows, sigma)
	low, high = b.edges[max(from+at-2, from-1)], b.edges[min(from+at+w, to-1)]
	size := math.Max(math.Abs(low), math.Abs(high))
	enough := twoSDs
	if b.looks > 1 {
		enough = twoFinerSDs
	}
	switch {
	case w >= leastResolved, w == 2 && (all < enough*sigma || to-from < windowOctave), all < hiddenSDs*sigma, all < .02*c.cells,
		c.grid.Unit > 0 && b.width <= 1.01*c.grid.Unit, b.width <= 8*(math.Nextafter(size, math.Inf(1))-size), b.looks < 0:
		return 0, 0, false
	}
	return low, high, true
}

// atomsIn returns the rows of atoms in [low, high).
func (c *column) atomsIn(low, high float64) (rows float64) {
	for _, a := range c.atoms {
		if a.value >= low && a.value < high {
			rows += a.rows
		}
	}
	return rows
}

// finer returns the edges of a finer histogram with noise sigma: those outside stay.
func (c *column) finer(sigma float64) []float64 {
	b := &c.bins
	body := 0.0
	for i, n := range b.rows {
		if low, high := b.span(i, i+1); low >= c.fine[0] && high <= c.fine[1] {
			body += n
		}
	}
	most := math.Max(leastBins, math.Min(body/(2.5*sigma), mostFine))
	if b.looks > 1 && body > finerSDs*sigma {
		most = mostFiner
	}
	low, high := c.fine[0], c.fine[1]
	fine, width := linear(low, high, int(most), c.grid.Unit)
	edges := []float64{low, high}
	for _, e := range fine {
		if e > low+.3*width && e < high-.3*width {
			edges = append(edges, e)
		}
	}
	if c.zero > 0 && low <= 0 && high > 0 {
		edges = append(withZero(edges, width), low, high)
	}
	for _, e := range b.edges {
		if (e < low || e > high) && c.keep(e) {
			edges = append(edges, e)
		}
	}
	b.width = width
	return increasing(edges)
}

// keep reports an edge outside of a closer look that stays: those of the first look do, and of
// later ones every few outwards.
func (c *column) keep(e float64) bool {
	b := &c.bins
	if len(b.edges) <= 100 || e == 0 || e == math.SmallestNonzeroFloat64 {
		return true
	}
	if _, found := slices.BinarySearch(b.first, e); found {
		return true
	}
	at, _ := slices.BinarySearch(b.edges, e)
	low, _ := slices.BinarySearch(b.edges, c.fine[0])
	high, _ := slices.BinarySearch(b.edges, c.fine[1])
	for k := 1; k < len(b.edges); k *= 2 {
		if at == low-k || at == high+k {
			return true
		}
	}
	return false
}

// join joins a closer look with what was seen: bins outside of it are those of both, and the sum
// inside is too.
func (c *column) join(edges, rows []float64, sigma float64) {
	b := &c.bins
	old := b.coarse(edges, c.fine)
	low, _ := slices.BinarySearch(edges, c.fine[0])
	high, _ := slices.BinarySearch(edges, c.fine[1])
	inner, sum := high-low, 0.0
	for i := low + 1; i <= high; i++ {
		sum += rows[i]
	}
	if sum < hiddenSDs*sigma { // the noise hides it: the coarser look stays
		b.looks = -1
		return
	}
	new := bins{edges: edges, rows: make([]float64, len(rows)), sds: make([]float64, len(rows)), width: b.width, within: c.fine, first: b.first, octaves: b.octaves, looks: b.looks + 1}
	v := sigma * sigma
	for i := range rows {
		switch {
		case i <= low, i > high:
			at := i
			if i > high {
				at -= inner - 1
			}
			o := old[at]
			new.rows[i], new.sds[i] = (o.rows*v+rows[i]*o.sd*o.sd)/(v+o.sd*o.sd), math.Sqrt(v*o.sd*o.sd/(v+o.sd*o.sd))
		default:
			o := old[low+1]
			all := v * float64(inner)
			new.rows[i] = rows[i] + (o.rows-sum)*all/(all+o.sd*o.sd)/float64(inner)
			new.sds[i] = sigma
		}
	}
	o, all := old[low+1].sd*old[low+1].sd, v*float64(inner)
	new.together = o * all / (o + all)
	if _, w := window(new.rows[low+1:high+1], sigma); w >= leastResolved {
		if g := int(math.Ceil(mergedSDs * sigma * float64(inner) / sum)); g > 1 {
			high = new.merge(low, high, g)
		}
	}
	inside := new.rows[low+1 : high+1]
	new.apart = [2]int{low + 1, high + 1}
	copy(inside, dense.Simplex(inside, new.sds[low+1:high+1], math.Max(parts.Sum(inside, func(n float64) float64 { return n }), 1)))
	*b = new
}

// merge joins the bins between two edges, many to one, except that of 0, and returns the index of
// the second edge.
func (b *bins) merge(low, high, many int) int {
	var edges, rows, sds []float64
	last := 0
	for i := range b.rows {
		fresh := i <= low+1 || i > high || (i-1-low)%many == 0 || b.isZero(i) || b.isZero(i-1)
		if !fresh {
			k := len(rows) - 1
			rows[k], sds[k] = rows[k]+b.rows[i], math.Hypot(sds[k], b.sds[i])
			continue
		}
		if i > 0 {
			edges = append(edges, b.edges[i-1])
			if i-1 == high {
				last = len(edges) - 1
			}
		}
		rows, sds = append(rows, b.rows[i]), append(sds, b.sds[i])
	}
	b.edges, b.rows, b.sds, b.width = edges, rows, sds, b.width*float64(many)
	return last
}

// coarse returns the histogram in the bins of edges outside of a window, and one bin for all of it.
func (b *bins) coarse(edges []float64, within [2]float64) []bin {
	var cuts []float64
	for _, e := range edges {
		if e <= within[0] || e >= within[1] {
			cuts = append(cuts, e)
		}
	}
	out := make([]bin, len(cuts)+1)
	for i, n := range b.rows {
		at := len(cuts) // of the last bin
		if i < len(b.edges) {
			at, _ = slices.BinarySearch(cuts, b.edges[i])
		}
		out[at].rows += n
		out[at].sd = math.Hypot(out[at].sd, b.sds[i])
	}
	return out
}
