package kv18

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/component"
)

// The steps.
const (
	stepCount   = "count"
	stepScale   = "scale"
	stepPlace   = "place"
	stepMoments = "moments"
)

// The scales whose squares and reciprocals are numbers.
const (
	narrowest = 1e-140
	widest    = 1e140
)

// run is one fit: public facts and released values only.
type run struct {
	program.Run
	c        Constants
	share    shares
	reach    reach
	rows     float64 // not null: n, unless the count says otherwise, or the count
	width    float64 // of the bins
	center   float64
	mean, sd float64 // the estimate; noise is that of the variance, relative
	noise    float64
}

// count releases the number of good rows.
func (r *run) count() (doubt string, err error) {
	answer, err := r.sum(stepCount, query.Count{}, r.share.count*r.Mu2)
	if err != nil {
		return "", err
	}
	n, public := r.Session().Rows()
	r.rows = answer.Values[0]
	if public && math.Abs(r.rows-float64(n)) <= missing(r.Problem)*answer.Sigma {
		r.rows = float64(n)
	}
	if public && r.rows < float64(n) {
		lost := math.Max(0, 1-r.rows/float64(n))
		r.Notes.Flag(flags.New(flags.IncompleteRows, "about %.1f%% of the rows have a missing or unusable value and were not used", 100*lost).Of(lost, 0))
	}
	if !(r.rows >= 2) {
		return fmt.Sprintf("about %.0f rows are too few", math.Max(0, r.rows)), nil
	}
	return "", nil
}

// Bounds on the truth in units of a practical bin's width: the standard deviation for which the
// radius is meant, and how far the centre of the fullest bin is from the mean.
const (
	sdOfWidth = 1.5
	offCenter = 1
)

// A release is not trusted if its noise is more than this part of the variance, or its mean as near
// to the radius as leaning.
const (
	noiseLimit = .25
	leaning    = .8
)

// outcome returns the model.
func (r *run) outcome() estimate.Outcome {
	draft := program.NewDraft(1, r.Notes)
	cov, err := program.ShapedMatrix(mat.NewSymDense(1, []float64{r.sd * r.sd}), r.Problem.Covariance)
	draft.Add(1, []float64{r.mean}, cov, err, estimate.ComponentNote{EffectiveRows: r.rows, EffectiveNoise: r.noise})
	return draft.Outcome()
}

// The part of a Gaussian's pairs that its fullest octave holds at least (where two octaves hold as
// many), and of its rows that a bin of the width that follows does.
const (
	fullestOctave = .289
	fullestBin    = .24
)

// thresholdSDs is what the threshold of a histogram of all places is in noise sds, about.
const thresholdSDs = 6

// rowsSeen returns about how many rows a Gaussian needs for its fullest bins to be seen.
func (c Constants) rowsSeen(p estimate.Problem) float64 {
	reach, sds := c.reach(p.Facts), float64(thresholdSDs)
	if reach.bins > 0 {
		sds = seen(p, reach.bins)
	}
	pairs, place, share := .5, 2., sharesOf(p)
	if p.Relation != privacy.ReplaceOne {
		pairs, place = (1-3*math.Exp(-2))/2, 1 // of n/2 buckets those with two rows or more
	}
	scale := seen(p, reach.octaves()) * countNoise(p, share.scale, 2) / (fullestOctave * pairs)
	return math.Max(scale, sds*countNoise(p, share.place, place)/fullestBin)
}

// Bounds on the lower end of the fullest octave of a Gaussian's distances, in its sds.
const (
	narrowestOctave = .65
	widestOctave    = 1.32
)

// rowsShown returns about how many rows a Gaussian needs for its spread to show through the noise
// of the last release too, with half of noiseLimit and whatever its octave: so it is let through
// but where the noise takes half of the spread, 4 of its sds; 0 if no number below 1e12 does.
func (c Constants) rowsShown(p estimate.Problem) float64 {
	for n := math.Max(2, c.rowsSeen(p)); n < 1e12; n *= 1.05 {
		if noise, _ := c.noise(p, n); 2*widestOctave*widestOctave*noise <= noiseLimit {
			return n
		}
	}
	return 0
}

// noise returns that of the variance of a Gaussian whose standard deviation is a practical bin's
// width, and the square of the radius in that unit.
func (c Constants) noise(p estimate.Problem, n float64) (noise, r2 float64) {
	cost := sharesOf(p).moments * total(p)
	r2 = c.radius(p, n, cost) * c.Width
	r2 *= r2
	return squareNoise(p, cost) * r2 / n, r2
}

// relativeError returns that of the variance of such a Gaussian.
func (c Constants) relativeError(p estimate.Problem, n float64) float64 {
	noise, r2 := c.noise(p, n)
	law := component.ClippedGaussian(1, r2)
	return math.Sqrt((law.VM/n+noise*noise)*n/2) / law.TraceGain()
}
