package program

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/component"
)

// leastMissing: rows that lack cells are completed if so large a part of the rows does. A utility
// constant, a guess.
const leastMissing = .02

// Incomplete returns the released number of rows that have some cell, if so many of them lack
// another that it is worth to complete them, and says so in the notes; else 0. Where the number of
// all is public, or released with the profile, that of whole rows may settle it. Rows without any
// cell are not completed, so those that have one are counted first; in one column there are no
// others.
func (r *Run) Incomplete(step string, mu float64) (rows float64, err error) {
	all := 0. // not known, if neither public nor in a profile: then it is that of rows with a cell
	if n, public := r.Session().Rows(); public {
		all = float64(n)
	} else if r.Problem.Profile != nil {
		all = r.Problem.Profile.Rows
	}
	if r.All == 1 || all > 0 && all-r.AtMost < leastMissing*all {
		return 0, nil
	}
	answer, err := r.Sum(step, query.Partial{Sum: query.Count{}, As: query.Presence}, mu)
	if err != nil {
		return 0, err
	}
	noise := 2 * answer.Sigma
	if rows = answer.Values[0]; all == 0 {
		all = math.Max(rows, 1)
		noise *= math.Sqrt2 // both numbers are noisy
	}
	rows = math.Min(rows, all)
	if rows-r.Rows < leastMissing*all+noise {
		return 0, nil
	}
	share := 1 - r.Rows/all
	r.Notes.Flags = slices.DeleteFunc(r.Notes.Flags, func(flag flags.Flag[int]) bool { return flag.Code == flags.IncompleteRows })
	r.Notes.Flag(flags.New(flags.MissingCells, "about %.0f%% of the rows lack a cell; their other cells are used, and missing cells are filled in from the model, as if they were missing at random", 100*share).
		Of(share, answer.Sigma/all))
	return rows, nil
}

// CompletionBy returns Gaussians in a space as rows that lack cells are completed by them; rest has
// a value for every column of the table, for those that are not in the space.
func CompletionBy(space component.Space, rest []float64, by []component.Gaussian) kernel.Completion {
	c := kernel.Completion{Columns: space.Columns, Center: space.Center, Scale: space.Scale, Rest: rest}
	for _, g := range by {
		c.LogWeights, c.Means = append(c.LogWeights, math.Log(math.Max(g.Weight, math.SmallestNonzeroFloat64))), append(c.Means, g.Mean)
		cov := make([][]float64, len(g.Mean))
		for a := range cov {
			for b := range g.Mean {
				cov[a] = append(cov[a], g.Cov.At(a, b))
			}
		}
		c.Covs = append(c.Covs, cov)
	}
	return c
}
