package gaussian

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// NoiseLimit: the last release is not trusted if its spectral noise is above this part of the least
// second moment. A guess.
const noiseLimit = .5

// A point that carries more than 1/(d+1) of the rows collapses Tyler's iteration around itself, and
// the certificate cannot see it; then many rows lie far outside. Gaussians and mixtures of three
// have almost no row beyond farRadius2 d, collapsed fits .09 to .75 of them ([TYLERPRESS] Section
// 4.5).
const (
	farRadius2 = 25
	// firstFar is the share of rows there with which a preconditioner is believed.
	firstFar = .07
	farPart  = .01 // of mu^2, for a measurement of far rows
	// farShareSDs noise sds are taken off that share: with two, noise alone had few rows go the
	// plain way in one of 3,000 fits. A guess.
	farShareSDs = 3
)

// radiusPart of what is left is for a histogram of the radii. A guess.
const radiusPart = .12

// The steps that make rows round which need not be Gaussian cost a part of mu^2 that falls with the
// square of the rows: at most roundMost, and at least roundLeast for the last of them, which makes
// the frame better than it must be. Utility constants, guesses.
const roundLeast, roundMost, roundFactor = .06, .6, 1.5

// RoundingPart of what is left is for Round where the last release does not use its steps again:
// less than a Gaussian has for it.
func (f *Fit) RoundingPart() float64 {
	need := RowsNeeded(f.Problem) / f.Rows
	return math.Min(math.Max(roundFactor*need*need, roundLeast), roundMost)
}

// Rounded returns where Round with t_1 gets to; nil where the rows are not for rounding, or did not
// get there: then out and err are how the fit ends.
func (f *Fit) Rounded(part float64, far func(*tyler.State) (float64, error)) (st *tyler.State, out estimate.Outcome, err error) {
	uneven, err := f.Uneven()
	if err == nil && uneven {
		out, err = f.Plain(nil)
		return nil, out, err
	}
	there, right := false, false
	if err == nil {
		st, there, right, err = f.Round(1, part, far)
	}
	if err != nil || right {
		return st, out, err
	}
	out, err = f.again(st, there)
	return nil, out, err
}

// Round makes the rows round by steps of t_nu with a part of what is left, if they get there; and
// there, right says that no more than firstFar of them are far out, as far has it: an atom has not
// fooled the steps.
//
// Source: [TYLERPRESS] Section 4.5.
func (f *Fit) Round(nu, part float64, far func(*tyler.State) (float64, error)) (st *tyler.State, there, right bool, err error) {
	st, there, err = f.Tyler.Round(cmp.Or(f.start, tyler.New(f.Space)), nu, part)
	f.round = st
	if !there || err != nil {
		return st, false, false, err
	}
	f.far, err = far(st)
	return st, true, f.far <= firstFar, err
}

// OutlierShare releases which share of the rows has |z|^2 > 25 d in the coordinates of the state,
// less farShareSDs noise sds.
func (f *Fit) OutlierShare(st *tyler.State) (float64, error) {
	frame, ok := st.Affine(st.Root())
	if !ok {
		return 1, nil
	}
	share, noise, err := f.above(stepTail, frame, farRadius2*float64(st.Rank()), farPart)
	return share - farShareSDs*noise, err
}

// above releases with a part of mu^2 which share of the rows has |z|^2 > edge2, and its noise.
func (f *Fit) above(step parts.Step, frame query.Affine, edge2, part float64) (share, noise float64, err error) {
	if frame.Validate(f.All) != nil || !(edge2 <= math.MaxFloat64) {
		return 0, 0, columns.ErrOverflow
	}
	q := query.Counts{Map: frame, As: query.Above, Edges: [][]float64{{edge2}}}
	answer, err := f.Sum(step.Of(f.Tyler.Prefix), q, f.upTo(part*f.Mu2))
	if err != nil {
		return 0, 0, err
	}
	return answer.Values[0] / f.Good(), answer.Sigma / f.Good(), nil
}

// nearest2 returns a |z|^2 that one row in 2e4 of a Gaussian reaches, and at most .8 of farRadius2.
func nearest2(d int) float64 {
	k := float64(d)
	return math.Min(k+2*math.Sqrt(10*k)+20, .8*farRadius2*k)
}

// At most beyondMost of mu^2 buys the number of rows too far out to be described: it is one count,
// in one place, so that its noise is that of fewer rows than any histogram shows. Where rows are
// just enough for a covariance it is less, but not so much less that its noise is that of more than
// beyondNoise of the rows. Guesses.
const beyondLeast, beyondMost, beyondNoise = .01, .05, .019

// beyondPart returns the part of mu^2 that Beyond spends.
func (f *Fit) beyondPart() float64 {
	noisy, ample := 1/(beyondNoise*f.Rows), f.Rows/RowsNeeded(f.Problem)
	part := math.Max(noisy*noisy/f.Mu2, beyondLeast*ample*ample)
	return math.Min(math.Max(part, beyondLeast), beyondMost)
}

// Beyond releases which share of the rows has |z|^2 > edge2, and is so far out that the estimate
// describes the others.
func (f *Fit) Beyond(frame query.Affine, edge2 float64, where string) (u estimate.Undescribed, err error) {
	u.Where, u.Anywhere = where, true
	u.Share, u.Noise, err = f.above(stepBeyond, frame, edge2, f.beyondPart())
	return u, err
}

// BeyondGaussian returns Beyond for a Gaussian.
func (f *Fit) BeyondGaussian(frame query.Affine, edge2 float64) (estimate.Undescribed, error) {
	return f.Beyond(frame, edge2, "they lie far outside the fitted Gaussian, which describes the others")
}

// frame returns that of the state's coordinates times root, or a refusal.
func (f *Fit) frame(st *tyler.State, root float64) (query.Affine, error) {
	frame, ok := st.Affine(root)
	if !ok {
		return frame, f.Refuse("the preconditioner does not fit float64")
	}
	return frame, nil
}

// Radii releases the histogram of |root W(y-m)|^2 between edges, with the loss mu.
func (f *Fit) Radii(step parts.Step, st *tyler.State, root, mu float64, edges []float64) (*tyler.RadialHistogram, error) {
	frame, err := f.frame(st, root)
	if err != nil {
		return nil, err
	}
	return tyler.CountRadii(f.SubBudget, step.Of(f.Tyler.Prefix), frame, mu, edges, f.Good())
}

// Moments releases mean and second moment of the rows in the coordinates root*W(y-m), clipped to
// the radius, as means over the good rows: by the completed form, whose two measurements of the
// trace and of the mean are joined.
func (f *Fit) Moments(st *tyler.State, root float64, c component.ClippingRadius, mu float64) (component.Sums, error) {
	frame, err := f.frame(st, root)
	if err != nil {
		return component.Sums{}, err
	}
	all, err := f.clippedSums(query.CompletedForm, []query.Component{{Map: frame, Radius: math.Sqrt(c.R2)}}, c.Lift, mu)
	if err != nil {
		return component.Sums{}, err
	}
	sums := all[0]
	f.Tyler.Good.Add(sums.Count, sums.CountSD)
	rows := f.Good()
	return join(sums.Over(rows), component.ClippedGaussian(len(sums.Sum), c.R2), rows, f.CountNoise2(rows)), nil
}

// CountNoise2 returns the relative variance of the number of rows, as far as it is counted: also
// where n is public, as a few rows may be null unseen.
func (f *Fit) CountNoise2(rows float64) float64 { return f.Tyler.Good.Variance() / (rows * rows) }

// join moves the diagonal of the second moment and the mean of m, means over the rows, to the best
// estimate that includes the completed form. If the two means of a coordinate differ by more than
// noise, the rows are skew and not Gaussian: then the mean is that of the rows alone.
func join(m component.Sums, law component.ClippingLaw, rows, count2 float64) component.Sums {
	part, _ := law.RestPart(m.SecondSD*m.SecondSD, count2)
	move := part * (law.R2 - m.Rest - m.Trace) / float64(law.D)
	for i := range law.D {
		m.Second.SetSym(i, i, m.Second.At(i, i)+move)
	}
	direct, cross := slices.Clone(m.Sum), slices.Clone(m.Cross)
	floats.Scale(1/law.A1, direct)
	floats.Scale(1/law.C, cross)
	part, apart2 := law.CrossPart(m.SumSD*m.SumSD, m.CrossSD*m.CrossSD, rows)
	if meansApart(direct, cross, math.Sqrt(apart2)) {
		return m
	}
	for i := range m.Sum {
		m.Sum[i] = law.A1 * ((1-part)*direct[i] + part*cross[i])
	}
	m.SumSD = math.Hypot((1-part)*m.SumSD, part*law.A1/law.C*m.CrossSD)
	return m
}

// apartSDs: two measurements of one number differ by more than this many sds of their difference
// with a chance of .3 %, and of hardly more in any of several coordinates. A guess.
const apartSDs = 3

// meansApart reports that two measurements of a mean differ in some coordinate by more than noise
// of the sd explains.
func meansApart(a, b []float64, sd float64) bool {
	return floats.Distance(a, b, math.Inf(1)) > math.Sqrt(apartSDs*apartSDs+2*math.Log(float64(len(a))))*sd
}

func (f *Fit) clippedSums(form query.Form, of []query.Component, lift, mu float64) ([]component.Sums, error) {
	q := query.ClippedMoments{Form: form, Lift: math.Sqrt(lift), Components: of}
	answer, err := f.Sum(stepMoments.Of(f.Tyler.Prefix), q, mu)
	if err != nil {
		return nil, err
	}
	return component.UnpackSums(q, answer), nil
}

// Finish releases N(delta, spread^2) of the coordinates root*W(y-m).
func (f *Fit) Finish(st *tyler.State, root float64, delta []float64, spread mat.Matrix, noise float64, told []estimate.Flag) (estimate.Outcome, error) {
	if st.Rank() < st.Dim() {
		told = append(told, flags.New(flags.Singular, "the covariance is singular: some directions have no spread"))
	}
	f.note(st.Empty(f.All))
	mean, factor := st.Raw(delta, spread, root)
	return f.Release(mean, factor, told, noise)
}
