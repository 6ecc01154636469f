package privateem

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of the count, guesses.
const (
	// outsideSDs beyond sqrt d, in its own sds, a component of d columns has about one row in
	// 20,000.
	outsideSDs = 3.0
	// a component has no rows if fewer than this many noise sds are counted for it
	nearSDs = 2.0
)

// Outside returns the region where no component is near.
func Outside(space component.Space, components []component.Gaussian) (out query.Region) {
	radius := math.Sqrt(float64(space.Dim())) + outsideSDs
	for _, c := range components {
		q, _ := space.Density(c, c.Weight)
		out.Conditions = append(out.Conditions, query.Condition{Map: q.Map, Radius: radius, Outside: true})
	}
	return out
}

// Count counts the rows outside every component, for LeftOut, and of the others those that most
// likely belong to each component, all in one release that costs mu. With prune, unreliable
// components without support are dropped: noise has moved them away from their rows.
func (r *Rounds) Count(a *kernel.SubBudget, step string, mu float64, prune bool) error {
	k := len(r.Components)
	p := query.Partition{Regions: []query.Region{Outside(r.Space, r.Components), {}}, Below: []query.Partition{{}, r.Parted()}}
	answers, err := parts.AskLeaves(a, step, p, make([]query.Count, 1+k), mu)
	if err != nil {
		return err
	}
	sd := answers[0].Sigma
	r.outside, r.outsideSD = answers[0].Values[0], sd
	counts := parts.Map(answers[1:], func(ans kernel.Answer) float64 { return ans.Values[0] })
	if prune && !r.Without.Prune {
		r.prune(counts, sd)
	}
	return nil
}

// prune drops the components whose shapes are noise and that hold no clear number of rows, unless
// that leaves none.
func (r *Rounds) prune(counts []float64, sd float64) {
	var kept []component.Gaussian
	for j, c := range r.Components {
		if c.Sigma*r.spectral() <= hazy || counts[j] >= nearSDs*sd {
			kept = append(kept, c)
		}
	}
	if len(kept) > 0 {
		r.Components = kept
		r.normalise(false)
	}
}
