package program

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// An Overall is what was measured of all rows together: means and variances of the columns, from
// center and in units of scale, rows clipped to the root of r2, with their noise sds.
type Overall struct {
	center, scale, mean, variance []float64
	r2, meanSD, varianceSD        float64
}

// Utility constants of the columns' moments, guesses.
const (
	// reachSDs of the square of a row's distance are within a component's reach.
	reachSDs = 3.0
	// overallNoise is the noise of a variance, relative, that is paid for a wider reach; where that
	// of the components alone costs mostOverall, nothing is measured.
	overallNoise, mostOverall = .08, .12
	// A difference within quietSDs noise sds is left alone, and one of more is fixed in part: by 1
	// - (quietSDs sd/difference)^2. Where the noise is more than loudNoise of the components' own
	// variance, as where they lie far apart, a difference that is noise alone makes them up to
	// mostWidened times as wide: there it is left alone within sureSDs.
	quietSDs, loudNoise, sureSDs = 2.5, .25, 4.5
	// mostWidened is by how much a component's variance is changed, to match one of all rows.
	mostWidened = 4.0
)

const stepOverall = "overall moments"

func overallStep(share float64) kernel.Step {
	return kernel.Step{Name: stepOverall, Query: query.ClippedMoments{}.Kind(), Share: share, Most: 1, Source: "TYLERPRESS Section 3"}
}

// overall measures the columns, if that is worth its price, in units of the components' joint
// moments, with rows clipped no nearer than the components reach: a histogram of a column would
// have to see what the rounds have seen with more budget. The rounds are in the table's own
// columns.
func (r *Run) overall(e *privateem.Rounds, mu float64) (*Overall, error) {
	gs := slices.Clone(e.Components)
	beside, weight := e.Beside()
	for i := range gs {
		gs[i].Weight *= 1 - weight
	}
	gs = append(gs, beside...)
	all, _ := around(gs)
	d := e.Space.Dim()
	o, unit := &Overall{center: all.Mean}, mat.NewDense(d, d, nil)
	for i := range d {
		o.scale = append(o.scale, math.Sqrt(all.Cov.At(i, i)))
		unit.Set(i, i, 1/o.scale[i])
	}
	o.r2 = o.reach(gs)
	per := math.Sqrt(3) * r.Factor / (r.Rows * mu) // noise of a variance, for a reach of 1
	if !(per*o.r2 < mostOverall) || !dense.AllFinite(o.center) || !dense.AllFinite(unit.RawMatrix().Data) {
		return nil, nil
	}
	o.r2 = math.Max(o.r2, overallNoise/per)
	q := query.ClippedMoments{Form: query.DiagonalForm, Components: []query.Component{{Map: e.Space.Affine(o.center, unit), Radius: math.Sqrt(o.r2)}}}
	answer, err := r.Sum(stepOverall, q, mu)
	if err != nil {
		return nil, err
	}
	s := component.UnpackSums(q, answer)[0]
	o.meanSD, o.varianceSD = s.SumSD/r.Rows, s.SecondSD/r.Rows
	for i := range d {
		o.mean = append(o.mean, s.Sum[i]/r.Rows)
		o.variance = append(o.variance, s.Second.At(i, i)/r.Rows-square(o.mean[i]))
	}
	return o, nil
}

// reach returns how far, squared, components go.
func (o *Overall) reach(gs []component.Gaussian) (most float64) {
	for _, g := range gs {
		mean, variance := 0.0, 0.0
		for i, m := range g.Mean {
			by, v := square((m-o.center[i])/o.scale[i]), g.Cov.At(i, i)/square(o.scale[i])
			mean, variance = mean+by+v, variance+2*v*v+4*by*v
		}
		most = math.Max(most, mean+reachSDs*math.Sqrt(variance))
	}
	return most
}

// Agree changes a mixture, components and background with weights summing to 1, so that it agrees
// with the measured moments of the columns: wide components change more than narrow ones, and
// differences within the noise are left alone. off are the columns that were changed by more than
// told, a part of their sds. If the mixture goes beyond the clipping of the rows, the measured
// moments are too small, and nothing is made smaller.
func (o *Overall) Agree(gs []component.Gaussian, reported float64) (off []int) {
	if o == nil {
		return nil
	}
	clipped := o.reach(gs) > o.r2
	for j := range o.center {
		mean, within := 0.0, 0.0
		for _, g := range gs {
			mean += g.Weight * (g.Mean[j] - o.center[j]) / o.scale[j]
			within += g.Weight * g.Cov.At(j, j) / square(o.scale[j])
		}
		between := parts.Sum(gs, func(g component.Gaussian) float64 { return g.Weight * square((g.Mean[j]-o.center[j])/o.scale[j]-mean) })
		quiet := quietSDs
		if o.varianceSD > loudNoise*within {
			quiet = sureSDs
		}
		by, more := mend(o.mean[j]-mean, quiet*o.meanSD), mend(o.variance[j]-within-between, quiet*o.varianceSD)
		if !(within > 0) || clipped && more <= 0 || by == 0 && more == 0 {
			continue
		}
		for _, g := range gs {
			g.Mean[j] += o.scale[j] * by * g.Cov.At(j, j) / square(o.scale[j]) / within
		}
		o.widen(gs, j, more)
		if was := math.Sqrt(within + between); math.Abs(by) > reported*was || math.Abs(more) > 2*reported*was*was {
			off = append(off, j)
		}
	}
	return off
}

// mend returns the part of a difference that noise, which is within quiet, does not explain.
func mend(difference, quiet float64) float64 {
	return difference * math.Max(0, 1-square(quiet/difference))
}

// widen adds more to the mean variance of column j, in units of its scale: v becomes v/(1 - s v),
// within mostWidened.
func (o *Overall) widen(gs []component.Gaussian, j int, more float64) {
	widest, within := 0.0, 0.0
	for _, g := range gs {
		widest, within = math.Max(widest, g.Cov.At(j, j)), within+g.Weight*g.Cov.At(j, j)
	}
	wider := func(v, s float64) float64 {
		return v * math.Max(1/mostWidened, math.Min(mostWidened, 1/math.Max(1-s*v/widest, 1e-9)))
	}
	low, _ := parts.Bisect(-10*mostWidened, 1, 60, func(s float64) bool {
		return parts.Sum(gs, func(g component.Gaussian) float64 { return g.Weight * wider(g.Cov.At(j, j), s) }) < within+more*square(o.scale[j])
	})
	for _, g := range gs {
		g.Cov.SetSym(j, j, wider(g.Cov.At(j, j), low))
	}
}
