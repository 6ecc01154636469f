package privateem

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// outsideSDs beyond sqrt d, in its own sds, a component of d columns has about one row in 20,000. A
// guess.
const outsideSDs = 3.0

// CountOutside counts the rows that lie outside every component, with the loss mu, for LeftOut: one
// count in one place, whose noise is that of fewer rows than the background's copies show.
func (r *Rounds) CountOutside(a *kernel.SubBudget, step string, mu float64) (err error) {
	r.outside, r.outsideSD, err = CountOutside(a, step, r.Space, r.Components, mu)
	return err
}

// CountOutside counts the rows that lie outside every component of a space, with the loss mu, and
// returns the noisy count and its sd.
func CountOutside(a *kernel.SubBudget, step string, space component.Space, components []component.Gaussian, mu float64) (rows, sd float64, err error) {
	var outside query.Region
	radius := math.Sqrt(float64(space.Dim())) + outsideSDs
	for _, c := range components {
		q, _ := space.Density(c, c.Weight)
		outside.Conditions = append(outside.Conditions, query.Condition{Frame: q.Frame, Radius: radius, Outside: true})
	}
	answers, err := parts.AskLeaves(a, step, query.Partition{Regions: []query.Region{outside}}, make([]query.Count, 1), mu)
	if err != nil {
		return 0, 0, err
	}
	return answers[0].Values[0], answers[0].Sigma, nil
}
