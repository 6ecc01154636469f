package component

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Utility constants of an update, chosen on the public tables, by experiments/files.
const (
	leastRows  = 30.0 // moments are divided by at least this many rows
	leastKept  = .1   // a count keeps at least this part of what it was before
	stretch    = 25.0 // largest growth of a variance in one update, in the component's own frame
	shrinkStep = .02  // smallest variance after one update, in the component's own frame
	// .. and this part of the spectral norm of its noise, up to mostFloor: where a direction seems
	// narrower it is noise that says so, and rows would be lost to what is wider. Chosen of 0, .2
	// and .4 on fresh plain clusters in 8 and 20 columns; mostFloor a guess.
	noiseFloor, mostFloor = .2, .5
	// A shape of more relative spectral noise than this is not used: the floor would make more of
	// the noise than of the shape, and the component grow in every round. Of 4 and 8, on 144
	// made-up tables (2026-11-30): against none, sds above twice the truth fell from 31 to 3 and 7
	// of 870, and likelihood rose by .018 and .046 nats (+- .03), where all noisy covariances were
	// drawn towards their diagonals in the end.
	mostShapeNoise = 8.0
)

// A Uncertainty is how far, in squared units of its own frame, a component may be from the truth:
// the prior variance of an entry of its covariance, of its scale, of a coordinate of its mean, and
// of its weight relative to itself. Each update is Kalman's: what is measured counts by its noise,
// what was known by its doubt.
type Uncertainty struct{ Shape, Scale, Mean, Weight float64 }

// StartUncertainty returns that of a component that comes from a coreset. A utility constant.
func StartUncertainty() Uncertainty {
	return Uncertainty{Shape: .15, Scale: .15, Mean: .15, Weight: .06}
}

// Framed reports that the shape is known well enough for clipping in its frame to do what it does
// to a Gaussian: the expected squared Frobenius error of the covariance is small.
func (u Uncertainty) Framed(d int) bool {
	return float64(d*(d+1)/2)*u.Shape+float64(d)*u.Scale < framedError
}

// framedError is a utility constant, chosen on plain clusters in 30 columns at one seed.
const framedError = .5

// overlapping is what an update adds to the doubts of components that overlap: the shares of the
// rows move with the components. Of components apart it is the part settledPart of that. Utility
// constants; the latter was chosen of 1/30, 1/300 and 1/3000 by the error of the covariances of
// mixtures of problems.Spec in 2 to 10 columns, and on clusters 10^5 and 10^9 apart.
var overlapping = Uncertainty{Shape: .03, Scale: .03, Mean: .03, Weight: .01}

const settledPart = 1. / 300

// leastSizeSDs: no size is below this many sds of its noise. A guess.
const leastSizeSDs = 2

// moved: of the square of what an update moves, so much is doubted afterwards, as clipping is
// undone to first order only. A guess.
const moved = .2

// curveSteps is how often the covariance is found anew without its second order, which is that of
// the one before. A guess.
const curveSteps = 3

// priorEntries is the number of entries that the prior variance counts as against the observed
// distance. A guess.
const priorEntries = 30

// gain returns the weight of a measurement of `entries` entries at squared distance dist2 from the
// prior, each with noise variance noise2, and the doubt that is left: the prior doubt is first
// moved towards what the distance says (empirical Bayes).
func gain(prior, dist2, noise2 float64, entries int) (k, left float64) {
	n := float64(entries)
	seen := math.Max(0, dist2/n-noise2)
	p := (n*seen + priorEntries*prior) / (n + priorEntries)
	k = p / (p + noise2)
	return k, p*(1-k) + moved*k*k*seen
}

// An Update is what a component's move by a release depends on besides the release. All fields are
// public or released.
type Update struct {
	// Form is that of the query that was measured. Required.
	Form query.Form
	// Rows is the number of rows that the weights are shares of. Required.
	Rows float64
	// Floor is the smallest eigenvalue of a covariance in working coordinates; 0 for none, which
	// keeps the accuracy of columns of very different scales.
	Floor float64
	// Grid is the least variance of each working coordinate; nil for none.
	Grid []float64
	// Settled is which part of the component's rows no other shares: 1 of components apart. What
	// was measured before goes on counting as far as rows do not change hands.
	Settled float64
	// Shape, if set, is that of all components, which have one in common: see ShareShape. For the
	// full form only.
	Shape *Shape
	// Prior, if set, is what the shapes of all components of the form say of that of each: see
	// Shape.of.
	Prior *Shape
}

// Apply updates component c from its released sums, seen as how says, undoing the clipping to first
// order, E[g z z^T] = A I + B1 E + B2 tr(E) I ([TYLERPRESS] Section 4.3), and then to second order.
func (u Update) Apply(c Gaussian, s Sums, how Clipping) Gaussian {
	drift := math.Max(settledPart, 1-u.Settled)
	l, law := how.L, how.Law
	d := len(c.Mean)
	// Weight.
	old := math.Max(c.Weight*u.Rows, 1)
	k, left := gain(c.Uncertainty.Weight, sq((s.Count-old)/old), sq(s.CountSD/old), 1)
	n, sd := math.Max(old+k*(s.Count-old), leastKept*old), old*math.Sqrt(left)
	c.Uncertainty.Weight, c.CountSD = left+drift*overlapping.Weight, sd
	c.Weight = n / u.Rows
	if s.Cross != nil && n > leastRows {
		s.Trace, s.TraceSD = s.traceBy(n, sd, law)
	}
	n = math.Max(n, leastRows)
	c.Rows = n
	// Mean.
	mean, noise := s.meanBy(n, law)
	k, left = gain(c.Uncertainty.Mean, dense.Norm2(mean), sq(noise), d)
	c.Uncertainty.Mean, c.MeanSD = left+drift*overlapping.Mean, math.Sqrt(left)
	if long := k * math.Sqrt(dense.Norm2(mean)); long > math.Sqrt(law.R2) {
		k *= math.Sqrt(law.R2) / long
	}
	floats.Scale(k, mean)
	work := symmetric.Congruence(l, u.curved(&c, s, law, mean, drift))
	if u.Form != query.FullForm {
		work = symmetric.OnlyDiagonal(work, u.Form == query.SphericalForm)
	}
	if u.Floor > 0 {
		work = symmetric.Floored(work, u.Floor, math.Inf(1))
	}
	c.Mean, c.Cov = slices.Clone(c.Mean), work
	symmetric.AddMul(c.Mean, l, mean)
	for i, least := range u.Grid {
		c.Cov.SetSym(i, i, math.Max(c.Cov.At(i, i), least))
	}
	return c
}

// Recenter moves c, whose frame may be many times as wide as its rows lie, to where its released
// sums have them, and makes it a sphere in its own frame that holds them about the new mean: wider
// by the noise of the mean, so that a narrower frame loses no rows.
func (u Update) Recenter(c Gaussian, s Sums, how Clipping) Gaussian {
	d, old := float64(len(c.Mean)), math.Max(c.Weight*u.Rows, 1)
	k, left := gain(c.Uncertainty.Weight, sq((s.Count-old)/old), sq(s.CountSD/old), 1)
	n := math.Max(math.Max(old+k*(s.Count-old), leastKept*old), leastRows)
	c.Weight, c.Rows, c.CountSD = n/u.Rows, n, old*math.Sqrt(left)
	mean := slices.Clone(s.Sum)
	floats.Scale(1/n, mean)
	noise2, sampling := sq(s.SumSD/n), s.TraceSD/n/d
	size := s.Trace/n/d - dense.Norm2(mean)/d + 2*noise2
	size = math.Min(math.Max(size, noise2+leastSizeSDs*sampling), 1)
	c.Uncertainty = Uncertainty{Shape: overlapping.Shape, Scale: sq(sampling / size), Mean: noise2 / size, Weight: left}
	c.Mean, c.Cov = slices.Clone(c.Mean), symmetric.Scaled(math.Max(size, u.Floor), c.Cov)
	symmetric.AddMul(c.Mean, how.L, mean)
	return c
}

// curved returns the covariance of c in its own frame after an update, as covariance does, of sums
// without what clipping does to it in the second order, unless the component was seen to have
// another shape than a Gaussian's, of which the second order says nothing.
func (u Update) curved(c *Gaussian, s Sums, law ClippingLaw, mean []float64, drift float64) *mat.SymDense {
	was := *c
	own := u.covariance(c, s, law, mean, drift)
	if u.Shape != nil || s.Second == nil || c.Misfit > 0 {
		return own
	}
	for range curveSteps {
		flat, ok := u.uncurved(c.Rows, s, law, own, mean)
		if !ok {
			break
		}
		c.Uncertainty.Shape, c.Uncertainty.Scale = was.Uncertainty.Shape, was.Uncertainty.Scale
		own = u.covariance(c, flat, law, mean, drift)
	}
	return own
}

// uncurved returns the sums of so many rows without the second order, where the component is own
// about the mean.
func (u Update) uncurved(rows float64, s Sums, law ClippingLaw, own *mat.SymDense, mean []float64) (flat Sums, ok bool) {
	d := len(mean)
	if flat = s; u.Form == query.DiagonalForm {
		more, ok := law.CurveDiagonal(symmetric.DiagonalOf(own), mean)
		if !ok {
			return s, false
		}
		second := symmetric.DiagonalOf(s.Second)
		floats.AddScaled(second, -rows, more)
		flat.Second, flat.Trace = symmetric.Diagonal(second), s.Trace-rows*floats.Sum(more)
		return flat, true
	}
	whole := mat.NewSymDense(d, nil)
	whole.SymRankOne(own, 1, mat.NewVecDense(d, mean))
	more, ok := law.Curve(whole)
	if !ok {
		return s, false
	}
	flat.Second = symmetric.Of(d, func(i, j int) float64 { return s.Second.At(i, j) - rows*more.At(i, j) })
	flat.Trace = s.Trace - rows*mat.Trace(more)
	return flat, true
}

// covariance returns that of c in its own frame after an update, whose mean and rows are those of c
// already; it updates what is in doubt of it.
func (u Update) covariance(c *Gaussian, s Sums, law ClippingLaw, mean []float64, drift float64) *mat.SymDense {
	d, n := len(mean), c.Rows
	// Scale: tr E/d.
	excess := (s.Trace/n-law.A*float64(d))/law.TraceGain()/float64(d) - dense.Norm2(mean)/float64(d)
	noise := s.TraceSD / n / law.TraceGain() / float64(d)
	if u.Shape != nil && excess > 0 { // far frames grow as soon as they shrink
		excess = ClippedVariance(d, s.Trace/n, law.R2) - 1 - dense.Norm2(mean)/float64(d)
	}
	k, left := gain(c.Uncertainty.Scale, sq(excess), sq(noise), 1)
	c.Uncertainty.Scale = left + drift*overlapping.Scale
	size, least, cov := 1+k*excess, shrinkStep, symmetric.Identity(d)
	if c.Sigma = s.SecondSD / n / law.B1; u.Shape != nil {
		c.Sigma = u.Shape.SD
	} else {
		cov.ScaleSym(size, cov)
	}
	if u.Prior != nil {
		cov, c.Uncertainty.Shape = u.Prior.of(u.excess(s, law, n, mean), size, c.Sigma, n)
		c.Sigma = math.Sqrt(c.Uncertainty.Shape)
		return symmetric.Floored(cov, least, stretch)
	}
	if spectral := c.Sigma * math.Sqrt(2*float64(d)); s.Second != nil && spectral <= mostShapeNoise {
		least = math.Max(least, math.Min(mostFloor, noiseFloor*spectral))
		c.Uncertainty.Shape = u.addShape(cov, s, law, n, mean, *c) + drift*overlapping.Shape
	}
	cov = symmetric.Floored(cov, least, stretch)
	if u.Shape != nil {
		cov.ScaleSym(math.Max(math.Max(shrinkStep, leastSizeSDs*noise), math.Min(size, stretch)), cov)
	}
	return cov
}

// addShape adds the trace-free part of the measured excess, times its gain, to cov and returns the
// doubt that is left.
func (u Update) addShape(cov *mat.SymDense, s Sums, law ClippingLaw, n float64, mean []float64, c Gaussian) float64 {
	d, e := len(mean), u.excess(s, law, n, mean)
	entries := d*(d+1)/2 - 1
	if u.Form == query.DiagonalForm {
		entries = d - 1
	}
	if entries == 0 {
		return c.Uncertainty.Shape
	}
	if u.Shape != nil {
		e.CopySym(u.Shape.Excess)
	}
	k, left := gain(c.Uncertainty.Shape, symmetric.Frobenius2(e), sq(c.Sigma), entries)
	e.ScaleSym(k, e)
	cov.AddSym(cov, e)
	return left
}

// excess returns by what the sums have the covariance about the mean differ from the identity,
// without its trace.
func (u Update) excess(s Sums, law ClippingLaw, n float64, mean []float64) *mat.SymDense {
	d := len(mean)
	e := mat.NewSymDense(d, nil)
	mid := mat.Trace(s.Second)/n/law.B1/float64(d) - dense.Norm2(mean)/float64(d)
	for i := range d {
		for j := i; j < d; j++ {
			if i != j && u.Form == query.DiagonalForm {
				continue
			}
			e.SetSym(i, j, s.Second.At(i, j)/n/law.B1-mean[i]*mean[j])
		}
		e.SetSym(i, i, e.At(i, i)-mid)
	}
	return e
}

func sq(x float64) float64 { return x * x }
