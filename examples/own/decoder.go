package own

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/aal21"
	"github.com/gauze-dp/gauze/literal/paper"
)

// Grid is a list decoder of one's own, of N(m, 1) with m an integer of magnitude at most Most, in
// one column: it lists those near which a histogram holds a tenth of a component's rows.
//
//	gauze.Request{Estimator: aal21.NewLearner("own:grid", own.Grid{Most: 20}, aal21.Practical())}
//
// makes mixtures of its class learnable: Theorem 3.2 of AAL21.
//
// Privacy: it asks one query through the sample's sub-budget, and its list is a function of the
// answer.
type Grid struct {
	Most int
	list []float64
}

const cells = "cells"

// histogram has one bin around each integer.
func (g Grid) histogram() query.Counts {
	var edges []float64
	for m := -g.Most; m <= g.Most+1; m++ {
		edges = append(edges, float64(m)-.5)
	}
	return query.Counts{Edges: [][]float64{edges}, As: query.Bins}
}

// Steps returns its lines of the plan.
func (g Grid) Steps(_ estimate.Problem, share float64) []kernel.Step {
	return []kernel.Step{{Name: cells, Query: g.histogram().Kind(), Share: share, Most: 1, Source: "AAL21 Definition 2.13"}}
}

// Rows returns how many rows it takes to list components of weight w: their middle bins hold a
// third of them, which has to be more than noise.
func (g Grid) Rows(_ estimate.Problem, w, mu2 float64) (enough, least float64) {
	noise := math.Sqrt2 / math.Sqrt(mu2)
	return 60 * noise / w, 6 * noise / w
}

// Shortest returns about the shortest list there is for tables of such components.
func (g Grid) Shortest(p estimate.Problem) aal21.List {
	return Grid{Most: g.Most, list: make([]float64, max(1, p.Components))}
}

// Decode lists the integers.
func (g Grid) Decode(s aal21.Sample) (aal21.List, error) {
	answer, err := s.SubBudget.Sum(cells, g.histogram(), math.Sqrt(s.Mu2))
	if err != nil {
		return nil, err
	}
	out := Grid{Most: g.Most}
	least := math.Max(5*answer.Sigma, s.LeastWeight*s.Rows/10)
	for m := -g.Most; m <= g.Most; m++ {
		if answer.Values[m+g.Most+1] > least { // answer 0 counts what lies below the first edge
			out.list = append(out.list, float64(m))
		}
	}
	return out, nil
}

// Step returns the step of a net: the list is as fine as its class.
func (Grid) Step(alpha float64) float64 { return alpha }

// Size returns the number of Gaussians.
func (g Grid) Size(float64) float64 { return float64(len(g.list)) }

// Net returns the list.
func (g Grid) Net(float64) (net []paper.Gaussian) {
	for _, m := range g.list {
		net = append(net, paper.Line(m, 1))
	}
	return net
}

// Moves returns none: the members of the class are apart.
func (Grid) Moves() []paper.Move { return nil }
