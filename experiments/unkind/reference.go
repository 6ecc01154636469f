package unkind

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// Of the reference in one column: rows and steps of EM, the most components where their number is
// left to it, and the narrowest component: in standard deviations of the column, and, in a column
// of few values, as a part of the way from one to the next, since a likelihood of points is none.
const (
	emRows, emSteps, emMost = 2000, 40, 6
	narrowest               = 1e-9
	fewValues, narrowestGap = 60, .25
)

// reference returns the best of a column without privacy. In several columns it is the moments of
// the true components, known row by row, and of the outliers if the number of components was left
// to the method; in one column it is EM, of k components, or for 0 of as many as the Bayesian
// criterion takes.
func (c comparison) reference(a int, col []float64, k int) []normal {
	if _, d := c.table.Rows.Dims(); d > 1 {
		return c.byLabel(a, col)
	}
	low, high := k, k
	if k == 0 {
		low, high = 1, emMost
	}
	best, least := []normal(nil), math.Inf(1)
	for k := low; k <= high; k++ {
		m, likelihood := em(col, k)
		if bic := -2*likelihood + float64(3*k-1)*math.Log(float64(min(len(col), emRows))); bic < least || best == nil {
			best, least = m, bic
		}
	}
	return best
}

// byLabel returns one component for each label, and one for outliers if they are in the column and
// there may be one.
func (c comparison) byLabel(a int, col []float64) (out []normal) {
	if c.table.Labels == nil {
		s := engine.MomentsOf([][]float64{col})
		return []normal{{1, s.Mean[0], s.SD[0]}}
	}
	n, _ := c.table.Rows.Dims()
	add := func(part []float64) {
		if len(part) > 0 {
			s := engine.MomentsOf([][]float64{part})
			out = append(out, normal{float64(len(part)) / float64(len(col)), s.Mean[0], s.SD[0]})
		}
	}
	apart := c.k == 0 || len(col) < n
	for label := range c.table.Components {
		add(labelled(c.table, label, !apart)[a])
	}
	if apart && len(col) == n && c.table.Outliers != nil {
		var part []float64
		for i, stray := range c.table.Outliers {
			if stray {
				part = append(part, c.table.Rows.At(i, a))
			}
		}
		add(part)
	}
	return out
}

// em fits k components to a column, from groups of equal size and from groups that get smaller
// towards either end; the likelier.
func em(col []float64, k int) (best []normal, likelihood float64) {
	s := engine.MomentsOf([][]float64{col})
	if s.SD[0] == 0 {
		return []normal{{1, s.Mean[0], 0}}, 0
	}
	z := slices.Sorted(slices.Values(col))
	for i := range z {
		z[i] = (z[i] - s.Mean[0]) / s.SD[0]
	}
	floor := narrowest
	if values := slices.Compact(slices.Clone(z)); len(values) <= fewValues {
		least := math.Inf(1)
		for i, x := range values[1:] {
			least = math.Min(least, x-values[i])
		}
		floor = math.Max(floor, narrowestGap*least)
	}
	if len(z) > emRows {
		quantiles := make([]float64, emRows)
		for i := range quantiles {
			quantiles[i] = z[(2*i+1)*len(z)/(2*emRows)]
		}
		z = quantiles
	}
	likelihood = math.Inf(-1)
	for _, power := range []float64{1, .4, 2.5} {
		cuts := make([]int, k+1)
		for i := range cuts {
			cuts[i] = int(math.Pow(float64(i)/float64(k), power) * float64(len(z)))
		}
		m, l := climb(z, cuts, floor)
		if l > likelihood {
			best, likelihood = m, l
		}
		if k == 1 {
			break
		}
	}
	for i := range best {
		best[i].mean = s.Mean[0] + s.SD[0]*best[i].mean
		best[i].sd *= s.SD[0]
	}
	return best, likelihood
}

// climb runs EM from groups of sorted numbers, no component narrower than the floor.
func climb(z []float64, cuts []int, floor float64) (m []normal, likelihood float64) {
	for i := range len(cuts) - 1 {
		part := z[cuts[i]:max(cuts[i]+1, cuts[i+1])]
		mean := engine.Mean(part)
		square := 0.0
		for _, x := range part {
			square += (x - mean) * (x - mean)
		}
		m = append(m, normal{float64(len(part)) / float64(len(z)), mean, max(floor, math.Sqrt(square/float64(len(part))))})
	}
	share := make([]float64, len(m))
	for range emSteps {
		likelihood = 0
		sum := make([][3]float64, len(m))
		for _, x := range z {
			most := math.Inf(-1)
			for i, g := range m {
				u := (x - g.mean) / g.sd
				share[i] = math.Log(g.weight) - math.Log(g.sd) - u*u/2
				most = math.Max(most, share[i])
			}
			total := 0.0
			for i := range share {
				share[i] = math.Exp(share[i] - most)
				total += share[i]
			}
			likelihood += most + math.Log(total)
			for i, r := range share {
				r /= total
				v := x - m[i].mean
				sum[i][0] += r
				sum[i][1] += r * v
				sum[i][2] += r * v * v
			}
		}
		for i, s := range sum {
			if s[0] < 1 {
				continue
			}
			shift := s[1] / s[0]
			m[i] = normal{s[0] / float64(len(z)), m[i].mean + shift, max(floor, math.Sqrt(max(0, s[2]/s[0]-shift*shift)))}
		}
	}
	return m, likelihood
}
