package gauze

import (
	"context"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// A Relation says which tables are neighbours: those that differ in one row's content, or by one
// row. [ReplaceOne] makes the number of rows public.
type Relation = privacy.Relation

// The relations.
const (
	ReplaceOne   = privacy.ReplaceOne
	AddRemoveOne = privacy.AddRemoveOne
)

// A Budget is epsilon and delta, or rho, of one fit.
type Budget = privacy.Budget

// A NoReleaseError reports a fit that ended without a release. Spent is spent all the same, and the
// certificate may be published.
type NoReleaseError struct {
	*estimate.NoRelease
	Spent       release.Spent
	Certificate release.Certificate
}

// Error returns the reason, and what would help.
func (e *NoReleaseError) Error() string {
	return "gauze: no release: " + e.Reason + "; " + e.Advice
}

// Released returns the release, or a *NoReleaseError where there is none.
func (r *Result) Released() (*release.Release, error) {
	if r.NoRelease != nil {
		return nil, &NoReleaseError{NoRelease: r.NoRelease, Spent: r.Spent, Certificate: r.Certificate}
	}
	return r.Release, nil
}

// FitFile fits the named columns of an input, what [Open] takes but stdin, under the relation
// of the request; ReplaceOne where it has none. The names are the public schema, as `gauze fit
// --columns` has it: "age", "sex:category(f,m)".
//
// Failures: those of [Open], [Input.Load] and [Fit], and a *NoReleaseError. A context that ends
// stops the fit; what was measured by then is spent.
func FitFile(ctx context.Context, path, columns string, r Request) (*release.Release, error) {
	schema, err := source.ParseColumns(columns)
	if err != nil {
		return nil, err
	}
	in, err := Open(path, strings.NewReader(""), schema)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if r.Relation == 0 {
		r.Relation = ReplaceOne
	}
	table, err := in.Load(r.Relation, nil)
	if err != nil {
		return nil, err
	}
	result, err := Fit(ctx, table, in.Fill(r))
	if err != nil {
		return nil, err
	}
	return result.Released()
}
