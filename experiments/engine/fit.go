package engine

import (
	"context"
	"errors"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// A Fitted is what a fit ended in.
type Fitted struct {
	// Foreground returns the model without the components that describe outliers, its weights made
	// to sum to 1; nil if there is none.
	Foreground *model.Mixture
	Background float64 // weight of the components left out
	Why        string  // there is no model
	Seconds    float64 // wall time of the fit; other runs may share the machine
	Release    *release.Release
}

// Fit does what `gauze fit` does with rows, n x d, once they are read.
//
// A refusal on public facts, the outcome "no release" and a fault of the program are all a Fitted
// without a model, that of a fault with a reason that begins with faultMark. An error is that of
// ctx.
func Fit(ctx context.Context, rows *mat.Dense, r gauze.Request) (Fitted, error) {
	n, d := rows.Dims()
	b := kernel.NewBuilder(d)
	for i := range n {
		b.Append(rows.RawRowView(i))
	}
	table := b.Protect(r.Relation)
	if r.Columns == nil {
		r.Columns = gauze.Named(model.DefaultColumns(d)...)
	}
	start := time.Now()
	result, err := gauze.Fit(ctx, table, r)
	out := Fitted{Seconds: Since(start)}
	var refusal *estimate.Refusal
	switch {
	case errors.As(err, &refusal):
		out.Why = "refused: " + refusal.Reason
		return out, nil
	case err != nil && ctx.Err() != nil:
		return out, err
	case err != nil:
		out.Why = faultMark + err.Error()
		return out, nil
	case result.NoRelease != nil:
		out.Why = "no release: " + result.NoRelease.Reason
	default:
		if out.Release = result.Release; out.Release.Model != nil { // table one has none
			out.Foreground, out.Background = out.Release.Model.WithoutBackground()
		}
	}
	return out, err
}

// Since returns the wall time in seconds, to a tenth of a millisecond.
func Since(start time.Time) float64 { return time.Since(start).Round(100 * time.Microsecond).Seconds() }
