package axisaligned

import (
	"math/rand/v2"

	"github.com/gauze-dp/gauze/blocks/boxes"
	"github.com/gauze-dp/gauze/blocks/component"
)

// Utility constants of the starts.
const (
	spare      = 2 // components beyond those asked for, until half of the rounds are over
	treeStarts = 12
	complexity = .7 // see boxes.Choice.Penalty, where k is not known
)

// starts are the components to start private EM from: one for every box, or more in boxes whose trees show more.
func (f *fit) starts() ([]component.Gaussian, error) {
	if k := f.p.Components; k > 0 && len(f.found) >= k {
		var out []component.Gaussian
		for _, b := range f.found {
			out = append(out, b.One(f.rows))
		}
		return normalised(out), nil
	}
	sets, err := boxes.Trees(f.a, stepTree, f.found, f.rows, treePart*f.mu2)
	if err != nil {
		return nil, err
	}
	c := boxes.Choice{Most: f.p.Components + spare, Rows: f.rows, Starts: treeStarts, Uniform: startsOf}
	if f.p.Components == 0 {
		c.Most, c.Penalty = f.p.MaxComponents, complexity
	}
	return normalised(boxes.Start(sets, c)), nil
}

func normalised(cs []component.Gaussian) []component.Gaussian {
	total := 0.0
	for _, c := range cs {
		total += c.Weight
	}
	for i := range cs {
		cs[i].Weight /= total
	}
	return cs
}

// startsOf are the generators of EM's starts: public randomness, seeded with k, so that the same released coreset gives the same fit.
func startsOf(k int) func(start int) func() float64 {
	return func(start int) func() float64 { return rand.New(rand.NewPCG(uint64(start), uint64(k))).Float64 }
}
