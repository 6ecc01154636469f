package general

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/query/rings"
	"github.com/gauze-dp/gauze/parts/budget"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/em"
)

// Utility constants of the contest, chosen on the public tables of experiments/tables.
const (
	contestPart = .03 // of mu^2
	// of what is left for the last round, where boxes that found nothing have been paid for
	contestMost  = .25
	contestBound = 2.0 // nats that one row may say
	contestWin   = .01 // nats per row by which the mixture must win
)

// contest asks the rows whether the mixture explains them better than one Gaussian with the
// mixture's own mean and covariance, both with the background, and falls back to the Gaussian if
// not: a coreset with noise can always be fitted better by more components.
//
// Source: [KSSU19] Section E.2, point 6 of the restatement (k > 1 chosen on the coreset lost nats).
// Differs: measured on the rows.
func (f *fit) contest(r *em.Rounds) error {
	if len(r.Components) <= 1 {
		return nil
	}
	whole := r.Components[0]
	for _, c := range r.Components[1:] {
		whole = component.Joined(whole, c)
	}
	one := *r
	one.Components = []component.Gaussian{whole}
	ans, err := f.Sum("contest", rings.LogRatio{F: r.Density(), G: one.Density(), Bound: contestBound},
		budget.Mu(math.Min(contestPart*f.Mu2, contestMost*f.Left())))
	if err != nil {
		return err
	}
	if gain := ans.Values[0] / f.Rows; gain < contestWin {
		r.Components = one.Components
		r.Components[0].Doubt = component.StartDoubt()
		f.Notes.Flags = append(f.Notes.Flags, "one component: the rows do not speak for more")
	}
	return nil
}
