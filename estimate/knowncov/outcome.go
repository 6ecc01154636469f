package knowncov

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/model"
)

// Utility constants of what is told, guesses.
const (
	vagueSD = .5 // a mean that is known to no better than this, in sds per coordinate, is flagged
	lostSD  = 1.5
	// a second moment, or a number of rows, that is off by so many times its doubt is told
	oddTimes = 4.0
	toldLost = .1 // part of the rows near no component that is worth telling
)

// outcome is the model: the known covariance, and the weights and means that the looks say.
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
	if lost := f.Rows - total; lost > toldLost*f.Rows && lost > oddTimes*f.doubt() {
		out.Flag("about %.0f%% of the rows are near no component: they are stray, or the known covariance is not theirs", 100*lost/f.Rows)
	}
	odd := f.odd()
	for j := range f.parts {
		p := &f.parts[j]
		p.rebase(f.white)
		note := estimate.ComponentNote{EffectiveRows: p.rows, Flags: odd[j]}
		if p.atSD > vagueSD {
			note.Flags = append(note.Flags, fmt.Sprintf("its mean is known to about %.1f standard deviations in each direction", p.atSD))
		}
		out.Add(p.rows/total, p.base, cov, err, note)
	}
	return out.Outcome()
}

// doubt is about the noise in the number of rows near no component: that of the count, and of the
// last look.
func (f *fit) doubt() float64 {
	l, mu := f.looks[len(f.looks)-1], f.Mu(countPart)
	variance := f.Factor * f.Factor / (mu * mu)
	for _, sd := range l.counted {
		variance += sd * sd
	}
	return math.Sqrt(variance)
}

// covariance is the known one, in the shape that was asked for.
func (f *fit) covariance() (model.Covariance, error) {
	d, known := f.All, f.Problem.KnownCovariance
	if f.Problem.Covariance == estimate.Spherical {
		return model.NewSpherical(d, known[0][0])
	}
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, known[i][j])
		}
	}
	return program.ShapedMatrix(s, f.Problem.Covariance)
}

// odd flags parts whose rows the known covariance does not fit: their spread near the mean is
// larger or smaller than it says.
func (f *fit) odd() map[int][]string {
	out := map[int][]string{}
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
			out[j] = append(out[j], "its rows are spread more widely than the known covariance says")
		default:
			out[j] = append(out[j], "its rows are spread less widely than the known covariance says")
		}
	}
	return out
}
