package privateem

import (
	"cmp"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of components whose shapes are mostly noise, guesses but for blur.
const (
	// A covariance in noise is too narrow in some direction: it is made wider by blur times the
	// square of its relative spectral noise, and by mostBlur at most. Chosen on gvhd_flow,
	// lifesci_pcs and made-up tables, by likelihood.
	blur, mostBlur = .2, 1.0
	// a component is hazy if its covariance has more relative spectral noise than this. A guess.
	hazy = 1.0
	// A row is near within so many sds, or the root of the number of columns, and nobody is if
	// fewer are than so many noise sds. Guesses.
	nearReach, nearSDs = 3.0, 2.0
)

// Hazy reports that a release at privacy loss mu leaves some shape to noise.
func (r *Rounds) Hazy(mu float64) bool {
	return slices.ContainsFunc(r.Components, func(c component.Gaussian) bool {
		return r.relative(c.Weight, mu)*r.spectral() > hazy
	})
}

// spectral is about the spectral norm of noise with entries of sd 1.
func (r *Rounds) spectral() float64 {
	if r.Form != query.FullForm {
		return 2
	}
	return math.Sqrt(2 * float64(r.Space.Dim()))
}

// Blur makes covariances as wide as their noise leaves it likely.
func (r *Rounds) Blur() {
	for j, c := range r.Components {
		r.Components[j].Cov = symmetric.Scaled(1+math.Min(blur*math.Pow(c.Sigma*r.spectral(), 2), mostBlur), c.Cov)
	}
}

// Attended counts the rows near components whose shapes are noise, all of them in one release at
// privacy loss mu, and drops those that nobody is near: shapes that noise has moved away from the
// rows that they stood for, which are the others' then. Where none is, the noisiest is asked for. A
// row counts for one of them, the narrowest that it is near.
func (r *Rounds) Attended(a *kernel.SubBudget, step string, mu float64) error {
	slices.SortStableFunc(r.Components, func(a, b component.Gaussian) int {
		return cmp.Compare(symmetric.LogDet(a.Cov), symmetric.LogDet(b.Cov))
	})
	if len(r.Components) == 0 {
		return nil
	}
	noisiest := slices.MaxFunc(r.Components, func(a, b component.Gaussian) int { return cmp.Compare(a.Sigma, b.Sigma) }).Sigma
	var seen []int
	var near query.Partition
	for j, c := range r.Components {
		if c.Sigma >= math.Min(noisiest, hazy/r.spectral()) {
			q, _ := r.Space.Density(c, c.Weight)
			within := query.Condition{Frame: q.Frame, Radius: math.Max(nearReach, math.Sqrt(float64(r.Space.Dim())))}
			seen, near.Regions = append(seen, j), append(near.Regions, query.Region{Conditions: []query.Condition{within}})
		}
	}
	answers, err := parts.AskLeaves(a, step, near, make([]query.Count, len(seen)), mu)
	if err != nil {
		return err
	}
	kept := slices.Clone(r.Components)
	for i, j := range seen {
		if ans := answers[i]; ans.Values[0] < nearSDs*ans.Sigma {
			kept[j].Weight = 0
		}
	}
	if kept = slices.DeleteFunc(kept, func(c component.Gaussian) bool { return c.Weight == 0 }); len(kept) > 0 {
		r.Components = kept
		r.normalise(false)
	}
	return nil
}
