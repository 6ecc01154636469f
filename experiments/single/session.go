package single

import (
	"context"
	"errors"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// inSession fits by an estimator that the catalog does not have, like a method with its source's
// constants: what gauze.Fit does between the request and the model.
func inSession(ctx context.Context, rows *mat.Dense, r gauze.Request, e estimate.Estimator) (engine.Fitted, error) {
	n, d := rows.Dims()
	b := kernel.NewBuilder(d)
	for i := range n {
		b.Append(rows.RawRowView(i))
	}
	total, err := privacy.Calibrate(r.Budget, privacy.Needs{})
	if err != nil {
		return engine.Fitted{}, err
	}
	p := estimate.Problem{Columns: d, Relation: r.Relation, Mu: total.Mu, Components: r.Components, MaxComponents: 1, Covariance: r.Covariance, Facts: r.Facts,
		Budget: r.Budget, NoDelta: r.Budget.Concentrated()}
	if r.Relation == privacy.ReplaceOne {
		p.Rows = n
	}
	table, start := b.Protect(r.Relation), time.Now()
	plan, err := e.Plan(p)
	var refusal *estimate.Refusal
	if errors.As(err, &refusal) {
		return engine.Fitted{Why: "refused: " + refusal.Reason}, nil
	}
	if err != nil {
		return engine.Fitted{}, err
	}
	session, err := kernel.Open(ctx, table, plan, kernel.Terms{Relation: r.Relation, Budget: r.Budget})
	if err != nil {
		return engine.Fitted{}, err
	}
	outcome, err := e.Fit(ctx, session, p)
	out := engine.Fitted{Foreground: outcome.Model, Seconds: engine.Since(start)}
	if outcome.NoRelease != nil {
		out.Why = "no release: " + outcome.NoRelease.Reason
	}
	return out, err
}
