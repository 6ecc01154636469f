package mixture

import (
	"math"

	"github.com/gauze-dp/gauze/blocks/component"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Utility constants of the contest.
const (
	contestPart  = .03  // of mu^2
	contestBound = 2.0  // nats that one row may say
	contestWin   = .01  // nats per row by which the mixture must win
	contestEps   = .001 // weight of the background on both sides, so that far rows say little
)

// contest asks the rows whether the mixture explains them better than one Gaussian with the mixture's own mean and covariance, both
// with the background, and falls back to the Gaussian if not: a coreset with noise can always be fitted better by more components.
//
// Source: [KSSU19] Section E.2, point 6 of the restatement (k > 1 chosen on the coreset lost nats).
// Differs: measured on the rows.
func (f *fit) contest(r *rounds) error {
	if len(r.components) <= 1 {
		return nil
	}
	whole := r.components[0]
	for _, c := range r.components[1:] {
		whole = component.Joined(whole, c)
	}
	one := *r
	one.components = []component.Gaussian{whole}
	ans, err := f.a.Sum("contest", query.LogRatio{F: r.density(), G: one.density(), Bound: contestBound},
		math.Sqrt(contestPart*f.mu2)*(1-1e-12))
	if err != nil {
		return err
	}
	if gain := ans.Values[0] / f.rows; gain < contestWin {
		r.components = one.components
		r.components[0].Doubt = component.StartDoubt()
		f.cols.Notes.Flags = append(f.cols.Notes.Flags, "one component: the rows do not speak for more")
	}
	return nil
}

// density is the mixture with a light background, as components of a query.
func (r *rounds) density() []query.Component {
	var out []query.Component
	for _, c := range r.components {
		q, _ := r.space.Density(c, c.Weight)
		out = append(out, q)
	}
	for _, c := range r.background.components(r.space) {
		c.LogWeight += math.Log(contestEps / backgroundStart)
		out = append(out, c)
	}
	return out
}
