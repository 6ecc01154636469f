package program

import (
	"math"
	"sort"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/component"
)

// A Draft is the outcome of a fit in the making: components are added, heaviest first.
type Draft struct {
	Notes estimate.Diagnostics
	bare  estimate.Diagnostics // of the outcome if there is no model
	m     model.Mixture
	off   bool // a component was no model's
	// leftOut is what the model leaves out; nil if nothing was counted.
	leftOut *estimate.Undescribed
}

// NewDraft returns a draft with d columns, whose names the front door adds, and the notes made so
// far.
func NewDraft(d int, notes estimate.Diagnostics) *Draft {
	return &Draft{Notes: notes, bare: notes, m: model.Mixture{Columns: model.DefaultColumns(d)}}
}

// Add appends a component. err is that of making its covariance: then there will be no model.
func (d *Draft) Add(weight float64, mean []float64, cov model.Covariance, err error, note estimate.ComponentNote) {
	d.off = d.off || err != nil
	d.m.Weights = append(d.m.Weights, weight)
	d.m.Components = append(d.m.Components, model.Gaussian{Mean: mean, Cov: cov})
	d.Notes.Components = append(d.Notes.Components, note)
}

// Components of more relative spectral noise than this are noise alone: no release has one among
// others. A guess; of 57 fits of 19 tables it left the likelihood as it was, and took the worst sd
// of a column from 349 to 11 times the table's.
const mostNoisy = 8.0

// LeavesOut records what the model leaves out, as a method counted it; Outcome reports it together
// with the components that are dropped, so that the diagnostics and their flag have one share.
func (d *Draft) LeavesOut(u estimate.Undescribed) { d.leftOut = &u }

// dropNoise drops the components that are noise alone, unless all are, and gives their weight to
// the others; it counts as left out.
func (d *Draft) dropNoise() {
	alone := func(i int) bool { return d.Notes.Components[i].EffectiveNoise > mostNoisy }
	share, others, kept := 0.0, 0.0, 0
	for i, w := range d.m.Weights {
		switch {
		case alone(i):
			share += w
		case !d.Notes.Components[i].Background:
			kept++
			fallthrough
		default:
			others += w
		}
	}
	if kept == 0 || share == 0 {
		return
	}
	m, notes := model.Mixture{Columns: d.m.Columns}, []estimate.ComponentNote(nil)
	for i, w := range d.m.Weights {
		if !alone(i) {
			m.Weights, m.Components, notes = append(m.Weights, w/others), append(m.Components, d.m.Components[i]), append(notes, d.Notes.Components[i])
		}
	}
	d.m, d.Notes.Components = m, notes
	const groups = "in groups of which the noise hides all but their size"
	if d.leftOut == nil {
		d.leftOut = &estimate.Undescribed{Share: share, Where: "they may be " + groups}
		return
	}
	where, _, _ := strings.Cut(d.leftOut.Where, ";") // no background stands for these groups
	d.leftOut.Share, d.leftOut.Where = d.leftOut.Share+share, where+", or "+groups
}

// Outcome returns the model, or Outsize.
func (d *Draft) Outcome() estimate.Outcome {
	d.dropNoise()
	if d.leftOut != nil {
		d.Notes.LeavesOut(*d.leftOut)
	}
	if d.off || d.m.Validate() != nil {
		return Outsize(d.bare)
	}
	return estimate.Outcome{Model: &d.m, Diagnostics: d.Notes}
}

// Heaviest returns the components, the heaviest first.
func Heaviest(cs []component.Gaussian) []component.Gaussian {
	cs = append([]component.Gaussian(nil), cs...)
	sort.SliceStable(cs, func(i, j int) bool { return cs[i].Weight > cs[j].Weight })
	return cs
}

// LeftOut returns a flag if fewer components were found than requested.
func LeftOut(asked, found int) (out []estimate.Flag) {
	if asked > found {
		out = append(out, flags.New(flags.FewerComponents, "%d of %d components were left out: they hold too few rows to be seen", asked-found, asked))
	}
	return out
}

// Utility constants of limits and shapes, guesses: nearLimit is the part of the components allowed
// from which on there may be more; a misfit of up to unlike is small.
const nearLimit, unlike = .8, .03

// AtLimit returns a flag if about as many components were found as were allowed, and their number
// was not requested.
func AtLimit(p estimate.Problem, rows float64, found int) (out []estimate.Flag) {
	if most := MostFor(p, rows); p.Components == 0 && most > 1 && float64(found) >= nearLimit*float64(most) {
		out = append(out, flags.New(flags.AtLimit, "%d components found and at most %d are allowed: there may be more; raise --max-components to look for them", found, most))
	}
	return out
}

// NotGaussian returns the flag of a component whose rows are far from its shape.
func NotGaussian() estimate.Flag {
	return flags.New(flags.NotGaussian, "not bell-shaped: use its mean and spread, not its tails")
}

// Unlike returns a note with a component's misfit, if that is clear.
func Unlike(note estimate.ComponentNote, misfit float64) estimate.ComponentNote {
	if misfit > unlike {
		note.Misfit = misfit
		note.Flags = append(note.Flags, NotGaussian())
	}
	return note
}

// noisy is the relative spectral noise beyond which a component's shape is flagged. A guess.
const noisy = 1.0

// Note returns the note on a component whose second moments have so much relative spectral noise.
func Note(rows, noise float64) estimate.ComponentNote {
	note := estimate.ComponentNote{EffectiveRows: rows, EffectiveNoise: noise}
	if noise > noisy {
		note.Flags = append(note.Flags, flags.New(flags.FewRows, "too few rows to trust this group's spread"))
	}
	return note
}

// GaussianNote returns the note on a component of d coordinates.
func GaussianNote(g component.Gaussian, d int) estimate.ComponentNote {
	return Note(g.Rows, g.Sigma*math.Sqrt(2*float64(d)))
}

// Shaped returns the covariance factor factor^T as a model's type. The error is the model's:
// numbers that it cannot hold.
func Shaped(factor *mat.Dense, shape estimate.CovarianceType) (model.Covariance, error) {
	if shape == estimate.Full {
		return model.FullFromFactor(factor)
	}
	var s mat.SymDense
	s.SymOuterK(1, factor)
	return ShapedMatrix(&s, shape)
}

// ShapedMatrix returns the covariance s as a model's type: a spherical one has the mean of the
// variances. See Shaped.
func ShapedMatrix(s *mat.SymDense, shape estimate.CovarianceType) (model.Covariance, error) {
	d := s.SymmetricDim()
	switch shape {
	case estimate.Full:
		return model.NewFull(s)
	case estimate.Spherical:
		return model.NewSpherical(d, s.Trace()/float64(d))
	}
	return model.NewDiagonal(symmetric.DiagonalOf(s))
}

// OfVariances returns the covariance with these on its diagonal, all of them the first if it is
// spherical.
func OfVariances(variances []float64, spherical bool) (model.Covariance, error) {
	if spherical {
		return model.NewSpherical(len(variances), variances[0])
	}
	return model.NewDiagonal(variances)
}
