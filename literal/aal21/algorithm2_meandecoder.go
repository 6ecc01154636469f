package aal21

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

const stepMeans = "means"

// An axis is where means are sought: the projection <weights, row>, in bins as wide as scale.
type axis struct {
	weights []float64
	// sigma~, public or released; the component's standard deviation along the axis is between half
	// of it and it
	scale float64
}

// farthest is the largest number of a bin in which float64 tells the means of a net from one
// another. No bin beyond it is listed.
const farthest = 1 << 48

// meanSteps returns the step of meanDecoder.
func meanSteps(share float64) []kernel.Step {
	return []kernel.Step{{Name: stepMeans, Query: query.BoxKeys{}.Kind(), Share: share, Most: 1, Slack: 1, Source: "AAL21 Algorithm 2"}}
}

// meanDecoder runs Univariate-Mean-Decoder for every axis, all of them in one measurement that
// costs mu2: the integers i of the bins ((i-1/2) scale, (i+1/2) scale] that hold more than MeanPart
// (1-gamma) of the rows. A list is empty if no bin does, or if more do than mostMeans, which is
// FAIL.
//
// Utility: a component of weight w >= 1-gamma whose standard deviation is in (scale/2, scale] puts
// w P(0 < Z < 1) = .34 w or more into the bin of its mean. If that bin is found, i scale is within
// scale/2, less than one standard deviation, of the mean.
//
// Source: [AAL21] Algorithm 2; Lemma 4.2.
// Differs: bins are closed below; the histograms of all axes are one measurement, each with its
// part of the budget.
func (r *run) meanDecoder(axes []axis, mu2 float64) (lists [][]float64, err error) {
	// Steps 1 and 2: bins, and their stability histogram.
	grid := query.Grid{Map: query.Affine{Center: make([]float64, r.d)}}
	for _, x := range axes {
		grid.Map.W = append(grid.Map.W, x.weights)
		grid.Side, grid.Offset = append(grid.Side, x.scale), append(grid.Offset, -x.scale/2)
	}
	cells, noise, err := r.histogram(stepMeans, query.BoxKeys{Grids: []query.Grid{grid}}, mu2)
	if err != nil {
		return nil, err
	}
	r.seen = binsOf(axes, cells, noise)
	// Steps 3 to 5: the bins that hold enough, or FAIL.
	w := r.least
	lists = make([][]float64, len(axes))
	for _, c := range cells {
		if c.Count > r.c.MeanPart*w*r.rows && math.Abs(c.Key[0]) <= farthest {
			lists[c.Coordinate] = append(lists[c.Coordinate], c.Key[0])
		}
	}
	for i, l := range lists {
		if len(l) > r.c.mostMeans(w) {
			lists[i] = nil
		}
	}
	return lists, nil
}
