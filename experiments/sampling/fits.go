package sampling

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/estimate/general"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/engine/counted"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// methods are `general` as people use it, which asks large tables through a sample first, and with
// all rows asked for everything.
func methods() [2]general.Estimator {
	with := general.New(program.OneGaussian{Estimator: gaussian.New(), Steps: gaussian.Steps, FitAllotment: gaussian.FitAllotment})
	without := with
	without.Enough = math.Inf(1)
	return [2]general.Estimator{with, without}
}

// protect is the table of a matrix.
func protect(rows *mat.Dense, relation privacy.Relation) *kernel.Table {
	n, d := rows.Dims()
	b := kernel.NewBuilder(d)
	for i := range n {
		b.Append(rows.RawRowView(i))
	}
	return b.Protect(relation)
}

// A fitted model, or none, what it is without its background, and how often the table was read.
type fitted struct {
	*model.Mixture
	components *model.Mixture
	passes     float64
}

// fit fits a table of n rows and d columns.
func fit(ctx context.Context, m general.Estimator, table *kernel.Table, o engine.Options, n, d, components int) (out fitted, err error) {
	total, err := privacy.Calibrate(o.Budget, privacy.Needs{})
	if err != nil {
		return out, err
	}
	p := estimate.Problem{Columns: d, Rows: n, Relation: o.Relation, Mu: total.Mu, Components: components, MaxComponents: mostComponents, MoreComponents: true}
	plan, err := m.Plan(p)
	if err != nil {
		return out, refused(err)
	}
	reads := counted.New()
	s, err := kernel.Open(ctx, table, plan, kernel.Terms{Relation: o.Relation, Budget: o.Budget, Engine: reads})
	if err != nil {
		return out, err
	}
	got, err := m.Fit(ctx, s, p)
	if err != nil || got.Model == nil {
		return out, refused(err)
	}
	marked := *got.Model
	for _, c := range got.Diagnostics.Components {
		marked.Background = append(marked.Background, c.Background)
	}
	out = fitted{Mixture: got.Model, passes: reads.Passes()}
	out.components, _ = marked.WithoutBackground()
	return out, nil
}

// refused is no error for a refusal: there is no model then.
func refused(err error) error {
	if errors.As(err, new(*estimate.Refusal)) {
		return nil
	}
	return err
}

// nats is the mean of what held rows say for one model over another, each of them mostNats at most,
// and its standard error.
func nats(held *mat.Dense, one, other *model.Mixture) (mean, sd float64, err error) {
	judged, err := model.NewScorer(one)
	if err != nil {
		return 0, 0, err
	}
	against, err := model.NewScorer(other)
	if err != nil {
		return 0, 0, err
	}
	n, _ := held.Dims()
	sum, squares := 0.0, 0.0
	for i := range n {
		x := held.RawRowView(i)
		if says := judged.LogDensity(x) - against.LogDensity(x); !math.IsNaN(says) {
			says = math.Max(-mostNats, math.Min(says, mostNats))
			sum, squares = sum+says, squares+says*says
		}
	}
	mean = sum / float64(n)
	return mean, math.Sqrt(math.Max(0, squares/float64(n)-mean*mean) / float64(n)), nil
}
