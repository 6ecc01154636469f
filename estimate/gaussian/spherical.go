package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/clip"
	"github.com/gauze-dp/gauze/parts/moments"
)

// fitSpherical fits a mean and one variance, the mean of the columns' variances, by a rough and a
// last clipped release in the largest of stage 0's scales.
//
// The last radius is as large as the noise allows, so that columns of unequal spread lose little to
// clipping.
//
// Source: [TYLERPRESS] Section 4.3, query.SphericalForm.
func (r *run) fitSpherical() (estimate.Outcome, error) {
	d := len(r.kept)
	center, sd := make([]float64, d), 0.0
	for i, j := range r.kept {
		center[i] = r.units.Center[j]
		sd = math.Max(sd, sdOfOctave*r.units.Scale[j])
	}
	k := float64(d)
	mu := math.Sqrt(roughPart * r.a.Left())
	if _, ok, err := r.refineSphere(center, &sd, mu, 2*(k+2*math.Sqrt(k)+2), true); err != nil || !ok {
		return r.sphereRefused(err)
	}
	share, err := r.tailShare(r.sphere(center, sd), 0)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if share > firstTailLimit {
		return r.refuseFar("too many rows lie far out for a Gaussian fit")
	}
	mu = r.a.LeftMu()
	noise, ok, err := r.refineSphere(center, &sd, mu, sphereRadius2(r.problem.Relation, d, r.rows, mu), false)
	if err != nil || !ok {
		return r.sphereRefused(err)
	}
	factor := mat.NewDense(d, d, nil)
	for i := range d {
		factor.Set(i, i, sd)
	}
	return r.release(center, factor, farFlags(share), noise)
}

func (r *run) sphereRefused(err error) (estimate.Outcome, error) {
	if err != nil {
		return estimate.Outcome{}, err
	}
	return r.refuse("the noise hides the spread of the rows")
}

// refineSphere improves centre and sd, in raw units, by one release.
func (r *run) refineSphere(center []float64, sd *float64, mu, r2 float64, rough bool) (noise float64, ok bool, err error) {
	d := len(center)
	frame, fits := r.sphere(center, *sd).frame(1)
	if !fits {
		return 0, false, nil
	}
	q := query.ClippedMoments{Components: []query.Component{{Frame: frame, Radius: math.Sqrt(r2)}}, Form: query.SphericalForm}
	answer, err := r.a.Sum(r.prefix+"moments", q, mu)
	if err != nil {
		return 0, false, err
	}
	s := moments.Unpack(q, answer)[0]
	r.good.add(s.Count, s.CountSD)
	rows := r.goodRows()
	trace, shift2 := s.Trace/rows, 0.0
	for i, v := range s.Sum {
		v /= rows
		shift2 += v*v - s.SumSD*s.SumSD/(rows*rows)
		center[i] += *sd * v
	}
	noise = s.TraceSD / rows
	trace -= math.Max(0, shift2)
	if rough {
		trace = math.Max(trace, hiddenPart*noise)
	} else if !(noise <= noiseLimit/2*trace) {
		return 0, false, nil
	}
	if shift2 > leaning*leaning*r2 {
		return 0, false, nil
	}
	*sd *= math.Sqrt(clip.Variance(d, trace, r2))
	return noise / trace, dense.AllFinite(center) && dense.Finite(*sd**sd) && *sd > 0, nil
}

// sphere is the state that centres the rows and divides them by sd.
func (r *run) sphere(center []float64, sd float64) *state {
	d := len(center)
	st := &state{columns: r.kept, center: center, m: make([]float64, d), w: identity(d), wi: identity(d)}
	for range d {
		st.scale = append(st.scale, sd)
	}
	return st
}

// sphereError is the expected square of the relative error of the variance, for a Gaussian in its
// own scale.
func sphereError(rel privacy.Relation, d int, n, mu, r2 float64) float64 {
	k := float64(d)
	c := clip.Gaussian(d, r2)
	noise := 1.5 * r2 / (n * mu)
	if rel == privacy.ReplaceOne {
		noise *= math.Sqrt2
	}
	slope := k * (c.B1 + k*c.B2) // of E|z|^2 with the variance
	return (c.VM*k/n + noise*noise) / (slope * slope)
}

// sphereTolerance: a squared error this much above the least is paid for a larger radius.
const sphereTolerance = 1.1

// sphereRadius2 is the largest radius^2 on a grid up to 25d with nearly the least error.
func sphereRadius2(rel privacy.Relation, d int, n, mu float64) float64 {
	const grid = 80
	low, high := .5*float64(d), 25*float64(d)
	value := func(i int) float64 { return low * math.Pow(high/low, float64(i)/(grid-1)) }
	least := math.Inf(1)
	for i := range grid {
		least = math.Min(least, sphereError(rel, d, n, mu, value(i)))
	}
	for i := grid - 1; i > 0; i-- {
		if sphereError(rel, d, n, mu, value(i)) <= sphereTolerance*least {
			return value(i)
		}
	}
	return low
}

// sphericalRelativeError is the ratio for the variance.
func sphericalRelativeError(rel privacy.Relation, d int, n, mu float64) float64 {
	return math.Sqrt(sphereError(rel, d, n, mu, sphereRadius2(rel, d, n, mu)) * float64(d) * n / 2)
}
