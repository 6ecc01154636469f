package query_test

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/query"
)

// twinLeaf is the leaf of one row, by the words of Partition's comment.
func twinLeaf(p query.Partition, row []float64) int {
	if isNull(row) {
		return -1
	}
	in := row
	if len(p.Project.W) > 0 {
		y, n2 := twinImage(p.Project, row)
		if !rowkernels.Finite(n2) {
			return -1
		}
		in = y
	}
	cell := twinRegion(p.Regions, in)
	if p.Components != nil {
		cell = twinNearest(p.Components, in)
	}
	if cell < 0 {
		return -1
	}
	before := 0
	for j := range cell {
		before += len(twinLeaves(p, j))
	}
	if p.Below == nil || p.Below[cell].Regions == nil && p.Below[cell].Components == nil {
		return before
	}
	if leaf := twinLeaf(p.Below[cell], row); leaf >= 0 {
		return before + leaf
	}
	return -1
}

// twinLeaves lists the leaves of cell j.
func twinLeaves(p query.Partition, j int) (leaves []struct{}) {
	if p.Below == nil || p.Below[j].Regions == nil && p.Below[j].Components == nil {
		return make([]struct{}, 1)
	}
	for k := range len(p.Below[j].Regions) + len(p.Below[j].Components) {
		leaves = append(leaves, twinLeaves(p.Below[j], k)...)
	}
	return leaves
}

func twinRegion(regions []query.Region, in []float64) int {
	for j, region := range regions {
		met := true
		for _, c := range region.Conditions {
			_, n2 := twinImage(c.Map, in)
			switch {
			case math.IsNaN(n2) || math.IsInf(n2, 0):
				met = false
			case c.Outside:
				met = met && n2 > c.Radius*c.Radius
			default:
				met = met && n2 <= c.Radius*c.Radius
			}
		}
		if met {
			return j
		}
	}
	return -1
}

func twinNearest(components []query.Component, in []float64) int {
	best, most, within := -1, math.Inf(-1), false
	for j, c := range components {
		_, n2 := twinImage(c.Map, in)
		if math.IsNaN(n2) || math.IsInf(n2, 0) {
			continue
		}
		if score := c.LogWeight - n2/2; score > most {
			best, most, within = j, score, n2 <= c.Radius*c.Radius
		}
	}
	if !within {
		return -1
	}
	return best
}

func twinOfParts(q query.Parts, row []float64) (all contribution) {
	leaf := twinLeaf(q.Partition, row)
	for i, part := range q.Queries {
		if i == leaf {
			all = append(all, twin(part, row)...)
		} else {
			all = append(all, bigs(part.Size())...)
		}
	}
	return all
}
