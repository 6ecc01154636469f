package catalog

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
)

// A Candidate is a method that could fit one component, with the error to expect of it: medians of
// measured runs, interpolated.
type Candidate struct {
	Method string `json:"method"`
	// CovarianceError is |A^-1 S A^-T - I|_F for the true covariance A A^T, and MeanError a
	// Mahalanobis distance, both on Gaussian rows; 0 where nothing is known.
	CovarianceError float64 `json:"covariance_error,omitempty"`
	MeanError       float64 `json:"mean_error,omitempty"`
	// RelativeError is CovarianceError over that of the sample covariance of the same rows.
	RelativeError float64 `json:"relative_error,omitempty"`
	Released      float64 `json:"released,omitempty"` // share of the runs that ended in a release
	// HeavyCovarianceError and HeavyMeanError are those on heavy tails, a multivariate t with five
	// degrees of freedom.
	HeavyCovarianceError float64 `json:"heavy_covariance_error,omitempty"`
	HeavyMeanError       float64 `json:"heavy_mean_error,omitempty"`
	// those of the stated facts that it makes use of
	Uses []string `json:"uses,omitempty"`
	// Refused says why the method cannot be used here; then its error is not stated.
	Refused string `json:"refused,omitempty"`
	// Note says where the errors come from if they are not interpolated between measured ones, or
	// why there are none.
	Note string `json:"note,omitempty"`
}

// Candidates returns the methods for one component, in their order, and what to expect of them with
// this number of rows: n if it is public, else a guess, and 0 for none. Nil for a problem of more
// components.
func (l List) Candidates(p estimate.Problem, rows int) (out []Candidate) {
	if !one(p) {
		return nil
	}
	for _, m := range l.One {
		c := Candidate{Method: m.Name()}
		if _, err := m.Plan(p); err != nil {
			c.Refused = strings.TrimPrefix(reason(err), "method "+c.Method+" ")
		} else {
			c.Uses = used(m, p)
			c.expect(p, rows)
		}
		out = append(out, c)
	}
	return out
}

// reason returns why a method refuses, without the advice.
func reason(err error) string {
	var refusal *estimate.Refusal
	if errors.As(err, &refusal) {
		return refusal.Reason
	}
	return err.Error()
}

// used returns the facts of p that a method makes use of.
func used(m estimate.Estimator, p estimate.Problem) []string {
	unused := estimate.Unused(m, p)
	return slices.DeleteFunc(p.Facts.Words(), func(word string) bool { return slices.Contains(unused, word) })
}

// expect looks the candidate up.
func (c *Candidate) expect(p estimate.Problem, rows int) {
	table, known := MeasuredErrors(), true
	kind, own := Kind{Method: c.Method, Shape: p.Covariance, Relation: p.Relation, Data: GaussianRows}, ""
	if p.Rows = rows; p.Covariance == estimate.Full && alone(c.Method, p) {
		kind.Shape, own = estimate.Diagonal, "of means and standard deviations: too few rows for how columns vary together"
	}
	if p.Columns == 1 {
		kind.Shape = estimate.Full // all shapes are one
	}
	if kind.Loose, known = loosest(table, c.Method, p); !known {
		c.Note = "not measured: no runs were told bounds as loose as these"
		return
	}
	heavy := kind
	heavy.Data = HeavyRows
	if tails, err := table.At(heavy, p.Columns, float64(rows), p.Mu); err == nil {
		c.HeavyCovarianceError, c.HeavyMeanError, c.Released, c.Note = tails.Covariance, tails.Mean, tails.Released, tails.Note
	}
	got, err := table.At(kind, p.Columns, float64(rows), p.Mu)
	switch {
	case err == nil:
		c.CovarianceError, c.MeanError, c.Released, c.Note = got.Covariance, got.Mean, got.Released, cmp.Or(own, got.Note)
		c.RelativeError = got.Covariance / got.PlainCovariance
	case c.HeavyCovarianceError == 0:
		c.Note = err.Error()
	}
}

// loosest returns the smallest measured looseness of a method that is at least that of the stated
// facts: 0 for a method that was given none.
func loosest(table *ErrorTable, method string, p estimate.Problem) (loose float64, known bool) {
	stated, least := Looseness(p.Facts, p.Columns), math.Inf(1)
	kinds := table.Kinds(method)
	for _, k := range kinds {
		if k.Loose == 0 {
			return 0, true
		}
		if k.Loose >= stated*(1-1e-9) {
			least = math.Min(least, k.Loose)
		}
	}
	return least, len(kinds) == 0 || !math.IsInf(least, 1)
}
