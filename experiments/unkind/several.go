package unkind

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// Of mixtures in several columns, which are compared as a whole.
const (
	// A model of a mixture of Gaussians may be as much farther from the truth, in total variation,
	// than EM that was started at it, as counts as learned (madeup.Limit), and no more than
	// mostVariation.
	mostVariation, oracleSteps, variationRows = .35, 3, 4000
	// Of other laws it may be natsOff per row less likely than the one Gaussian that has the
	// moments of the rows it was fitted to, on so many other rows: what is worse is worse than what
	// can be had plainly.
	natsOff, otherRows = .05, 4000
	// A component belongs to the rows that are not stray if its mean lies among them: within so
	// many standard deviations of a true component in every column.
	amongSDs = 8
	// countedShare of the stray rows have to be somewhere: in components apart, in a background or
	// in what is said.
	countedShare = .5
)

// whole compares a model with the law of the rows.
func (c comparison) whole(foreground *model.Mixture) (judgement, error) {
	j := judgement{flags: c.said.flags, said: len(c.said.relevant) > 0, ratio: 1}
	cols := c.rows(false)
	if foreground == nil {
		foreground = c.release.Model
	}
	var err error
	if truth := c.table.Truth; truth != nil {
		err = c.variation(&j, truth, foreground)
	} else {
		err = c.likelihood(&j, cols)
	}
	c.components(&j, cols)
	return j, err
}

// variation compares with a mixture of Gaussians, without outliers if there are any.
func (c comparison) variation(j *judgement, truth, foreground *model.Mixture) error {
	var clean [][]float64
	n, d := c.table.Rows.Dims()
	for i := range n {
		if c.table.Outliers == nil || !c.table.Outliers[i] {
			clean = append(clean, c.table.Rows.RawRowView(i))
		}
	}
	oracle, err := madeup.EM(clean, truth, oracleSteps)
	if err != nil {
		return err
	}
	best, err := madeup.TotalVariation(truth, oracle, variationRows)
	if err != nil {
		return err
	}
	have := c.release.Model
	if c.table.Outliers != nil {
		share := c.strays() / float64(n)
		left := 0.0
		if have, left, err = among(foreground, truth); err != nil {
			return err
		}
		if have == nil {
			j.distance = 1
			j.wrong("no component among the rows")
			return nil
		}
		_, background := c.release.Model.WithoutBackground()
		left += background
		if !j.said && left < countedShare*share && c.strays() > unseenRows/c.mu {
			j.wrong("%.2g of the rows are stray, %.2g are left over", share, left)
		}
	}
	tv, err := madeup.TotalVariation(truth, have, variationRows)
	if err != nil {
		return err
	}
	j.distance = tv - best
	if most := math.Min(mostVariation, madeup.Limit(len(truth.Components), d, n)); !(j.distance <= most) {
		j.wrong("total variation %.2g, %.2g from the truth; k = %d", tv, best, foreground.K())
	}
	return nil
}

// among returns the components of a model that lie among the true ones, and the weight of the
// others.
func among(m, truth *model.Mixture) (*model.Mixture, float64, error) {
	var w []float64
	var gs []model.Gaussian
	for i, g := range m.Components {
		inside := true
		for a, x := range g.Mean {
			near := false
			for _, t := range truth.Components {
				near = near || math.Abs(x-t.Mean[a]) <= amongSDs*math.Sqrt(t.Cov.At(a, a))
			}
			inside = inside && near
		}
		if inside {
			w, gs = append(w, m.Weights[i]), append(gs, g)
		}
	}
	total := floats.Sum(w)
	if total == 0 {
		return nil, 1, nil
	}
	floats.Scale(1/total, w)
	out, err := model.New(m.Columns, w, gs)
	return out, 1 - total, err
}

// likelihood compares other rows' with that under the Gaussian of the rows' own moments.
func (c comparison) likelihood(j *judgement, cols [][]float64) error {
	s := engine.MomentsOf(cols)
	d := len(cols)
	cov := mat.NewDense(d, d, nil)
	for a := range d {
		for b := range d {
			cov.Set(a, b, s.SD[a]*s.SD[b])
			if a != b {
				cov.Set(a, b, s.SD[a]*s.SD[b]*s.Correlation(a, b))
			}
		}
	}
	full, err := model.NewFull(cov)
	if err != nil {
		return err
	}
	plain, err := model.New(nil, []float64{1}, []model.Gaussian{{Mean: s.Mean, Cov: full}})
	if err != nil {
		return err
	}
	ours, err := model.NewScorer(c.release.Model)
	if err != nil {
		return err
	}
	theirs, err := model.NewScorer(plain)
	if err != nil {
		return err
	}
	n, _ := c.other.Dims()
	for i := range n {
		row := c.other.RawRowView(i)
		j.distance += (theirs.LogDensity(row) - ours.LogDensity(row)) / float64(n)
	}
	if !(j.distance <= natsOff) {
		j.wrong("%.3g nats per row below one Gaussian", j.distance)
	}
	return nil
}
