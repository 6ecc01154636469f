package gaussian

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Stage 0's scale is the octave of the median distance to the centre: a Gaussian's sd is 1.48 to
// 2.97 times it.
const (
	sdOfOctave   = 2.1
	roughPart    = .15 // of what is left, for the rough release of special shapes
	roughRadius2 = 6
	roughLift    = .2
	// leaning: a rough mean this near to the clipping radius says that stage 0 lost the column.
	leaning = .8
	// farSDs: rows farther than this many sds from the mean are counted before the last release.
	farSDs  = 5
	farPart = .02 // of mu^2
)

// fitDiagonal fits every column by itself, a rough and a last clipped moment release each, in the
// units of stage 0. Columns are clipped one by one, so that a correlation between them spoils
// nothing.
//
// Source: [TYLERPRESS] Section 4.3 with d = 1, each column at mu/sqrt(d).
func (r *run) fitDiagonal() (estimate.Outcome, error) {
	d := len(r.kept)
	mean, sd := make([]float64, d), make([]float64, d)
	for i, j := range r.kept {
		mean[i], sd[i] = r.units.Center[j], sdOfOctave*r.units.Scale[j]
	}
	mu := math.Sqrt(roughPart * r.a.Left() / float64(d))
	if _, bad, err := r.refineColumns(mean, sd, mu, roughRadius2, roughLift, true); err != nil || bad >= 0 {
		return r.columnRefused(bad, err)
	}
	far, share, err := r.farColumn(mean, sd)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if share > firstTailLimit {
		return r.refuse(fmt.Sprintf("too many rows of column %d lie far out for a Gaussian fit", far+1))
	}
	mu = math.Sqrt(r.a.Left()/float64(d)) * (1 - 1e-12)
	r2, lift := bestRadius2(r.problem.Relation, 1, r.rows, mu, 0)
	noise, bad, err := r.refineColumns(mean, sd, mu, r2, lift, false)
	if err != nil || bad >= 0 {
		return r.columnRefused(bad, err)
	}
	factor := mat.NewDense(d, d, nil)
	for i, s := range sd {
		factor.Set(i, i, s)
	}
	return r.release(mean, factor, farFlags(share), noise)
}

func (r *run) columnRefused(column int, err error) (estimate.Outcome, error) {
	if err != nil {
		return estimate.Outcome{}, err
	}
	return r.refuse(fmt.Sprintf("the noise hides the spread of column %d", column+1))
}

// refineColumns improves mean and sd of the kept columns, in raw units, by one release each; bad is
// a column that the noise hides, or -1. A rough release hides none: it keeps an upper bound
// instead. noise is the largest noise sd of a second moment.
func (r *run) refineColumns(mean, sd []float64, mu, r2, lift float64, rough bool) (noise float64, bad int, err error) {
	for i, j := range r.kept {
		st := &state{columns: []int{j}, center: mean[i : i+1], scale: sd[i : i+1], m: []float64{0}, w: identity(1), wi: identity(1)}
		first, second, sigma, err := r.momentsAt(st, 1, math.Sqrt(r2), lift, mu)
		if err != nil {
			return 0, -1, err
		}
		if second == nil || math.Abs(first[0]) > leaning*math.Sqrt(r2) {
			return 0, j, nil
		}
		sigma /= math.Sqrt2
		variance := second.At(0, 0) - first[0]*first[0]
		if !rough && !(sigma <= noiseLimit*variance) {
			return 0, j, nil
		}
		delta, root := invert(last{mean: first, second: second, r2: r2, meanSD: 1, secondSD: 1}, nil)
		if rough { // an sd that is too small is what the next release could not repair
			root.SetSym(0, 0, math.Max(root.At(0, 0), math.Sqrt(hiddenPart*sigma)))
		} else if collapsed(root) {
			return 0, j, nil
		}
		mean[i] += sd[i] * delta[0]
		sd[i] *= root.At(0, 0)
		if !dense.Finite(mean[i]) || !dense.Finite(sd[i]*sd[i]) || sd[i] == 0 {
			return 0, j, nil
		}
		noise = math.Max(noise, sigma)
	}
	return noise, -1, nil
}

// farColumn is the column with the largest share of rows beyond farSDs, less two noise sds, and
// that share.
func (r *run) farColumn(mean, sd []float64) (column int, share float64, err error) {
	d := r.problem.Columns
	edges := slices.Repeat([]float64{math.NaN()}, d)
	q := query.Counts{Center: slices.Clone(r.units.Center), Edges: query.Each(edges), As: query.Above}
	for i, j := range r.kept {
		q.Center[j], edges[j] = mean[i], farSDs*sd[i]
	}
	answer, err := r.a.Sum(r.prefix+"far", q, math.Min(math.Sqrt(farPart*r.mu2), r.a.LeftMu()))
	if err != nil {
		return 0, 0, err
	}
	for _, j := range r.kept {
		if s := (answer.Values[j] - 2*answer.Sigma) / r.goodRows(); s > share {
			column, share = j, s
		}
	}
	return column, share, nil
}

// diagonalRelativeError is the ratio of sqrt(sampling + noise variance) to the sampling error of
// one variance.
func diagonalRelativeError(rel privacy.Relation, d int, n, mu float64) float64 {
	mu /= math.Sqrt(float64(d))
	r2, lift := bestRadius2(rel, 1, n, mu, 0)
	cov, _ := predict(rel, 1, n, mu, r2, lift, 0)
	return math.Sqrt(cov * n / 2)
}
