package gauze

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/release"
)

// spentOf is what the session's measurements cost: mu² is the sum of theirs, and epsilon is at the budget's delta, never above
// the budget.
func spentOf(s *kernel.Session) release.Spent {
	loss := s.Loss()
	return release.Spent{Epsilon: loss.Epsilon, Delta: loss.Delta, Mu: loss.Mu, Rho: loss.Rho}
}

// certificateOf says what was asked, and what was measured.
func certificateOf(r Request, method string, s *kernel.Session) release.Certificate {
	c := release.Certificate{
		Relation: r.Relation.String(),
		Epsilon:  r.Budget.Epsilon, Delta: r.Budget.Delta, Rho: r.Budget.Rho,
		Spent:  spentOf(s),
		Schema: release.SchemaInferred, Facts: factsOf(r), Method: method,
		Simulated: s.Simulated(), Version: Version,
	}
	if r.SchemaDeclared {
		c.Schema = release.SchemaDeclared
	}
	if n, public := s.Rows(); public {
		c.Rows = &n
	}
	for _, m := range s.Measurements() {
		c.Plan = append(c.Plan, release.PlanStep{
			Step: m.Step, Query: m.Query, Count: m.Count,
			Law: m.Law, Sensitivity: m.Sensitivity, Noise: m.Noise, Mu: m.Mu, Delta: m.Delta, Source: m.Source,
		})
	}
	return c
}

// factsOf is what a certificate says of the facts; nil if nothing is known.
func factsOf(r Request) *release.Facts {
	f := r.Facts
	if f == (estimate.Facts{}) && r.KnownCovariance == nil {
		return nil
	}
	out := &release.Facts{Moments: f.Moments, KnownCovariance: cloned(r.KnownCovariance)}
	if f.KnowsMean {
		out.MeanWithin = &f.MeanWithin
	}
	if f.KnowsEigenvalues() {
		out.EigenvaluesWithin = f.Eigenvalues[:]
	}
	return out
}

// diagnosticsOf names the columns that an estimator knows by number.
func diagnosticsOf(d estimate.Diagnostics, columns []string) release.Diagnostics {
	out := release.Diagnostics{Flags: d.Flags}
	for _, c := range d.Components {
		out.Components = append(out.Components, release.ComponentNote{
			EffectiveNoise: c.EffectiveNoise, EffectiveRows: c.EffectiveRows, Background: c.Background, Flags: c.Flags,
		})
	}
	for _, u := range d.Unresolved {
		out.Unresolved = append(out.Unresolved, release.Direction{Direction: u.Direction, StdAtMost: u.StdAtMost})
	}
	for _, j := range d.ConstantColumns {
		out.ConstantColumns = append(out.ConstantColumns, columns[j])
	}
	return out
}
