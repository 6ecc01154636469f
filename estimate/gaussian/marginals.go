package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// Means and variances of d columns, with z the rows in the columns' own units, are the mean of one
// vector of 2d entries, (z, a (z^2 - 1)), whose length hardly varies: clipped to a ball of the
// radius r, r^2 about d (1 + 2a^2), an entry of the sum has the noise 2r/mu under replace-one. In
// many columns that is far less than a release of its own for each column, with mu/sqrt d, or one
// of all second moments would have. Utility constants, guesses.
const (
	// a: less is better for the means, more for the variances. It is between these, and as much as
	// leaves the noise of a mean, squared, at meanExcess of its sampling error.
	leastSquares, mostSquares, meanExcess = .4, .7, 1.5
	// roughRadius2 is r^2 of the rough release over that of rows in their own units, in which units
	// and centres may be off.
	roughRadius2 = 2.5
	// radiiPart of mu^2 is for the histogram of |z|. The part clippedPart of the rows, or
	// clippedNoise times that square where it is less, may lie outside of the last radius.
	radiiPart, clippedPart, clippedNoise = .02, .2, .14
	// aloneRadii is radiiPart of what a fit that the noise hides has left. Chosen of .1, .2 and .3
	// on 1,000 skewed rows of 4 and 5 columns, 480 fits each.
	aloneRadii = .2
	// Units whose square is off by less than this factor stay as they are.
	rightUnit = .5
	// A variance that is found to be less than the part leastVariance of the unit's is not clear;
	// nor is, in a fit that the noise hides, one of less than leastSDs of its noise, which may be
	// mostSDs of the noise more.
	leastVariance, leastSDs, mostSDs = .1, 2.5, 2
	// At most mostGivenBack of the variances is given back of what clipping takes, and the part
	// givenBackError of that may be wrong.
	mostGivenBack, givenBackError = .5, .3
)

// A marginals is means and sds of the columns that vary, in raw units, and the noise sd of a
// variance, relative; squares is a.
type marginals struct {
	mean, sd       []float64
	noise, squares float64
	unseen         []int // columns whose spread the noise hides: sd is about the largest possible
}

// marginals measures means and variances by a rough and a last release, and counts the rows that
// are far outside.
//
// Source: [TYLERPRESS] Section 4.3. Differs: all columns at once in the place of one by one.
func (f fit) marginals() (*marginals, error) {
	d, k := f.Space.Dim(), float64(f.Space.Dim())
	m := &marginals{mean: slices.Clone(f.Space.Center), sd: f.SDs()}
	noise2 := meanNoise2(f.Factor, k, f.Rows, f.Left())
	m.squares = squares(noise2)
	if f.round != nil { // as good as a rough release
		m.mean, m.sd = f.columnsOf(f.round, make([]float64, f.round.Rank()), symmetric.Identity(f.round.Rank()), f.round.Root())
	} else if err := f.refine(m, roughRadius2*k*(1+2*m.squares*m.squares), parts.Mu(f.RoughPart*f.Left()), nil); err != nil {
		return nil, err
	}
	frame, fits := m.state(f.Space.Columns).Affine(1)
	if !fits {
		return nil, f.hidden()
	}
	beyond, err := f.BeyondGaussian(frame, farRadius2*k)
	if err == nil {
		err = f.describesMost(beyond)
	}
	if err != nil {
		return nil, err
	}
	f.Notes.LeavesOut(beyond)
	h, err := tyler.CountRadii(f.SubBudget, stepRadii.Of(f.Tyler.Prefix), frame, f.upTo(f.radiiPart()*f.Mu2), tyler.RadialEdges(d), f.Good())
	if err != nil {
		return nil, err
	}
	law := h.FitPearson(0).Law(h.Edges)
	at, beyondAt, clipped := len(law.Points)-1, 0.0, math.Min(clippedPart, clippedNoise*noise2)
	for ; at > 0 && beyondAt+law.Points[at].Share < clipped; at-- {
		beyondAt += law.Points[at].Share
	}
	if f.round != nil { // in fits by columns from the start the rough release has found each unit
		law.Points = slices.Clone(law.Points)
		m.rescale(law.Points, at)
	}
	if err := f.refine(m, m.length2(law.Points[at].Q), f.LeftMu(), law.Points); err != nil {
		return nil, err
	}
	switch unseen := len(m.unseen); {
	case !(m.noise <= noiseLimit) || 2*unseen > d:
		return nil, f.hidden()
	case unseen > 0:
		f.Notes.Flag(flags.New(flags.Unresolved, "column %v: the noise hides the spread; the model has about the largest one possible", flags.Ref(m.unseen)).In(m.unseen...))
	}
	return m, nil
}

// radiiPart returns the part of mu^2 for the histogram of |z|.
func (f fit) radiiPart() float64 {
	if f.round != nil {
		return aloneRadii
	}
	return radiiPart
}

// meanNoise2 returns the square of the noise of a mean of k columns over its sampling error, with
// r^2 = d and the part mu2 of mu^2.
func meanNoise2(factor, k, rows, mu2 float64) float64 { return 2 * factor * factor * k / (rows * mu2) }

// squares returns a where that is noise2.
func squares(noise2 float64) float64 {
	return math.Sqrt(math.Min(math.Max(meanExcess/noise2-1, 2*leastSquares*leastSquares), 2*mostSquares*mostSquares) / 2)
}

// length2 returns about the square of the length of (z, a (z^2-1)) of a row with that |z|^2.
func (m *marginals) length2(z2 float64) float64 {
	k := float64(len(m.mean))
	return z2 + m.squares*m.squares*(2*k+(z2-k)*(z2-k)/k)
}

// state centres the rows and divides each column by its sd.
func (m *marginals) state(columns []int) *tyler.State {
	return tyler.New(component.Space{Columns: columns, Center: m.mean, Scale: m.sd})
}

// rescale takes as the columns' units, by one factor for all, what the rows' mean square is if
// those beyond the point at are no farther out than that. In units that are too small the noise of
// the squares would grow with the square of how far the rows reach; too large ones hide them.
func (m *marginals) rescale(points []tyler.RadialPoint, at int) {
	square, most := 0.0, points[at].Q
	for _, p := range points {
		square += p.Share * math.Min(p.Q, most)
	}
	by := math.Max(square/float64(len(m.sd)), leastVariance)
	if by > rightUnit && by < 1 {
		return
	}
	for i := range points {
		points[i].Q /= by
	}
	floats.Scale(math.Sqrt(by), m.sd)
}

// hidden returns the error of a fit whose columns' spreads the noise hides.
func (f fit) hidden() error { return f.Refuse("the noise hides the spread of the columns") }

// refine releases means and variances with the loss mu, rows clipped to r2. law is that of |z|^2,
// if it was measured: what clipping takes from the variances is given back by it.
func (f fit) refine(m *marginals, r2, mu float64, law []tyler.RadialPoint) error {
	frame, fits := m.state(f.Space.Columns).Affine(1)
	if !fits {
		return f.hidden()
	}
	q := query.ClippedMoments{Form: query.ColumnForm, Lift: m.squares, Components: []query.Component{{Map: frame, Radius: math.Sqrt(r2)}}}
	answer, err := f.Sum(stepMoments.Of(f.Tyler.Prefix), q, mu)
	if err != nil {
		return err
	}
	s := component.UnpackSums(q, answer)[0]
	f.Tyler.Good.Add(s.Count, s.CountSD)
	rows, k, kept, lost := f.Good(), float64(len(m.mean)), 1.0, 0.0
	for _, p := range law {
		clip := math.Min(1, math.Sqrt(r2/m.length2(p.Q)))
		kept -= p.Share * (1 - clip)
		lost += p.Share * (1 - clip) * (p.Q/k - 1)
	}
	lost = math.Min(lost, mostGivenBack)
	meanNoise := s.SumSD / rows / kept
	for i := range m.mean {
		by := s.Sum[i] / rows / kept
		variance := 1 + s.Second.At(i, i)/rows/kept + lost - by*by + meanNoise*meanNoise
		noise := s.SecondSD / rows / kept
		switch {
		case law != nil && f.round != nil && !(variance-lost > math.Max(leastVariance, leastSDs*noise)): // its unit is not wrong by any factor
			m.unseen = append(m.unseen, f.Space.Columns[i])
			variance = math.Max(variance-lost, 0) + mostSDs*noise
		case variance > leastVariance:
		case law == nil:
			variance = leastVariance
		default:
			return f.RefuseColumn(f.Space.Columns[i])
		}
		m.mean[i] += m.sd[i] * by
		m.sd[i] *= math.Sqrt(variance)
		if !dense.Finite(m.mean[i]) || !dense.Finite(m.sd[i]*m.sd[i]) || m.sd[i] == 0 {
			return f.RefuseColumn(f.Space.Columns[i])
		}
	}
	m.noise = math.Hypot(s.SecondSD/rows/kept, givenBackError*lost)
	return nil
}
