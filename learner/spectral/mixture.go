package spectral

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner"

	"github.com/gauze-dp/gauze/learner/em"
)

// A Mixture finds mixtures of Gaussians of any shape whose means are far apart: it tells the
// components apart by k-means in the span of the leading singular vectors, and estimates each from
// its rows.
//
// Source: [PPE] Section C2 of the restatement.
// Differs: the singular vectors are those of rows in coordinates in which the components, as told
// apart so far, are round on average, in a few rounds; the likeliest of several attempts is taken,
// and EM takes away the bias of the hard cut between components.
type Mixture struct {
	// Components is k of Learn. LearnMixture is told its own.
	Components int
}

var (
	_ learner.Learner = Mixture{}
	_ learner.Mixture = Mixture{}
)

// Utility constants of Mixture.
const (
	mixtureStarts = 10 // attempts
	mixtureSteps  = 15 // of k-means
	attemptRows   = 4000
	mixtureRounds = 4 // of coordinates that follow from the parts found in the one before
)

const (
	// errParts is the error of rows of which no attempt made k parts with a covariance each.
	errParts learner.Error = "spectral: no attempt parted the rows into components that have covariances"
	// errUnits is the error of rows whose sizes overflow, or that have a constant column.
	errUnits learner.Error = "spectral: the rows have a constant column, or sizes that float64 cannot compare"
)

// Estimates returns k.
func (m Mixture) Estimates() int { return m.Components }

// Coordinates returns that of a component.
func (Mixture) Coordinates(d int) int { return learner.MixtureCoordinates(d) }

// Learn returns the components as learner.Estimates writes them.
func (m Mixture) Learn(rows [][]float64, seed uint64) ([][]float64, error) {
	mixture, err := m.LearnMixture(rows, m.Components, seed)
	return learner.Estimates(mixture), err
}

// LearnMixture returns k components in no particular order, from k(d+2) rows at least. They move
// with the rows under every invertible affine map, up to rounding.
func (Mixture) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	if k < 1 || len(rows) == 0 || len(rows[0]) == 0 || len(rows)/k < len(rows[0])+2 {
		return nil, learner.ErrTooFew
	}
	rng := rand.New(rand.NewPCG(seed, uint64(k)))
	few := rows
	if len(rows) > attemptRows { // EM, in the end, sees all
		few = nil
		for _, i := range rng.Perm(len(rows))[:attemptRows] {
			few = append(few, rows[i])
		}
	}
	u, err := unitsOf(few)
	if err != nil {
		return nil, err
	}
	var best []learner.Component
	top := math.Inf(-1)
	for range mixtureStarts {
		found := u.components(round(u.x, k, rng), k)
		if v := em.LogLikelihood(few, found); v > top { // not a number if nothing was found
			best, top = found, v
		}
	}
	if best == nil {
		return nil, errParts
	}
	return em.Polish(em.Learner{}, rows, best)
}

// units are rows about their mean, each column divided by a power of two.
type units struct {
	x        [][]float64
	at       []float64
	exponent []int
}

// unitsOf returns the rows in units of their largest entries, column by column.
func unitsOf(rows [][]float64) (*units, error) {
	d := len(rows[0])
	u := &units{x: make([][]float64, len(rows)), at: make([]float64, d), exponent: make([]int, d)}
	big := make([]float64, d)
	for i, r := range rows {
		u.x[i] = make([]float64, d)
		for j, v := range r {
			u.x[i][j] = v - rows[0][j]
			big[j] = math.Max(big[j], math.Abs(u.x[i][j]))
		}
	}
	for j, v := range big {
		if v == 0 || !dense.Finite(v) || v < 0x1p-1000 {
			return nil, errUnits
		}
		_, u.exponent[j] = math.Frexp(v)
	}
	for j := range big {
		mean := 0.0
		for i, x := range u.x {
			x[j] = math.Ldexp(x[j], -u.exponent[j])
			mean += (x[j] - mean) / float64(i+1)
		}
		for _, x := range u.x {
			x[j] -= mean
		}
		u.at[j] = rows[0][j] + math.Ldexp(mean, u.exponent[j])
	}
	return u, nil
}

// round returns the parts of one attempt: k-means in whitened rows, then in the leading singular
// directions of rows in coordinates in which the parts are round on average, and so on; nil if they
// have no covariance. Only in such coordinates do the leading directions tell components apart
// whatever the units are.
func round(x [][]float64, k int, rng *rand.Rand) (part []int) {
	residuals := x
	for step := range mixtureRounds {
		sds, directions, err := axesOf(residuals)
		if err != nil || sds[len(sds)-1] == 0 {
			return nil
		}
		for j, v := range directions {
			for c := range v {
				v[c] /= sds[j]
			}
		}
		y := span(x, directions)
		if step > 0 && len(y[0]) > k {
			if _, directions, err = axesOf(y); err != nil {
				return nil
			}
			y = span(y, directions[:k])
		}
		part = parted(y, k, 1, mixtureSteps, rng)
		residuals = make([][]float64, len(x))
		centers := means(x, part, k)
		for i, r := range x {
			residuals[i] = make([]float64, len(r))
			for j, v := range r {
				residuals[i][j] = v - centers[part[i]][j]
			}
		}
	}
	return part
}

// components returns the weights and moments of the parts, in the columns' own units; nil if one
// has no covariance.
func (u *units) components(part []int, k int) []learner.Component {
	if part == nil {
		return nil
	}
	d, count := len(u.at), make([]float64, k)
	for _, j := range part {
		count[j]++
	}
	centers := means(u.x, part, k)
	out := make([]learner.Component, k)
	for j := range out {
		cov := make([]float64, d*d)
		for i, r := range u.x {
			for a := 0; a < d && part[i] == j; a++ {
				for b := range d {
					cov[a*d+b] += (r[a] - centers[j][a]) * (r[b] - centers[j][b]) / count[j]
				}
			}
		}
		if !dense.Cholesky(cov, d) {
			return nil
		}
		out[j] = learner.Component{Weight: count[j] / float64(len(part)), Mean: make([]float64, d)}
		for a, e := range u.exponent {
			out[j].Mean[a] = u.at[a] + math.Ldexp(centers[j][a], e)
			row := make([]float64, d)
			for b := range row {
				row[b] = math.Ldexp(cov[a*d+b], e)
			}
			out[j].Root = append(out[j].Root, row)
			if !(row[a] > 0) || math.IsInf(row[a], 1) || !dense.Finite(out[j].Mean[a]) {
				return nil
			}
		}
	}
	return out
}
