package unkind

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/families"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// components looks for components without rows, and for more than were allowed.
func (c comparison) components(j *judgement, cols [][]float64) {
	k := 0
	groups, _ := c.release.Model.Split()
	for _, i := range groups {
		g := c.release.Model.Components[i]
		if k++; c.release.Model.Weights[i] < lightest {
			continue
		}
		for a, col := range cols {
			low, high := slices.Min(col), slices.Max(col)
			reach := high - low
			sd := math.Sqrt(g.Cov.At(a, a))
			if m := g.Mean[a]; m < low-nobodyOff*reach || m > high+nobodyOff*reach || sd > nobodyWide*reach && reach > 0 {
				j.wrong("a component of weight %.2g at %.3g +- %.3g in column %d, whose rows lie within %.3g and %.3g", c.release.Model.Weights[i], m, sd, a+1, low, high)
			}
		}
	}
	if most := max(c.k, c.most); k > most {
		j.wrong("%d components, where %d were allowed", k, most)
	}
}

// Of clusters: rows that are drawn from a model.
const drawnRows = 10_000

// clusters looks for the true components: each has to have about its share of the model in the box
// that holds it.
func (c comparison) clusters(j *judgement, m *model.Mixture) error {
	if c.table.Labels == nil {
		return nil
	}
	drawn := mat.NewDense(drawnRows, m.Dim(), nil)
	if err := madeup.Draw(m, drawn, rand.New(rand.NewPCG(1, 1))); err != nil {
		return err
	}
	for k := range c.table.Components {
		cols := labelled(c.table, k, false)
		n, _ := c.table.Rows.Dims()
		if float64(len(cols[0])) < leastShare*float64(n) {
			continue
		}
		s := engine.MomentsOf(cols)
		inside := func(rows *mat.Dense) float64 {
			n, _ := rows.Dims()
			in := 0
			for i := range n {
				if within(rows.RawRowView(i), s) {
					in++
				}
			}
			return float64(in) / float64(n)
		}
		have, want := inside(drawn), inside(c.table.Rows)
		if !(have >= want/shareOff && have <= want*shareOff) {
			j.wrong("%.2g of the model where %.2g of the rows are, about true component %d", have, want, k+1)
		}
	}
	return nil
}

// labelled returns the columns of a true component's rows, with or without the outliers.
func labelled(t *families.Table, label int, stray bool) [][]float64 {
	n, d := t.Rows.Dims()
	out := make([][]float64, d)
	for i := range n {
		if t.Labels[i] == label && (stray || t.Outliers == nil || !t.Outliers[i]) {
			for a := range out {
				out[a] = append(out[a], t.Rows.At(i, a))
			}
		}
	}
	return out
}

func within(row []float64, s engine.Moments) bool {
	for a, x := range row {
		if !(math.Abs(x-s.Mean[a]) <= boxSDs*s.SD[a]) {
			return false
		}
	}
	return true
}

// A normal is a component in one column.
type normal struct{ weight, mean, sd float64 }

// marginal returns a model's column.
func marginal(m *model.Mixture, a int) (out []normal) {
	for i, g := range m.Components {
		out = append(out, normal{m.Weights[i], g.Mean[a], math.Sqrt(g.Cov.At(a, a))})
	}
	return out
}

// distances compares the columns with those of the reference; where the number of components was
// left to the method, with more room if it made the best of the number that it took.
func (c comparison) distances(j *judgement, m *model.Mixture, cols [][]float64) {
	for a, col := range cols {
		law := empirical(col)
		have := law.distance(marginal(m, a))
		off := have - law.distance(c.reference(a, col, c.k))
		j.distance = math.Max(j.distance, off)
		if c.k == 0 && off > distanceOff && off <= distanceOff+choiceOff {
			off = have - law.distance(c.reference(a, col, len(m.Components)))
		}
		if !(off <= distanceOff) {
			j.wrong("column %d: Kolmogorov distance %.3g above the reference's", a+1, off)
		}
	}
}

// A steps is the law of some numbers.
type steps struct{ at, below, upTo []float64 } // values, the shares below them and up to them

// mostPoints is the least number of values at which a distance is evaluated.
const mostPoints = 2000

func empirical(col []float64) (s steps) {
	sorted := slices.Sorted(slices.Values(col))
	n := float64(len(sorted))
	stride, last := max(1, len(sorted)/mostPoints), -1
	for i := 0; i < len(sorted); {
		end := i
		for end < len(sorted) && sorted[end] == sorted[i] {
			end++
		}
		if end-i > stride/2 || end-1-last >= stride || i == 0 || end == len(sorted) {
			s.at, s.below, s.upTo = append(s.at, sorted[i]), append(s.below, float64(i)/n), append(s.upTo, float64(end)/n)
			last = end - 1
		}
		i = end
	}
	return s
}

// between is how far from a value a component may put the rows that share it, as a part of the way
// to the next value.
const between = .25

// distance returns Kolmogorov's distance, except that rows of one value may lie anywhere near it:
// narrowly beside it, or spread over the interval that is rounded to it.
func (s steps) distance(m []normal) float64 {
	d := 0.0
	for i, x := range s.at {
		gap := math.Inf(1)
		if i > 0 {
			gap = x - s.at[i-1]
		}
		if i+1 < len(s.at) {
			gap = math.Min(gap, s.at[i+1]-x)
		}
		if math.IsInf(gap, 1) {
			gap = 0
		}
		spread := between * (s.upTo[i] - s.below[i])
		d = math.Max(d, math.Max(s.upTo[i]-spread-cumulative(m, x+between*gap), cumulative(m, x-between*gap)-s.below[i]-spread))
		if i+1 < len(s.at) && s.below[i+1] == s.upTo[i] { // nothing between
			d = math.Max(d, math.Abs(cumulative(m, x+(s.at[i+1]-x)/2)-s.upTo[i]))
		}
	}
	return d
}

// cumulative returns the distribution function of a mixture.
func cumulative(m []normal, x float64) (p float64) {
	for _, g := range m {
		switch {
		case g.sd > 0:
			p += g.weight * math.Erfc((g.mean-x)/(g.sd*math.Sqrt2)) / 2
		case x > g.mean:
			p += g.weight
		case x == g.mean:
			p += g.weight / 2
		}
	}
	return p
}
