package amn24

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts"
)

const stepDistance = "distance"

// Utility constants of the check.
const (
	cutsOnLine, cutsInPlane = 16, 6 // slabs of a column
	checkDraws              = 100000
	outermost               = 1e4 // reach of the outermost slabs, in distances between quantiles
	farPart                 = .6  // a mixture is flagged from this part of alpha on: cells miss some of a distance
)

// distanceSteps buys the check of the chosen mixture.
func (c Constants) distanceSteps() []kernel.Step {
	return []kernel.Step{{Name: stepDistance, Query: query.PartsOf(query.Count{}.Kind()), Share: c.CheckShare, Most: 1, Source: "AMN24 Algorithm 1"}}
}

// distance measures how far the rows are from the chosen mixture in total variation, on the cells
// that slabs of equal mass cut the columns into, and returns the flag that says so; "" if they are
// as near as Accuracy asks. What noise and sampling are expected to add is subtracted, so it is an
// estimate from below.
//
// Source: [AMN24] Algorithm 1. Differs: the paper trusts the rows that its theorem asks for; here
// the scores stand for those of the paper and can settle on a wrong pair, which would be silent.
func (r *run) distance(m mixture) (flag string, err error) {
	partition, masses := cells(m)
	queries := make([]query.Count, len(masses))
	answers, err := parts.AskLeaves(r.a, stepDistance, partition, queries, parts.Mu(math.Min(r.held, r.a.Left())))
	if err != nil {
		return "", err
	}
	total := 0.0
	var counts, sds []float64
	for _, a := range answers {
		total += a.Values[0]
		counts, sds = append(counts, a.Values[0]), append(sds, a.Sigma)
	}
	if total < 1 {
		return "noise hides whether the chosen mixture fits the rows", nil
	}
	far, noise := paper.Apart(counts, sds, masses, total, checkDraws)
	switch limit := farPart * r.c.Accuracy; {
	case far-noise > limit:
		return fmt.Sprintf("the chosen mixture is not the rows': their total variation is at least about %.2g, measured on %d cells, "+
			"and the method aims at %.2g: do not use this model", far-noise, len(masses), r.c.Accuracy), nil
	case noise > limit:
		return fmt.Sprintf("noise hides whether the chosen mixture fits the rows: it makes a total variation of %.2g on %d cells by itself", noise, len(masses)), nil
	}
	return "", nil
}

// cells returns slabs between the quantiles of every column, and what is beyond them all, with the
// masses that the mixture has there: of draws from it, the same at every call.
func cells(m mixture) (p query.Partition, masses []float64) {
	d := len(m.pairs[0].Mean)
	rows := m.draw(checkDraws)
	cuts := cutsOnLine
	if d > 1 {
		cuts = cutsInPlane
	}
	slabs := make([][]query.Condition, d)
	for j := range d {
		column := make([]float64, len(rows))
		for i, x := range rows {
			column[i] = x[j]
		}
		slabs[j] = between(column, j, cuts)
	}
	p.Regions = []query.Region{{}}
	for _, of := range slabs {
		var finer []query.Region
		for _, region := range p.Regions {
			for _, slab := range of {
				finer = append(finer, query.Region{Conditions: append(slices.Clone(region.Conditions), slab)})
			}
		}
		p.Regions = finer
	}
	p.Regions = append(p.Regions, query.Region{})
	masses = make([]float64, len(p.Regions))
	for _, x := range rows {
		masses[slices.IndexFunc(p.Regions, func(region query.Region) bool { return holds(region, x) })] += 1. / checkDraws
	}
	return p, masses
}

// between returns the slabs of column j between the quantiles of its values.
func between(values []float64, j, cuts int) (slabs []query.Condition) {
	slices.Sort(values)
	at := func(i int) float64 { return values[min(len(values)-1, i*len(values)/cuts)] }
	reach := outermost * (at(cuts-1) - at(1))
	for i := range cuts {
		low, high := at(i), at(i+1)
		if i == 0 {
			low = high - reach
		}
		if i == cuts-1 {
			high = low + reach
		}
		slabs = append(slabs, query.Condition{Map: query.Affine{Columns: []int{j}, Center: []float64{low/2 + high/2}, W: [][]float64{{1}}},
			Radius: high/2 - low/2})
	}
	return slabs
}

// holds reports that the row meets all conditions, slabs of one column.
func holds(region query.Region, x []float64) bool {
	for _, c := range region.Conditions {
		if math.Abs(x[c.Map.Columns[0]]-c.Map.Center[0]) > c.Radius {
			return false
		}
	}
	return true
}

// draw draws rows of the mixture, the same at every call.
func (m mixture) draw(n int) [][]float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float64, n)
	for i := range rows {
		u, at := rng.Float64(), 0
		for at < len(m.weights)-1 && u >= m.weights[at] {
			u -= m.weights[at]
			at++
		}
		x := slices.Clone(m.pairs[at].Mean)
		z := make([]float64, len(x))
		for j := range z {
			z[j] = rng.NormFloat64()
		}
		for j := range x {
			for l, v := range m.pairs[at].L.RawRowView(j) {
				x[j] += v * z[l]
			}
		}
		rows[i] = x
	}
	return rows
}
