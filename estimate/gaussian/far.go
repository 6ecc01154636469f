package gaussian

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// Rows beyond the reach of a Gaussian. Utility constants, guesses.
const (
	// The edges of their |z|^2 grow by farRatio up to farWide times the gate, and by farCoarse
	// from there to the end of what has a variance in float64.
	farRatio, farWide, farCoarse = 1.5, 1e6, 4
	// They are seen in up to farWindow neighbouring bins with more than farSDs noise sds, from
	// farNear times the gate on with more than fartherSDs: what noise puts there weighs more.
	farWindow, farSDs, fartherSDs, farNear = 3, 3.5, 5, 100
	// A smaller part of the rows than fewFar, whose distance is not seen, is counted and not told
	// of.
	fewFar = .001
	// farRounding is what rounding to integers adds to noise at most.
	farRounding = .5
	// Where the noise of their mean square is more than farNoise of it, columns are named that have
	// more than farNamed noise sds of them.
	farNoise, farNamed = .2, 2.5
	// The histogram of their distances is so good that they are farClear noise sds, for a part of
	// what is left.
	farClear, farPartLeast, farPartMost = 10, .05, .35
)

// withFar releases the moments of the rows within a Gaussian's reach, the core, and at no further
// cost those of the directions in which the others lie; a histogram measures how far out they are.
// Mean and covariance are those of all rows; the diagnostics have the core's. beyond is the count
// of the far rows, less those that a Gaussian has there; counted has these too.
//
// Source: [TYLERPRESS] Section 4.5. Differs: the source clips stray rows.
func (f fit) withFar(st *tyler.State, beyond estimate.Undescribed, counted float64) (none estimate.Outcome, err error) {
	d, root, good := st.Rank(), st.Root(), f.Good()
	if _, ok := f.hopefulLast(d, 0, false); !ok && f.mayEndAlone() {
		return none, f.Refuse(hiddenCovariance)
	}
	gate := f.reach2(d)
	how, err := f.distances(st, root, gate, counted, beyond.Noise*good)
	if err != nil {
		return none, err
	}
	named, err := f.farIn(st, how, gate, beyond)
	if err != nil {
		return none, err
	}
	best, ok := f.hopefulLast(d, 0, false)
	if !ok {
		return none, f.Refuse(hiddenCovariance)
	}
	frame, err := f.frame(st, root)
	if err != nil {
		return none, err
	}
	split := component.Split{Map: frame, R2: best.R2, Gate: gate}
	sums, err := f.clippedSums(query.FullForm, split.Components(), best.Lift, f.LeftMu())
	if err != nil {
		return none, err
	}
	within, others := split.Unpack(sums)
	far := component.NewBeyond(others, good, how.first, how.square)
	share, shareNoise := joined(far.Share, others.TraceSD/good, beyond.Share, beyond.Noise)
	own := released(within.Over(math.Max(good*(1-share), good/2)), best)
	delta, spread, err := component.InvertClipping(f.Context, own, nil)
	if err != nil {
		return none, err
	}
	law := component.ClippedGaussian(d, best.R2)
	noise := math.Sqrt(2*float64(d)) * own.SecondSD / law.B1
	least, hidden := component.LeastVariance(spread)
	if hidden = hidden || noise > noiseLimit*least; hidden && !f.mayEndAlone() {
		return none, f.Refuse("the noise hides the spread in some directions")
	}
	far.InColumns(unitRows(st))
	mean, all := far.With(delta, spread)
	_, factor := symmetric.FlooredRoot(all, component.LeastEigen)
	if hidden { // the core has no correlations either
		f.Problem.Covariance = estimate.Diagonal
	}
	told := f.besideCore(st, delta, spread, mean, factor, named, how, far.Ways, share, shareNoise)
	switch beyond.Where = "they lie far from the others; mean and covariance include them"; {
	case how.seen:
		beyond.Share = math.Max(0, beyond.Share-share)
	case beyond.Share < fewFar: // as many as coordinates that are a little off show of a Gaussian
		beyond.Share = 0
	default:
		beyond.Where = "the noise hides how far out they lie; they count as if they were as near as possible"
	}
	f.Notes.LeavesOut(beyond)
	if hidden {
		return f.withoutCorrelations(st, root, mean, factor, math.Hypot(math.Sqrt2*own.SecondSD/law.B1, far.Noise), told...)
	}
	return f.Finish(st, root, mean, factor, math.Max(noise, math.Hypot(far.Noise, math.Hypot(how.noise, how.uneven))), told)
}

// unitRows returns by column of the state the direction of its coordinates in which it grows.
func unitRows(st *tyler.State) *mat.Dense {
	rows := mat.DenseCopyOf(st.Wi)
	for i := range rows.RawMatrix().Rows {
		floats.Scale(1/dense.Norm(rows.RawRowView(i)), rows.RawRowView(i))
	}
	return rows
}

// farIn returns by column that varies whether rows beyond the gate are so far out in it that they
// are counted there. Where their distance is measured well the moments say that, and nothing is
// asked.
func (f fit) farIn(st *tyler.State, how farAway, gate float64, beyond estimate.Undescribed) ([]bool, error) {
	in := make([]bool, f.Space.Dim())
	if how.noise < farNoise {
		return in, nil
	}
	center, spread := st.Raw(make([]float64, st.Rank()), symmetric.Identity(st.Rank()), st.Root())
	edge := make([]float64, len(in))
	for i := range edge {
		edge[i] = math.Sqrt(gate * dense.Norm2(spread.RawRowView(i)))
	}
	far, noise, err := f.farFrom(center, edge, beyond.Share)
	for i, share := range far {
		in[i] = share > farNamed*noise
	}
	return in, err
}

// besideCore reports the core, whose mean and root of the covariance are delta and spread, in
// addition to all rows, with mean and factor, if these differ by more than coreApart of a column's
// sd, or the column is named; it names the columns. share is that of the far rows, and noise its
// noise.
func (f fit) besideCore(st *tyler.State, delta []float64, spread *mat.SymDense, mean []float64, factor *mat.SymDense, named []bool, how farAway, ways int, share, noise float64) []estimate.Flag {
	center, core := st.Raw(delta, spread, st.Root())
	moved, all := st.Raw(mean, factor, st.Root())
	var columns []int
	for i, j := range f.Space.Columns {
		own, sd := math.Sqrt(dense.Norm2(core.RawRowView(i))), math.Sqrt(dense.Norm2(all.RawRowView(i)))
		if named[i] || math.Hypot(moved[i]-center[i], sd-own) > coreApart*own {
			columns = append(columns, j)
		}
	}
	if columns == nil {
		return nil
	}
	f.Notes.Core = f.core(center, core, 1-share)
	return []estimate.Flag{flags.New(flags.OutlierGroup, "column %v: about %.2g%% of the rows lie far from the others; %s; the core has mean and sd of the others",
		flags.Ref(columns), 100*share, how.said(ways)).In(columns...).Of(share, noise)}
}

// joined returns two measurements of one number, with their noise, as one.
func joined(a, noiseA, b, noiseB float64) (x, noise float64) {
	va, vb := noiseA*noiseA, noiseB*noiseB
	return (a*vb + b*va) / (va + vb), math.Sqrt(va * vb / (va + vb))
}

// coreApart: a mean or an sd that differs by less, in sds, is that of all rows. A guess.
const coreApart = .1

// farAway is how far out the rows beyond a gate are: the means of |z| and of |z|^2 over them, and
// the relative noise of the second, and uneven, how far it may be off since the rows of a bin can
// all lie at one place in it. Where the rows are not seen, these are those at the gate.
type farAway struct {
	first, square, noise, uneven float64
	seen                         bool
}

// said returns what mean and sd of columns with rows far out in so many directions are, in words.
// Distances are measured over all far rows, so that those of a direction in which they are nearer
// are taken for as far.
func (a farAway) said(ways int) string {
	switch {
	case !a.seen:
		return "the noise hides how far; mean and sd count them as near as possible"
	case ways > 1:
		return "their distance is measured in these columns together, so a single sd can be several times too large or too small"
	}
	return "mean and sd are of all rows"
}

// distances releases how far out the rows beyond the gate are; about is their number as counted
// before, with its noise.
func (f fit) distances(st *tyler.State, root, gate, about, noise float64) (a farAway, err error) {
	edges := []float64{gate}
	for e := gate * farRatio; e < math.MaxFloat64/farCoarse; {
		edges = append(edges, e)
		if e < farWide*gate {
			e *= farRatio
		} else {
			e *= farCoarse
		}
	}
	clear := math.Sqrt2 * farClear / math.Max(about, 1)
	part := math.Max(farPartLeast, math.Min(clear*clear/f.Left(), farPartMost))
	h, err := f.Radii(stepFar, st, root, parts.Mu(part*f.Left()), edges)
	if err != nil {
		return a, err
	}
	counts := h.Counts[1:len(edges)] // between two edges
	reach := 0
	for i := range counts {
		sum, sds := 0.0, farSDs
		if edges[i] > farNear*gate {
			sds = fartherSDs
		}
		seen := func(rows, bins float64) bool { return rows > sds*h.Sigma*math.Sqrt(bins)+farRounding*bins }
		for w := range min(farWindow, i+1) {
			sum += counts[i-w]
			if bins := float64(w + 1); seen(sum, bins) && !seen(sum-counts[i], bins-1) { // rows in bins before i are theirs
				reach = i
			}
		}
	}
	rows, size := 0.0, make([]float64, reach+1)
	for i := range size {
		size[i] = (edges[i+1] - edges[i]) / math.Log(edges[i+1]/edges[i])
		rows += counts[i]
	}
	rows, noise = joined(rows, h.Sigma*math.Sqrt(float64(reach+1)), about, noise)
	for i, s := range size { // a sum of squares may be no float64 where their mean is
		a.first += counts[i] / rows * math.Sqrt(s)
		a.square += counts[i] / rows * s
	}
	if a.seen = rows > farSDs*noise && a.square > gate && a.first*a.first > gate; !a.seen {
		return farAway{math.Sqrt(size[0]), size[0], 1, 0, false}, nil
	}
	for i, s := range size {
		a.noise = math.Hypot(a.noise, h.Sigma/rows*(s/a.square-1))
		a.uneven = math.Hypot(a.uneven, math.Max(0, counts[i])/rows*(s/a.square)*unevenBin(edges[i+1]/edges[i]))
	}
	return a, nil
}

// unevenBin returns the standard deviation of a number, relative to its mean, whose logarithm is
// anywhere in a bin with edges of this ratio.
func unevenBin(ratio float64) float64 {
	log, mean := math.Log(ratio), ratio-1
	return math.Sqrt(math.Max(0, (ratio*ratio-1)*log/(2*mean*mean)-1))
}
