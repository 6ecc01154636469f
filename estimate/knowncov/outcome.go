package knowncov

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
)

// Utility constants of what is told, guesses.
const (
	vagueSD = .5 // a mean that is known to no better than this, in sds per coordinate, is flagged
	lostSD  = 1.5
	// a second moment that is off by this many times its uncertainty is reported
	oddTimes     = 4.0
	mostOutliers = .9 // of the rows
)

// outcome returns the model: the known covariance, and the measured weights and means.
func (f *fit) outcome() estimate.Outcome {
	total, lost := 0.0, 0
	for _, p := range f.parts {
		total += p.rows
		if p.atSD > lostSD {
			lost++
		}
	}
	if lost == len(f.parts) {
		return f.Refuse("the noise hides the means of all components")
	}
	cov, err := f.covariance()
	out := program.NewDraft(f.All, f.Notes)
	near := f.leavesOut(out, total)
	odd := f.odd()
	for j := range f.parts {
		p := &f.parts[j]
		p.rebase(f.white)
		note := estimate.ComponentNote{EffectiveRows: p.rows, Flags: odd[j]}
		if p.atSD > vagueSD {
			note.Flags = append(note.Flags, flags.New(flags.UncertainMean, "its mean is known to about %.1f standard deviations in each direction", p.atSD))
		}
		out.Add(near*p.rows/total, p.base, cov, err, note)
	}
	if near < 1 {
		cov, err := program.ShapedMatrix(f.outliers.Cov, f.Problem.Covariance)
		out.Add(1-near, f.outliers.Mean, cov, err, estimate.ComponentNote{EffectiveRows: f.outliers.Rows, Background: true})
	}
	return out.Outcome()
}

// leavesOut says how many rows are near no component, of which total have been placed, and returns
// the part of the rows that is: less than 1 if a component for the others is to be added.
func (f *fit) leavesOut(out *program.Draft, total float64) (near float64) {
	const where = "they are near no component: stray, or the known covariance is not theirs"
	if f.outliers != nil {
		share := f.outliers.Rows / f.Rows
		out.LeavesOut(estimate.Undescribed{Share: share, Noise: f.noise / f.Rows, Where: where + "; a component marked as background describes them"})
		return 1 - math.Min(share, mostOutliers)
	}
	lost, noise := (f.Rows-total)/f.Rows, f.uncertainty()/f.Rows
	out.LeavesOut(estimate.Undescribed{Share: lost, Noise: noise, Where: where})
	return 1
}

// uncertainty returns about the noise in the number of rows near no component: that of the count,
// and of the last look.
func (f *fit) uncertainty() float64 {
	l, mu := f.looks[len(f.looks)-1], f.Mu(countPart)
	return math.Hypot(f.Factor/mu, floats.Norm(l.counted, 2))
}

// covariance returns the known covariance, in the requested shape.
func (f *fit) covariance() (model.Covariance, error) {
	if f.Problem.Covariance == estimate.Spherical {
		return model.NewSpherical(f.All, f.Problem.KnownCovariance[0][0])
	}
	return program.ShapedMatrix(f.known(), f.Problem.Covariance)
}

// known returns the known covariance.
func (f *fit) known() *mat.SymDense {
	return symmetric.Of(f.All, func(i, j int) float64 { return f.Problem.KnownCovariance[i][j] })
}

// odd flags parts whose rows the known covariance does not fit: their spread near the mean is
// larger or smaller than it says.
func (f *fit) odd() map[int][]estimate.Flag {
	out := map[int][]estimate.Flag{}
	last := len(f.looks) - 1
	l := f.looks[last]
	expected, _ := f.law.average(f.white, l, f.parts, false)
	for i, c := range l.centers {
		at := i * statistics(f.Problem.Columns)
		trace, known, k := 0.0, 0.0, at+1+f.Problem.Columns
		variance := 0.0
		for a := range f.Problem.Columns {
			trace, known, variance = trace+l.value[k], known+expected[k], variance+l.sd[k]*l.sd[k]
			k += f.Problem.Columns - a
		}
		j := f.closest(f.parts, c)
		switch difference := trace - known; {
		case j < 0 || difference*difference <= oddTimes*oddTimes*variance:
		case difference > 0:
			out[j] = append(out[j], flags.New(flags.KnownCovariance, "its rows are spread more widely than the known covariance says"))
		default:
			out[j] = append(out[j], flags.New(flags.KnownCovariance, "its rows are spread less widely than the known covariance says"))
		}
	}
	return out
}
