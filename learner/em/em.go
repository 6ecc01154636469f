// Package em learns mixtures of Gaussians from small samples, without privacy: expectation
// maximisation from many starts, with a weak prior. It is the default learner of the black-box
// reduction, which asks of it that blocks of about a hundred rows rarely end in another optimum
// than their neighbours, and that their estimates lie close together.
//
// The mixture moves with the rows under every invertible affine map, up to rounding and the order
// of components.
//
// Source: [PPE] Section C1 of the restatement.
// Differs: a prior (see Learner.Prior); k-means in coordinates that follow the parts (see starter)
// in place of splits and merges; the rows are whitened by two rounds of Cholesky, which columns of
// any scale survive, and components of a tenth of the mean size are allowed.
package em

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner"
)

// A Learner finds mixtures by EM. Its zero values are good defaults, but for Components.
type Learner struct {
	// Components is k of Learn. LearnMixture is told its own.
	Components int
	// Trim is the largest share of the rows, below .5, that every step leaves out: the least likely
	// ones, if they lie farther out than a Gaussian's; .02 to .04 for tables with outliers; 0 for
	// none. On clean rows it widens the scatter of estimates a little.
	Trim float64
	// Starts is the number of starts; 0 means 10 + 2k + d, or twice that where the search uses a
	// part of the rows.
	Starts int
	// Prior is the number of pseudo-rows by which every covariance is drawn to the harmonic mean of
	// all, which a wide component does not move; half as many are added to every weight. 0 means
	// 10; a negative number means none, which is maximum likelihood.
	//
	// On blocks of a hundred rows the prior makes estimates of blocks differ less, by 7 to 10 per
	// cent if the components are apart and by a quarter if they overlap, and keeps components from
	// collapsing onto few rows; what it adds as a common bias the reduction's last stage takes
	// away. Its weight against that of n rows falls as 1/n.
	Prior float64
}

var (
	_ learner.Learner = Learner{}
	_ learner.Mixture = Learner{}
)

// Utility constants of the learner.
const (
	priorRows = 10.0
	mostTrim  = .49
	// leastShare and leastRows bound a component's rows from below: that share of n/k, and that
	// many times d+1.
	leastShare = .1
	leastRows  = 1.5
	// Of more than twice as many rows the search uses so many of every component for each column
	// and one more, within these bounds, and twice the starts: what it finds is then taken to its
	// end on all rows. With that 60 blocks of 5000 rows in components of very different sizes ended
	// in a worse optimum than another search's 5 times, with 4000 rows and half the starts, which
	// take twice as long, 6 times, with 1000 and half the starts 18 times.
	startRows              = 40
	fewestStart, mostStart = 1000, 2000
)

const (
	// errNone is the error of rows that no start led to a mixture of.
	errNone learner.Error = "em: no start led to a mixture of that many components"
	// errRange is the error of components that overflow.
	errRange learner.Error = "em: rows of sizes that float64 cannot hold the mixture of"
)

// Estimates returns k.
func (l Learner) Estimates() int { return l.Components }

// Coordinates returns that of a component.
func (Learner) Coordinates(d int) int { return learner.MixtureCoordinates(d) }

// Learn returns the components as learner.Estimates writes them.
func (l Learner) Learn(rows [][]float64, seed uint64) ([][]float64, error) {
	mixture, err := l.LearnMixture(rows, l.Components, seed)
	return learner.Estimates(mixture), err
}

// LearnMixture returns k components in no particular order, from k(d+2) rows at least that lie in
// no hyperplane.
func (l Learner) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	z, f, err := l.Prepare(rows, k)
	if err != nil {
		return nil, err
	}
	all, rng := l.Run(z, k, len(f.At)), rand.New(rand.NewPCG(seed, uint64(k)))
	few, starts, some := all, 10+2*k+len(f.At), min(max(startRows*k*(len(f.At)+1), fewestStart), mostStart)
	if all.n > 2*some {
		starts *= 2
	} else {
		some = all.n
	}
	if l.Starts > 0 {
		starts = l.Starts
	}
	if l.trim() > 0 || some < all.n {
		few = l.Run(searched(z, len(f.At), some, l.trim(), rng), k, len(f.At))
		few.trim = 0
	}
	m := few.search(starts, rng)
	if m == nil {
		return nil, errNone
	}
	return all.Finish(m, f)
}

// Finish runs EM from m to its end.
func (r *Run) Finish(m *Mixture, f *Whitening) ([]learner.Component, error) {
	if _, ok := r.iterate(m, longSteps, leastGain); !ok {
		return nil, errNone
	}
	components, ok := f.components(m)
	if !ok {
		return nil, errRange
	}
	return components, nil
}

// Prepare whitens the rows, of which k components take k(d+2) at least.
func (l Learner) Prepare(rows [][]float64, k int) ([]float64, *Whitening, error) {
	if k < 1 || len(rows) == 0 || len(rows[0]) == 0 || len(rows)/k < len(rows[0])+2 {
		return nil, nil, learner.ErrTooFew
	}
	return Whiten(rows, l.trim())
}

func (l Learner) trim() float64 { return math.Min(math.Max(l.Trim, 0), mostTrim) }

// Run returns one with the learner's settings.
func (l Learner) Run(z []float64, k, d int) *Run {
	r := newRun(z, k, d)
	if r.trim = l.trim(); r.trim > 0 {
		r.log = make([]float64, r.n)
	}
	if k == 1 {
		// the prior of one component says nothing, and a bound on its rows is one on the trim
		return r
	}
	r.least = math.Max(leastShare*float64(r.n)/float64(k), leastRows*float64(d+1))
	if r.shapes = l.Prior; l.Prior == 0 {
		r.shapes = priorRows
	}
	r.shapes = math.Max(r.shapes, 0)
	r.weights = r.shapes / 2
	return r
}

// searched returns at most rows rows to search: the central ones if rows are trimmed, since k-means
// would start from the outliers.
func searched(z []float64, d, rows int, trim float64, rng *rand.Rand) []float64 {
	n := len(z) / d
	far := math.Inf(1)
	if trim > 0 {
		far = quantile(norms(z, d), math.Min(central, 1-trim))
	}
	var out []float64
	for _, i := range rng.Perm(n) {
		if r := z[i*d : i*d+d]; !(dense.Dot(r, r) > far) && len(out) < rows*d {
			out = append(out, r...)
		}
	}
	return out
}
