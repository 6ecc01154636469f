package kv18

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/clip"
	"github.com/gauze-dp/gauze/parts/moments"
)

// The steps, and their parts of mu^2.
const (
	stepCount    = "count"
	stepScale    = "scale"
	stepPlace    = "place"
	stepMoments  = "moments"
	countShare   = .01
	scaleShare   = .25
	placeShare   = .25
	momentsShare = 1 - countShare - scaleShare - placeShare
)

// Options are the constants of the source. They affect utility alone.
type Options struct {
	// Width of the bins that rows are counted in, as a multiple of the lower end of the most
	// frequent octave of distances.
	Width float64
	// Radius: rows are clipped to the centre of the fullest bin plus and minus Radius Width
	// sqrt(ln(n/FailureProb)). 0 weighs the noise against what clipping hides instead, see radius.
	Radius      float64
	FailureProb float64 // in (0, 1)
}

// Practical options have bins of about one standard deviation, as [TYLERPRESS] has them, and the
// radius of the least error.
//
// Source: [KV18] Sections 1 and 2 of the restatement. Differs: see Options.
func Practical() Options { return Options{Width: 1, FailureProb: .05} }

// Published are the source's: no row of a Gaussian is clipped, but for a small probability.
//
// Source: [KV18] Section 3 of the restatement.
func Published() Options { return Options{Width: 4, Radius: 4, FailureProb: .05} }

func (o Options) check() {
	if !(o.Width > 0 && o.Radius >= 0 && o.FailureProb > 0 && o.FailureProb < 1) || math.IsInf(o.Width*o.Radius, 1) {
		panic(fmt.Sprintf("kv18: options that make no sense: %+v", o))
	}
}

// The octaves of distances: those of all numbers.
const (
	lowestOctave  = -1074
	highestOctave = 1023
)

// seenSDs: the largest of the 2099 noises of the histogram of octaves is above so many sds with
// probability 4e-5.
const seenSDs = 5.5

// The scales whose squares and reciprocals are numbers.
const (
	narrowest = 1e-140
	widest    = 1e140
)

// run is one fit: public facts and released values only.
type run struct {
	a        *kernel.Allotment
	o        Options
	relation privacy.Relation
	total    float64 // mu^2
	rows     float64 // not null: n, unless the count says otherwise, or the count
	width    float64 // of the bins
	center   float64
	mean, sd float64 // the estimate; noise is that of the variance, relative
	noise    float64
	flags    []string
}

// missingSDs: where n is public, all rows are good unless the count says otherwise by this many
// noise sds.
const missingSDs = 3.5

// count releases the number of good rows.
func (r *run) count() (doubt string, err error) {
	answer, err := r.a.Sum(stepCount, query.Count{}, math.Sqrt(countShare*r.total))
	if err != nil {
		return "", err
	}
	n, public := r.a.Session().Rows()
	r.rows = answer.Values[0]
	if public && math.Abs(r.rows-float64(n)) <= missingSDs*answer.Sigma {
		r.rows = float64(n)
	}
	if public && r.rows < float64(n) {
		r.flags = append(r.flags, fmt.Sprintf("about %.1f%% of the rows have a missing or unusable value and count for nothing",
			100*math.Max(0, 1-r.rows/float64(n))))
	}
	if !(r.rows >= 2) {
		return fmt.Sprintf("about %.0f rows are too few", math.Max(0, r.rows)), nil
	}
	return "", nil
}

// findScale takes the octave that most distances of pairs fall in: for a Gaussian, its lower end is
// .7 to 1.4 standard deviations.
//
// Source: [KV18] Section 1 of the restatement. Differs: the octaves of float64 are finitely many,
// so all of them get Gaussian noise and no delta is spent; pairs are secret and random, not
// neighbours by position; no bin passes that could be noise.
func (r *run) findScale() (doubt string, err error) {
	q := query.PairOctaves{Columns: 1, Low: lowestOctave, High: highestOctave}
	buckets := int(math.Max(1, math.Min(1<<26, r.rows/2)))
	answer, err := r.a.Pairs(stepScale, query.Pairs{Queries: []query.PairSum{q}, Buckets: []int{buckets}}, math.Sqrt(scaleShare*r.total))
	if err != nil {
		return "", err
	}
	best := 0
	for bin, count := range answer.Values {
		if count > answer.Values[best] {
			best = bin
		}
	}
	switch {
	case answer.Values[best] < seenSDs*answer.Sigma:
		return "the noise hides the most frequent distance of two rows", nil
	case best == 0:
		return "most pairs of rows have one value: it has no scale", nil
	}
	if r.width = r.o.Width * math.Ldexp(1, lowestOctave+best-1); r.width < narrowest || r.width > widest {
		return "the scale of the rows has no variance in float64: record the column in another unit", nil
	}
	return "", nil
}

// findPlace takes the fullest bin of width r.width among those that pass the threshold.
//
// Source: [KV18] Section 2 of the restatement. Differs: Gaussian noise.
func (r *run) findPlace() (doubt string, err error) {
	grid := query.Grid{Frame: query.Affine{Center: []float64{0}, W: [][]float64{{1}}}, Side: []float64{r.width}, Offset: []float64{0}}
	cells, _, err := r.a.Cells(stepPlace, query.BoxKeys{Grids: []query.Grid{grid}}, math.Sqrt(placeShare*r.total))
	if err != nil {
		return "", err
	}
	if len(cells) == 0 {
		return "no bin as wide as the scale holds enough rows", nil
	}
	best := cells[0]
	for _, c := range cells {
		if c.Count > best.Count {
			best = c
		}
	}
	if r.center = (best.Key[0] + .5) * r.width; !dense.Finite(r.center) {
		return "the rows lie where numbers end: record the column in another unit", nil
	}
	return "", nil
}

// Bounds on the truth in units of a practical bin's width: the standard deviation for which the
// radius is meant, and how far the centre of the fullest bin is from the mean.
const (
	sdOfWidth = 1.5
	offCenter = 1
)

// misfit weighs what clipping hides of a tail that is not a Gaussian's. A utility constant of
// clip.Radius2.
const misfit = .1

// radius that rows are clipped to, in bin widths, for n rows and a last release of the given mu.
func (o Options) radius(relation privacy.Relation, n, mu float64) float64 {
	if o.Radius > 0 {
		return o.Radius * math.Sqrt(math.Log(n/o.FailureProb))
	}
	noise := (1 + lift*lift) / mu
	if relation == privacy.ReplaceOne {
		noise *= math.Sqrt2
	}
	return (offCenter + sdOfWidth*math.Sqrt(clip.Radius2(1, n, noise, misfit))) / o.Width
}

// lift is b/r of the moment release: the mean's part of it.
const lift = .45

// A release is not trusted if its noise is more than this part of the variance, or its mean as near
// to the radius as leaning.
const (
	noiseLimit = .25
	leaning    = .8
)

// release spends all that is left on one clipped release of mean and second moment.
//
// Source: [KV18] Section 3 of the restatement; [TYLERPRESS] Section 4.3 with d = 1. Differs: one
// release of both moments, whose clipping is undone for a Gaussian; see radius.
func (r *run) release() (doubt string, err error) {
	mu := r.a.LeftMu()
	radius := r.o.radius(r.relation, r.rows, mu)
	frame := query.Affine{Center: []float64{r.center}, W: [][]float64{{1 / r.width}}}
	q := query.ClippedMoments{Components: []query.Component{{Frame: frame, Radius: radius}}, Form: query.FullForm, Lift: lift}
	answer, err := r.a.Sum(stepMoments, q, mu)
	if err != nil {
		return "", err
	}
	s := moments.Unpack(q, answer)[0]
	first, second, noise := s.Sum[0]/r.rows, s.Trace/r.rows, s.TraceSD/r.rows
	switch spread := second - first*first; {
	case !(noise <= noiseLimit*spread):
		return "the noise hides the spread of the rows", nil
	case math.Abs(first) > leaning*radius || second > leaning*radius*radius:
		return "most rows lie outside the range that the histograms gave", nil
	default:
		r.noise = noise / spread
	}
	mean, sd := unclip(first, second, radius)
	r.mean, r.sd = r.center+mean*r.width, sd*r.width
	return "", nil
}

// outcome is the model.
func (r *run) outcome(shape estimate.CovarianceType) (estimate.Outcome, error) {
	var cov model.Covariance
	var err error
	switch v := r.sd * r.sd; shape {
	case estimate.Spherical:
		cov, err = model.NewSpherical(1, v)
	case estimate.Diagonal:
		cov, err = model.NewDiagonal([]float64{v})
	default:
		cov, err = model.NewFull(mat.NewSymDense(1, []float64{v}))
	}
	if err == nil {
		var mixture *model.Mixture
		if mixture, err = model.New(nil, nil, []model.Gaussian{{Mean: []float64{r.mean}, Cov: cov}}); err == nil {
			return estimate.Outcome{Model: mixture, Diagnostics: estimate.Diagnostics{Flags: r.flags,
				Components: []estimate.ComponentNote{{EffectiveRows: r.rows, EffectiveNoise: r.noise}}}}, nil
		}
	}
	return estimate.Outcome{NoRelease: &estimate.NoRelease{
		Reason: "a released mean or variance is outside the numbers that a model can hold", Advice: "record the column in another unit"}}, nil
}

// The part of a Gaussian's pairs that its fullest octave holds at least (where two octaves hold as
// many), and of its rows that a bin of the width that follows does.
const (
	fullestOctave = .32
	fullestBin    = .25
)

// thresholdSDs is what the threshold of the histogram of places is in noise sds, about.
const thresholdSDs = 6

// rowsSeen is about how many rows a Gaussian needs for its fullest bins to be seen.
func rowsSeen(p estimate.Problem) float64 {
	pairs, place := .5, math.Sqrt2
	if p.Relation != privacy.ReplaceOne {
		pairs, place = (1-3*math.Exp(-2))/2, 1 // of n/2 buckets those with two rows or more
	}
	scale := seenSDs * math.Sqrt2 / (p.Mu * math.Sqrt(scaleShare)) / (fullestOctave * pairs)
	return math.Max(scale, thresholdSDs*place/(p.Mu*math.Sqrt(placeShare))/fullestBin)
}

// relativeError is that of the variance of a Gaussian whose standard deviation is a practical bin's
// width.
func (o Options) relativeError(p estimate.Problem, n float64) float64 {
	mu := p.Mu * math.Sqrt(momentsShare)
	r2 := o.radius(p.Relation, n, mu) * o.Width
	r2 *= r2
	noise := (1 + lift*lift) * r2 / (n * mu)
	if p.Relation == privacy.ReplaceOne {
		noise *= math.Sqrt2
	}
	law := clip.Gaussian(1, r2)
	return math.Sqrt((law.VM/n+noise*noise)*n/2) / law.TraceGain()
}
