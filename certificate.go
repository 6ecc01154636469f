package gauze

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// spentOf is what the session's measurements cost: mu² is the sum of theirs, and epsilon is at the
// budget's delta, never above the budget. The loss of a mask is in epsilon, whether it was drawn or
// not, and rho is 0 then.
func spentOf(s *kernel.Session) release.Spent {
	loss := s.Loss()
	return release.Spent{Epsilon: loss.Epsilon, Delta: loss.Delta, Mu: loss.Mu, Rho: loss.Rho}
}

// certificateOf says what was asked, and what was measured. It fails for a measurement that a
// certificate has no words for.
func certificateOf(r Request, method estimate.Estimator, s *kernel.Session) (release.Certificate, error) {
	c := release.Certificate{
		Relation: r.Relation.String(),
		Epsilon:  r.Budget.Epsilon, Delta: r.Budget.Delta, Rho: r.Budget.Rho,
		Spent:  spentOf(s),
		Schema: release.SchemaInferred, Facts: factsOf(r), Method: method.Name(), Learner: learnerRun(r, method, s),
		Simulated: s.Simulated(), Version: Version,
	}
	if r.SchemaDeclared {
		c.Schema = release.SchemaDeclared
	}
	if n, public := s.Rows(); public {
		c.Rows = &n
	}
	for _, m := range s.Measurements() {
		c.Plan = append(c.Plan, stepOf(m))
	}
	return c, c.Complete()
}

// stepOf is a measurement as a line of the certificate. One that costs a Rényi curve and no mu
// states the numbers that the curve follows from.
func stepOf(m kernel.Measurement) release.PlanStep {
	step := release.PlanStep{Step: m.Step, Query: m.Query, Count: m.Count, Delta: m.Delta, Source: m.Source}
	switch {
	case m.Mask != nil:
		step.Mask = maskOf(m.Mask)
	case m.Law == kernel.LawPopular:
		step.Pure = privacy.DivUp(m.Sensitivity, m.Noise)
	default:
		step.Law, step.Sensitivity, step.Noise, step.Mu = m.Law, m.Sensitivity, m.Noise, m.Mu
	}
	return step
}

// maskOf is a mask's public numbers, as plans and certificates state them; nil for none.
func maskOf(m kernel.Mask) *release.Mask {
	switch m := m.(type) {
	case privacy.Mask:
		return &release.Mask{Kind: release.MaskLifted, Dimension: m.Dimension, Gamma: m.Gamma, Eta: m.Eta}
	case privacy.ParameterMask:
		return &release.Mask{Kind: release.MaskParameters, Components: m.Components, Dimension: m.Dimension, Gamma: m.Gamma,
			EtaWeight: m.EtaWeight, EtaMean: m.EtaMean, EtaCov: m.EtaCov}
	}
	return nil
}

// learnerRun is learnerOf, but that a learner of one's own is told whenever the kernel has run it,
// whatever was asked.
func learnerRun(r Request, method estimate.Estimator, s *kernel.Session) *release.Learner {
	if s.OwnLearnerRan() {
		return &release.Learner{Name: release.OwnLearner, Trim: r.Trim}
	}
	return learnerOf(r, method)
}

// learnerOf says what the method runs on blocks of rows; nil for one that runs nothing, or nothing
// that could be chosen.
func learnerOf(r Request, method estimate.Estimator) *release.Learner {
	name := estimate.LearnerOf(method, estimate.Problem{Learner: r.Learner, Own: estimate.OwnType(r.Own)})
	if name == "" {
		return nil
	}
	return &release.Learner{Name: name, Trim: r.Trim}
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
