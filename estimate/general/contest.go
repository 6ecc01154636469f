package general

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Utility constants of the contest, chosen on the public tables, by experiments/files.
const (
	contestPart = .03 // of mu^2
	// of what is left for the last round, where boxes that found nothing have been paid for
	contestMost  = .25
	contestBound = 2.0 // nats that one row may say
	contestWin   = .01 // nats per row by which the mixture must win
	// .. and by which each component more must win on, where being without it loses less than
	// plainMost by the model itself, as plainAsks questions tell: chosen on development families
	plainWin = .002
	// .. and this many sds of the answer's noise: chosen on three groups that overlap a little, n =
	// 20,000, where 19 of 20 fits in place of 9 of 16 had the right number; plainMost too
	plainSDs   = 2.0
	plainMost  = .08
	plainAsks  = 3
	plainPart  = .01 // of mu^2
	plainBound = .5
)

// contest asks the rows whether the mixture explains them better than one Gaussian with the
// mixture's own mean and covariance, both with the background, and falls back to the Gaussian if
// not: a coreset with noise can always be fitted better by more components.
//
// Source: [KSSU19] Section E.2, point 6 of the restatement (k > 1 chosen on the coreset lost nats).
// Differs: measured on the rows.
func (f *fit) contest(ctx context.Context, r *privateem.Rounds) error {
	if !f.contested {
		if err := f.againstOne(ctx, r); err != nil || len(r.Components) <= 1 {
			return err
		}
	}
	return f.plainer(ctx, r)
}

// againstOne compares the components with one Gaussian alone.
func (f *fit) againstOne(_ context.Context, r *privateem.Rounds) error {
	if f.method.Without.Contest {
		return nil
	}
	whole := component.Joined(r.Components[0], r.Components[1:]...)
	gain, noise, err := f.gain(r, []component.Gaussian{whole}, contestBound, f.schedule.cost(contestPart))
	if err != nil || gain >= contestWin+plainSDs*noise {
		return err
	}
	r.Components = []component.Gaussian{whole}
	r.Components[0].Uncertainty = component.StartUncertainty()
	f.Notes.Flag(oneGroup(f.seen()))
	return nil
}

// plainer asks the rows how many of the components they speak for, and takes the fewest that
// explain them about as well: noise makes several pieces of what is one, and lays wide components
// over several.
func (f *fit) plainer(ctx context.Context, r *privateem.Rounds) error {
	if f.method.Without.Fewer {
		return nil
	}
	fewer, err := r.PrunePath(ctx, program.Draws, plainMost)
	if err != nil {
		return err
	}
	from, to := 0, len(fewer)-1 // the fewest that will do are among these
	for asked := 0; from < to && asked < plainAsks; asked++ {
		at := (from + to + 1) / 2
		gain, noise, err := f.gain(r, fewer[at], plainBound, f.schedule.cost(plainPart))
		if err != nil {
			return err
		}
		if gain < plainWin*float64(at)+plainSDs*noise {
			from = at
		} else {
			to = at - 1
		}
	}
	r.Components = fewer[from]
	return nil
}

// gain returns by how many nats per row, each within the bound, r explains the rows better than
// other components do, for a part of mu^2, and the standard deviation of its noise.
func (f *fit) gain(r *privateem.Rounds, others []component.Gaussian, bound, part float64) (nats, noise float64, err error) {
	rival := *r
	rival.Components = others
	ans, err := f.Sum(stepContest.Name, query.LogRatio{F: r.Density(), G: rival.Density(), Bound: bound},
		parts.Mu(math.Min(part*f.Mu2, contestMost*f.Left())))
	if err != nil {
		return 0, 0, err
	}
	return ans.Values[0] / f.Rows, ans.Sigma / f.Rows, nil
}
