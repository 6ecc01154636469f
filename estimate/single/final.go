package single

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/blocks/moments"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/query"
)

// noiseLimit: the last release is not trusted if its spectral noise is above this part of the least second moment.
const noiseLimit = .5

// finalGaussian spends all that is left on one clipped moment release and inverts the clipping for a Gaussian.
//
// Source: [TYLERPRESS] Section 4.3. Differs: the number of rows is the combined released count under both relations.
func (r *run) finalGaussian(st *state, flags []string) (estimate.Outcome, error) {
	d := st.rank()
	mu := r.a.LeftMu()
	r2, lift := bestRadius2(r.problem.Relation, d, r.rows, mu)
	root := math.Sqrt(consistency(d, st.nu))
	mean, second, noise, err := r.momentsAt(st, root, math.Sqrt(r2), lift, mu)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if second == nil || !trusted(second, noise) {
		return r.refuse("the noise of the last release is as large as what it measures")
	}
	delta, spread := invert(mean, second, r2)
	if collapsed(spread) {
		return r.refuse("the noise hides the spread in some directions")
	}
	return r.finish(st, root, delta, spread, noise, flags)
}

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
	return r.release(st.raw(delta, root), &factor, flags, noise)
}

// momentsAt releases mean and second moment of the rows in the coordinates root*W(y-m), clipped to radius; noise is the spectral
// noise of the second moment. second is nil if the frame does not fit float64 or hardly any row was counted.
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
func collapsed(spread *mat.SymDense) bool {
	var eigen mat.EigenSym
	if !eigen.Factorize(spread, false) {
		return true
	}
	least := eigen.Values(nil)[0]
	return !(least*least > leastEigen*1.01)
}
