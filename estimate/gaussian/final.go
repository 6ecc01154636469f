package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/clip"
	"github.com/gauze-dp/gauze/parts/moments"
)

// noiseLimit: the last release is not trusted if its spectral noise is above this part of the least
// second moment.
const noiseLimit = .5

// finalGaussian spends all that is left on one clipped moment release, and finds the Gaussian that
// it and the steps before it agree on: what the preconditioner cost is not lost.
//
// The result is scaled by 1/(1 + shrink (d+1) v), v the noise variance of a coordinate: the frame
// comes from noisy steps that the answer uses again, so directions that noise made too wide weigh
// less than they should when the last release decides the scale; and an error relative to the truth
// is least for a little less than the middle of what may be true.
//
// Source: [TYLERPRESS] Sections 4.3 and 4.6. Differs: the number of rows is the combined released
// count under both relations.
//
// Stray rows, if the radii showed any, are left out of it; then the steps, which they leaned on,
// have no say either.
func (r *run) finalGaussian(st *state, seen shape) (estimate.Outcome, error) {
	d := st.rank()
	k := float64(d)
	mu := r.a.LeftMu()
	information, flags := r.information(st), farFlags(seen.far)
	if seen.stray > farShare {
		information = 0
	}
	r2, lift := bestRadius2(r.problem.Relation, d, r.rows, mu, information)
	if shape, size := variances(r.problem.Relation, d, r.rows, mu, r2, lift, information); !hopeful(d, r.rows, shape, size) {
		return r.refuse("the noise of what is left would hide the covariance")
	}
	root := math.Sqrt(consistency(d, st.nu))
	release := r.momentsAt
	if seen.stray > farShare {
		release = func(st *state, root, radius, lift, mu float64) ([]float64, *mat.SymDense, float64, error) {
			return r.momentsWithin(st, root, radius, lift, seen.gate, seen.stray, mu)
		}
	}
	mean, second, noise, err := release(st, root, math.Sqrt(r2), lift, mu)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if second == nil {
		return r.refuse("the preconditioner does not fit float64")
	}
	law, sd := clip.Gaussian(d, r2), noise/math.Sqrt(2*k)
	gain := st.nu + k + 2
	sampling := math.Max(0, 2*gain/(k+st.nu)-2*law.V/(law.B1*law.B1)) / (r.rows * gain * gain)
	var views []*view
	if information > 0 {
		views = r.views(st, root, sampling)
	}
	delta, spread := invert(last{mean, second, r2, sd / math.Sqrt(2*lift*r2), sd}, views)
	variance := 1 / (information + law.B1*law.B1/(sd*sd))
	if least := leastVariance(spread); !(least > leastEigen*1.01) || math.Sqrt(2*k*variance) > noiseLimit*least {
		return r.refuse("the noise hides the spread in some directions")
	}
	spread.ScaleSym(1/math.Sqrt(1+shrink*(k+1)*variance), spread)
	return r.finish(st, root, delta, spread, math.Sqrt(2*k*variance), flags)
}

// shrink is how many times (d+1) v the covariance is scaled down: 1/2 for the curved prior that a
// scale has, 1 for the relative error.
const shrink = 1.5

// finish takes N(delta, spread^2) from the working coordinates to raw units.
func (r *run) finish(st *state, root float64, delta []float64, spread mat.Matrix, noise float64, flags []string) (estimate.Outcome, error) {
	var factor mat.Dense
	factor.Mul(st.wi, spread)
	for j, s := range st.scale {
		row := factor.RawRowView(j)
		for i := range row {
			row[i] *= s / root
		}
	}
	if st.rank() < len(st.m) {
		flags = append(flags, "the covariance is singular: some directions have no spread")
	}
	out, err := r.release(st.raw(delta, root), &factor, flags, noise)
	out.Diagnostics.Unresolved = r.directions(st, st.empty)
	return out, err
}

// momentsAt releases mean and second moment of the rows in the coordinates root*W(y-m), clipped to
// radius; noise is the spectral noise of the second moment. second is nil if the frame does not fit
// float64 or hardly any row was counted.
func (r *run) momentsAt(st *state, root, radius, lift, mu float64) (mean []float64, second *mat.SymDense, noise float64, err error) {
	frame, ok := st.frame(root)
	if !ok {
		return nil, nil, 0, nil
	}
	q := query.ClippedMoments{Components: []query.Component{{Frame: frame, Radius: radius}}, Form: query.FullForm, Lift: math.Sqrt(lift)}
	answer, err := r.a.Sum(r.prefix+"moments", q, mu)
	if err != nil {
		return nil, nil, 0, err
	}
	sums := moments.Unpack(q, answer)[0]
	r.good.add(sums.Count, sums.CountSD)
	rows := r.goodRows()
	mean = sums.Sum
	for i := range mean {
		mean[i] /= rows
	}
	second = sums.Second
	second.ScaleSym(1/rows, second)
	return mean, second, sums.SecondSD / rows * math.Sqrt(2*float64(len(mean))), nil
}

// trusted reports that the spectral noise is at most noiseLimit of the least eigenvalue.
func trusted(second *mat.SymDense, noise float64) bool {
	var eigen mat.EigenSym
	if !eigen.Factorize(second, false) {
		return false
	}
	return noise <= noiseLimit*eigen.Values(nil)[0]
}

// collapsed reports a spread whose least variance is at the floor of the inversion.
func collapsed(spread *mat.SymDense) bool { return !(leastVariance(spread) > leastEigen*1.01) }

// leastVariance is the square of the least eigenvalue of a root; NaN if it has none.
func leastVariance(root *mat.SymDense) float64 {
	var eigen mat.EigenSym
	if !eigen.Factorize(root, false) {
		return math.NaN()
	}
	least := eigen.Values(nil)[0]
	return least * least
}
