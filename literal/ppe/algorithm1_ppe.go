package ppe

import (
	"context"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/model/flags"
)

// Fit runs PPE, the Private Populous Estimator: the learner's estimates Y_1, .., Y_t of t blocks;
// q_i, the part of them within r/(2z) of Y_i in dist_PARAM; if their mean plus truncated Laplace
// noise is below .8 plus the support of the noise, no release; else B_GMM(Y_j), j the first with
// q_j > .6.
//
// Privacy: the test is (epsilon_1, delta_1)- and the mask (epsilon_2, delta_2)-indistinguishable at
// distance r, and the whole is (epsilon_1 + epsilon_2, delta_1 + delta_2)-private; see
// pure.ReleasePopular, which proves it and converts the losses together.
//
// Utility: if all estimates are within r/(4z^2) <= alpha of the truth, what is released is within 2
// z alpha of it with probability 1 - Beta.
//
// Source: [PPE] Algorithm 1; Theorem 4.3.1.
// Differs: the test passes at .8 plus the support (errata); losses are added in a Rényi curve,
// which is less than their sum; blocks come from a secret draw; the number of rows is counted, as
// it or that of incomplete rows is private; what is released is made a mixture: weights below
// LeastWeight/k are raised to it, and all are normalised.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	p.Columns, p.Relation = s.Columns(), s.Relation()
	if refusal := e.refuse(p); refusal != nil {
		return estimate.Outcome{}, refusal
	}
	x := e.c.design(p, p.Relation == privacy.ReplaceOne)
	a := s.SubBudget()
	notes, err := program.Count(a, stepCount, a.LeftMu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	mixture, ok, err := pure.ReleasePopular(a, stepPPE, e.Blocks(p, program.MostComponents(p), x.t), pure.Popularity{Mask: x.mask}, x.epsilon)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if !ok {
		return estimate.Outcome{Diagnostics: notes.Notes, NoRelease: &estimate.NoRelease{
			Reason: fmt.Sprintf("the blocks' estimates do not agree: of %d, too few pairs are within %.2g of one another in dist_PARAM",
				x.t, x.friends()),
			Advice: advice(x, p)}}, nil
	}
	notes.Notes.Flag(flags.New(flags.Method,
		"the estimate of one of %d blocks of rows, moved by less than %.2g in dist_PARAM with probability %g", x.t, x.alpha, 1-e.c.Beta))
	return e.c.release(p, mixture, notes), nil
}

// release makes the model, heaviest component first.
func (c Constants) release(p estimate.Problem, mixture []blocks.Component, notes *program.Columns) estimate.Outcome {
	total, least := 0.0, c.LeastWeight/float64(len(mixture))
	for i := range mixture {
		mixture[i].Weight = math.Max(least, math.Min(1, mixture[i].Weight))
		total += mixture[i].Weight
	}
	sort.SliceStable(mixture, func(i, j int) bool { return mixture[i].Weight > mixture[j].Weight })
	draft := program.NewDraft(p.Columns, notes.Notes)
	for _, g := range mixture {
		w := g.Weight / total
		cov, err := program.Shaped(mat.NewDense(p.Columns, p.Columns, g.Root), p.Covariance)
		draft.Add(w, g.Mean, cov, err, estimate.ComponentNote{EffectiveRows: w * math.Max(0, notes.Rows)})
	}
	return draft.Outcome()
}
