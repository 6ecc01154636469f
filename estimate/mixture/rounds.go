package mixture

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/blocks/clip"
	"github.com/gauze-dp/gauze/blocks/moments"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Utility constants of the private EM rounds.
const (
	lift       = .45  // b/r: what the mean pays for the covariance
	goneRows   = 20.0 // a component with fewer rows than this is deleted after the last round
	mostDoubt  = .12  // .. and so is one whose weight is in more doubt than this, relative variance, if k was not asked for
	goneAsked  = 3.0  // .. or this, if the number of components was asked for
	leastRows  = 30.0 // moments are divided by at least this many rows
	stretch    = 25.0 // largest growth of a variance in one round, in the component's own frame
	shrinkStep = .02  // smallest variance after one round, in the component's own frame
)

// rounds is the state of private EM: components in the coordinates of a space.
type rounds struct {
	space      space
	shape      estimate.CovarianceType
	components []gauss
	background background
	rows       float64   // public or released number of good rows
	factor     float64   // sqrt2 under replace-one, 1 under add-or-remove-one
	floor      float64   // smallest eigenvalue in working coordinates
	grid       []float64 // least variance of each working coordinate; nil for none
	misfit     float64
	gone       float64 // see goneRows
	prune      bool    // drop, at the end, components whose weight is in doubt
}

// query builds one soft E-step and M-step for all components and the background as one release ([KSSU19] Section A.5 of the
// restatement): frame = the component's current covariance, radius by clip.Radius2 from the released count.
func (r *rounds) query(mu float64, last bool) (query.ClippedMoments, []*mat.Dense, []clip.Law) {
	q := query.ClippedMoments{Form: r.form(), Lift: lift}
	var ls []*mat.Dense
	var laws []clip.Law
	d := r.space.dim()
	for _, c := range r.components {
		l, inv, logDet := factor(c.cov)
		n := math.Max(c.w*(1-r.background.total())*r.rows, leastRows)
		r2 := clip.Radius2(d, n, r.noise(mu), r.misfit)
		ls, laws = append(ls, l), append(laws, clip.Gaussian(d, r2))
		q.Components = append(q.Components, query.Component{
			Frame:     r.space.frame(c.mean, inv),
			LogWeight: math.Log(math.Max(c.w*(1-r.background.total()), 1e-12)) - logDet/2,
			Radius:    math.Sqrt(r2),
		})
	}
	if last {
		q.Components = append(q.Components, r.background.components(r.space)...)
	}
	return q, ls, laws
}

func (r *rounds) form() query.Form {
	return [...]query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm}[r.shape]
}

// noise is the sd of an entry of a sum of z z^T per unit of R^2 at privacy loss mu: the norm bound of the form times the
// relation's factor (see query.ClippedMoments).
func (r *rounds) noise(mu float64) float64 {
	switch r.shape {
	case estimate.Diagonal:
		return math.Sqrt(3) * r.factor / mu
	case estimate.Spherical:
		return 1.5 * r.factor / mu
	default:
		return (1 + lift*lift) * r.factor / mu
	}
}

// round measures once and updates every component; the last one includes the background and deletes components without rows.
func (r *rounds) round(a *kernel.Allotment, step string, mu float64, last bool) error {
	q, ls, laws := r.query(mu, last)
	ans, err := a.Sum(step, q, mu)
	if err != nil {
		return err
	}
	sums := moments.Unpack(q, ans)
	sums, rungs := sums[:len(r.components)], sums[len(r.components):]
	for j, s := range sums {
		r.components[j] = r.apply(r.components[j], s, laws[j], ls[j])
	}
	r.normalise(last)
	if last {
		r.background.update(rungs, r.rows)
	}
	return nil
}

// normalise makes the weights sum to one; last drops components that hold no row.
func (r *rounds) normalise(last bool) {
	total := 0.0
	var next []gauss
	for _, c := range r.components {
		if last && (c.w*r.rows < r.gone || r.prune && c.doubt.weight > mostDoubt) {
			continue
		}
		total += c.w
		next = append(next, c)
	}
	for j := range next {
		next[j].w /= total
	}
	r.components = next
}

// doubt is how far, in squared units of its own frame, a component may be from the truth: the prior variance of an entry of its
// covariance, of its scale, of a coordinate of its mean, and of its weight relative to itself. Each round is a Kalman update: what
// is measured counts by its noise, what was known by its doubt.
type doubt struct{ shape, scale, mean, weight float64 }

// Utility constants of the doubts.
var (
	// startDoubt is that of a component that comes from the coreset.
	startDoubt = doubt{shape: .15, scale: .15, mean: .15, weight: .06}
	// drift is added after each round: the shares of the rows moved with the components.
	drift = doubt{shape: .03, scale: .03, mean: .03, weight: .01}
)

// priorEntries is how many entries' worth of evidence the prior doubt is given against the observed distance.
const priorEntries = 30

// gain returns the weight of a measurement of `entries` entries at squared distance dist2 from the prior, each with noise variance
// noise2, and the doubt that is left: the prior doubt is first moved towards what the distance says (empirical Bayes).
func gain(prior, dist2, noise2 float64, entries int) (k, left float64) {
	n := float64(entries)
	seen := math.Max(0, dist2/n-noise2)
	p := (n*seen + priorEntries*prior) / (n + priorEntries)
	k = p / (p + noise2)
	return k, p * (1 - k)
}

// apply updates component c, with frame L, from its released sums, undoing the clipping to first order:
// E[g z z^T] = A I + B1 E + B2 tr(E) I ([TYLERPRESS] Section 4.3).
func (r *rounds) apply(c gauss, s moments.Sums, law clip.Law, l *mat.Dense) gauss {
	d := r.space.dim()
	rows := (1 - r.background.total()) * r.rows
	// Weight.
	old := math.Max(c.w*rows, 1)
	k, left := gain(c.doubt.weight, sq((s.Count-old)/old), sq(s.CountSD/old), 1)
	n := math.Max(old+k*(s.Count-old), .1*old)
	c.doubt.weight = left + drift.weight
	c.w = n / rows
	n = math.Max(n, leastRows)
	// Mean.
	mean := make([]float64, d)
	for i := range mean {
		mean[i] = s.Sum[i] / n / law.A1
	}
	k, left = gain(c.doubt.mean, norm2(mean), sq(s.SumSD/n/law.A1), d)
	c.doubt.mean = left + drift.mean
	if long := k * math.Sqrt(norm2(mean)); long > math.Sqrt(law.R2) {
		k *= math.Sqrt(law.R2) / long
	}
	for i := range mean {
		mean[i] *= k
	}
	// Scale: tr E/d.
	excess := (s.Trace/n-law.A*float64(d))/law.TraceGain()/float64(d) - norm2(mean)/float64(d)
	noise := s.TraceSD / n / law.TraceGain() / float64(d)
	k, left = gain(c.doubt.scale, sq(excess), sq(noise), 1)
	c.doubt.scale = left + drift.scale
	cov := identity(d)
	cov.ScaleSym(1+k*excess, cov)
	if s.Second != nil {
		c.doubt.shape = addShape(cov, s, law, n, mean, c.doubt.shape, r.shape) + drift.shape
	}
	work := congruence(l, floored(cov, shrinkStep, stretch))
	if r.shape != estimate.Full {
		work = onlyDiagonal(work, r.shape == estimate.Spherical)
	}
	at := make([]float64, d)
	for i := range d {
		at[i] = c.mean[i]
		for j := 0; j <= i; j++ {
			at[i] += l.At(i, j) * mean[j]
		}
	}
	c.mean, c.cov = at, floored(work, r.floor, math.Inf(1))
	for i, least := range r.grid {
		c.cov.SetSym(i, i, math.Max(c.cov.At(i, i), least))
	}
	c.rows, c.sigma = n, s.SecondSD/n/law.B1
	return c
}

// addShape adds the trace-free part of the measured excess, times its gain, to cov and returns the doubt that is left.
func addShape(cov *mat.SymDense, s moments.Sums, law clip.Law, n float64, mean []float64, prior float64, shape estimate.CovarianceType) float64 {
	d := len(mean)
	e := mat.NewSymDense(d, nil)
	mid := s.Trace/n/law.B1/float64(d) - norm2(mean)/float64(d)
	for i := range d {
		for j := i; j < d; j++ {
			if i != j && shape == estimate.Diagonal {
				continue
			}
			e.SetSym(i, j, s.Second.At(i, j)/n/law.B1-mean[i]*mean[j])
		}
		e.SetSym(i, i, e.At(i, i)-mid)
	}
	entries := d*(d+1)/2 - 1
	if shape == estimate.Diagonal {
		entries = d - 1
	}
	if entries == 0 {
		return prior
	}
	k, left := gain(prior, frobenius2(e), sq(s.SecondSD/n/law.B1), entries)
	e.ScaleSym(k, e)
	cov.AddSym(cov, e)
	return left
}

func norm2(v []float64) float64 {
	t := 0.0
	for _, x := range v {
		t += x * x
	}
	return t
}

// onlyDiagonal keeps the diagonal, or its mean if spherical.
func onlyDiagonal(s *mat.SymDense, spherical bool) *mat.SymDense {
	d := s.SymmetricDim()
	out := mat.NewSymDense(d, nil)
	for i := range d {
		v := s.At(i, i)
		if spherical {
			v = trace(s) / float64(d)
		}
		out.SetSym(i, i, v)
	}
	return out
}
