package release

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release/check"
)

// tolerance is the relative difference allowed between recomputed figures and those of the file:
// room for sums in another order and for roundings upward, a thousandth of what anybody would
// print.
const tolerance = 1e-9

// Verify lists everything that is wrong with a release; nil means that it is consistent:
//
//   - the format is known, the model is valid, the words of the certificate are known;
//   - every line is a measurement that Gauze can make, with a law of noise and a delta that it can
//     have; its sensitivity is what follows from the query, its shape, the relation and the columns
//     (for releases of earlier versions, which state no shapes, see Certificate.Recomputable);
//   - every measurement's mu is its sensitivity over its noise, and sum count mu^2 = spent.mu^2;
//   - spent.epsilon, spent.delta and spent.rho are no less than spent.mu, the thresholds' deltas
//     and Rényi curves imply;
//   - what was spent is at most the requested budget, and where delta is 0 every measurement is
//     pure, and their epsilons sum to at most spent.epsilon;
//   - the number of rows is given where it is public, and only there;
//   - the Rényi curve of a mask or of a pure loss is the one that its public numbers imply;
//   - shares, noises and misfits of the diagnostics are in their ranges;
//   - each group of a release of groups is consistent by itself, and all of them together;
//   - the given facts can be true, and a stated learner has a name.
func Verify(r *Release) []error {
	v := &verifier{}
	v.fault(r.Format != Format, "format", fmt.Sprintf("%q", Format), strconv.Quote(r.Format))
	if id := r.Identity; id != nil {
		_, err := time.Parse(time.DateOnly, id.Created)
		v.fault(id.Created != "" && err != nil, "identity.created", "a day, as 2006-01-02", strconv.Quote(id.Created))
	}
	if r.Groups != nil {
		v.groups(r)
		return v.faults
	}
	k, d, columns := 0, 0, []string(nil)
	if r.Model == nil && r.Profile != nil {
		d, columns = len(r.Profile), r.Names()
		v.fault(r.Certificate.Method != "" && r.Certificate.Method != methodProfile, "model", "that of the method "+strconv.Quote(r.Certificate.Method), "a profile alone")
		v.columns(r)
	} else if r.Model == nil {
		v.fault(true, "model", "a mixture", "none")
	} else if err := r.Model.Validate(); err != nil {
		v.faults = append(v.faults, fmt.Errorf("release: model: %w", err))
	} else {
		k, d, columns = len(r.Model.Components), r.Model.Dim(), r.Model.Columns
	}
	v.fault(r.Certificate.By != nil, "certificate.by", "groups, or no columns that make them", "no groups")
	v.fault(r.Identity != nil && !r.Certificate.Recomputable(), "certificate.plan", "the shapes of its queries, as in all releases with an identity", "lines without")
	v.terms(&r.Certificate)
	if k > 0 {
		v.columns(r)
	}
	if f := r.Certificate.Facts; f != nil && k > 0 && f.KnownCovariance != nil && len(f.KnownCovariance) != r.Model.Dim() {
		v.fault(true, "certificate.facts.known_covariance", fmt.Sprintf("a row for each of the %d columns", r.Model.Dim()), fmt.Sprint(len(f.KnownCovariance)))
	}
	before := len(v.faults)
	v.numbers(&r.Certificate)
	for i := range r.Certificate.Plan {
		step := &r.Certificate.Plan[i]
		v.stepOf(step, r, d)
		if n := categorical(r); step.Query == queryCategories && step.Shape != nil && step.Step != stepMissing {
			most, field := n*(n-1)/2, fmt.Sprintf("certificate.plan, step %q, shape.of", step.Step)
			if step.Step == stepCategories {
				v.fault(step.Shape.Of != n, field, fmt.Sprintf("%d, the columns of categories", n), fmt.Sprint(step.Shape.Of))
			}
			v.fault(step.Shape.Of > max(n, most), field, fmt.Sprintf("at most %d, the pairs of columns of categories", most), fmt.Sprint(step.Shape.Of))
		}
	}
	v.agreements(&r.Certificate, d)
	// sums of figures that are wrong one by one would only repeat the fault
	if len(v.faults) == before {
		v.spent(&r.Certificate)
	}
	v.profile(r, d)
	for i := range r.Profile {
		if name := r.Profile[i].Name; columns != nil && !slices.Contains(columns, name) {
			columns = append(slices.Clip(columns), name)
		}
	}
	v.diagnostics(&r.Diagnostics, columns)
	v.missing(r)
	v.core(r.Diagnostics.Core, r.Model)
	v.number(r.Diagnostics.Number, r.Model)
	notes := len(r.Diagnostics.Components)
	v.fault(k > 0 && notes > 0 && notes != k, "diagnostics.components", fmt.Sprintf("one for each of %d components", k), fmt.Sprint(notes))
	return v.faults
}

// Recomputable reports whether the sensitivities of the plan can be recomputed: releases of earlier
// versions lack the shapes of their queries, and their statements are taken as they are.
func (c *Certificate) Recomputable() bool {
	return !slices.ContainsFunc(c.Plan, func(s PlanStep) bool { return s.Shape == nil && !s.curved() })
}

type verifier struct{ faults []error }

func (v *verifier) fault(bad bool, field, wanted, got string) {
	if bad {
		v.faults = append(v.faults, &Error{Field: field, Wanted: wanted, Got: got, Hint: "the release was altered or is not whole: do not rely on it"})
	}
}

// terms checks the words of the certificate and its number of rows.
func (v *verifier) terms(c *Certificate) {
	rows := "null"
	if c.Rows != nil {
		rows = fmt.Sprint(*c.Rows)
	}
	v.fault(c.Relation == ReplaceOne && c.Rows == nil, "certificate.rows", "the number of rows, which replace-one makes public", rows)
	v.fault(c.Relation == AddRemoveOne && c.Rows != nil, "certificate.rows", "null, because add-remove-one keeps it private", rows)
	v.fault(c.Relation != ReplaceOne && c.Relation != AddRemoveOne, "certificate.relation", ReplaceOne+" or "+AddRemoveOne, strconv.Quote(c.Relation))
	v.fault(c.Rows != nil && *c.Rows < 1, "certificate.rows", "a number of rows", rows)
	v.fault(c.Schema != SchemaDeclared && c.Schema != SchemaInferred, "certificate.schema", SchemaDeclared+" or "+SchemaInferred, strconv.Quote(c.Schema))
	v.facts(c.Facts)
	v.fault(c.Constants != "" && c.Constants != ConstantsPrinted && c.Constants != ConstantsTournament, "certificate.constants", ConstantsPrinted+", "+ConstantsTournament+", or nothing", strconv.Quote(c.Constants))
	if l := c.Learner; l != nil {
		v.fault(l.Name == "", "certificate.learner.name", "the learner's name", "none")
		v.fault(!(l.Trim >= 0 && l.Trim < 1), "certificate.learner.trim", "a part of the rows in [0, 1)", fmt.Sprint(l.Trim))
	}
	if a := c.Requested; a != nil {
		v.fault(a.Plans < 1, "certificate.asked.plans", "an edition of the plans, from 1 on", fmt.Sprint(a.Plans))
		v.fault(a.Components < 0 || a.MaxComponents < 0, "certificate.asked.components", "numbers that are not negative", fmt.Sprintf("%d and %d", a.Components, a.MaxComponents))
		v.fault(!slices.Contains([]string{"full", "diagonal", "spherical"}, a.Covariance), "certificate.asked.covariance", "full, diagonal or spherical", strconv.Quote(a.Covariance))
	}
	v.fault(c.Method == "", "certificate.method", "the estimator's name", "none")
	v.fault(len(c.Plan) == 0, "certificate.plan", "at least one measurement", "none")
	v.fault(!c.Recomputable() && slices.ContainsFunc(c.Plan, func(s PlanStep) bool { return s.Shape != nil }), "certificate.plan", "a shape in every line, or in none", "both")
}

// facts checks that the public facts are well formed.
func (v *verifier) facts(f *Facts) {
	if f == nil {
		return
	}
	v.fault(f.MeanWithin == nil && f.EigenvaluesWithin == nil && f.Moments == 0 && f.LeastWeight == 0 && f.KnownCovariance == nil, "certificate.facts", "at least one fact, or no facts at all", "none")
	if f.MeanWithin != nil {
		v.amount("certificate.facts.mean_within", *f.MeanWithin, math.MaxFloat64)
	}
	e := f.EigenvaluesWithin
	v.fault(e != nil && !(len(e) == 2 && 0 < e[0] && e[0] <= e[1] && e[1] <= math.MaxFloat64), "certificate.facts.eigenvalues_within",
		"two positive numbers, the lesser first", fmt.Sprint(e))
	v.fault(f.Moments != 0 && (f.Moments < 4 || f.Moments%2 != 0), "certificate.facts.moments", "an even order of at least 4", fmt.Sprint(f.Moments))
	b := f.MomentBound
	v.fault(b != 0 && !(f.Moments != 0 && b >= 1 && b <= math.MaxFloat64), "certificate.facts.moment_bound", "a number of at least 1, beside an order of moments", fmt.Sprint(b))
	v.amount("certificate.facts.least_weight", f.LeastWeight, 1)
	for i, row := range f.KnownCovariance {
		if len(row) != len(f.KnownCovariance) || !(row[i] > 0 && row[i] <= math.MaxFloat64) {
			v.fault(true, "certificate.facts.known_covariance", "a square matrix with positive variances on its diagonal", fmt.Sprint(row))
			return
		}
	}
}

// numbers checks that the requested and spent figures are in their ranges.
func (v *verifier) numbers(c *Certificate) {
	v.amount("certificate.epsilon", c.Epsilon, math.MaxFloat64)
	v.amount("certificate.delta", c.Delta, 1)
	v.amount("certificate.rho", c.Rho, math.MaxFloat64)
	v.amount("certificate.spent.epsilon", c.Spent.Epsilon, math.MaxFloat64)
	v.amount("certificate.spent.delta", c.Spent.Delta, 1)
	v.amount("certificate.spent.mu", c.Spent.Mu, math.MaxFloat64)
	v.amount("certificate.spent.rho", c.Spent.Rho, math.MaxFloat64)
	asked := privacy.Budget{Epsilon: c.Epsilon, Delta: c.Delta, Rho: c.Rho}
	v.fault(asked.Validate() != nil, "certificate.epsilon", "a budget that can be asked: epsilon with delta, or rho alone", fmt.Sprintf("%v, %v and %v", c.Epsilon, c.Delta, c.Rho))
}

// diagnostics checks flags, and the ranges of noise, misfit and the rows left out.
func (v *verifier) diagnostics(d *Diagnostics, columns []string) {
	v.flags("diagnostics.flags", d.Flags, columns)
	for i, c := range d.Components {
		v.flags(fmt.Sprintf("diagnostics.components[%d].flags", i), c.Flags, columns)
		v.amount(fmt.Sprintf("diagnostics.components[%d].effective_noise", i), c.EffectiveNoise, math.MaxFloat64)
		v.amount(fmt.Sprintf("diagnostics.components[%d].misfit", i), c.Misfit, math.MaxFloat64)
		v.amount(fmt.Sprintf("diagnostics.components[%d].category_noise", i), c.CategoryNoise, math.MaxFloat64)
	}
	u := d.Undescribed
	if u == nil {
		return
	}
	v.amount("diagnostics.undescribed.share", u.Share, 1)
	v.amount("diagnostics.undescribed.noise", u.Noise, math.MaxFloat64)
	for i, c := range u.Columns {
		field := fmt.Sprintf("diagnostics.undescribed.columns[%d].", i)
		v.amount(field+"share", c.Share, 1)
		v.amount(field+"noise", c.Noise, math.MaxFloat64)
		v.amount(field+"pull", c.Pull, math.MaxFloat64)
		b := c.Beyond
		v.fault(b != nil && !(len(b) == 2 && -math.MaxFloat64 <= b[0] && b[0] <= b[1] && b[1] <= math.MaxFloat64), field+"beyond",
			"two numbers, the lesser first", fmt.Sprint(b))
	}
}

// number checks that the number of components is the model's, and its confidence a probability.
func (v *verifier) number(n *Number, m *model.Mixture) {
	if n == nil {
		return
	}
	found := 0
	if m != nil {
		found = m.K()
	}
	v.fault(n.Found != found || found < 1, "diagnostics.number.found", fmt.Sprintf("the model's components, %d", found), fmt.Sprint(n.Found))
	v.amount("diagnostics.number.confidence", n.Confidence, 1)
	v.fault(n.Or < 1 || n.Or == n.Found, "diagnostics.number.or", "another number of at least 1", fmt.Sprint(n.Or))
}

// core checks that a core has a mean and a symmetric covariance of the model's columns of numbers,
// of finite numbers.
func (v *verifier) core(c *Core, m *model.Mixture) {
	if c == nil {
		return
	}
	d := 0
	if m != nil {
		d = m.Dim()
	}
	v.fault(m == nil, "diagnostics.core", "a model beside it", "none")
	v.amount("diagnostics.core.share", c.Share, 1)
	v.fault(len(c.Mean) != d || len(c.Covariance) != d, "diagnostics.core", fmt.Sprintf("a mean and a covariance of %d columns", d), fmt.Sprintf("%d and %d", len(c.Mean), len(c.Covariance)))
	for _, x := range c.Mean {
		v.amount("diagnostics.core.mean", math.Abs(x), math.MaxFloat64)
	}
	for i, row := range c.Covariance {
		if len(row) != len(c.Covariance) || !(row[i] >= 0) {
			v.fault(true, "diagnostics.core.covariance", "a square matrix with variances on its diagonal", fmt.Sprint(row))
			return
		}
		for j, x := range row {
			v.fault(!(math.Abs(x) <= math.MaxFloat64) || j < i && x != c.Covariance[j][i], "diagnostics.core.covariance", "a symmetric matrix of finite numbers", fmt.Sprint(x))
		}
	}
}

// amount checks that 0 <= x <= most.
func (v *verifier) amount(field string, x, most float64) {
	wanted := "a finite number that is not negative"
	if most == 1 {
		wanted = "a number in [0, 1]"
	}
	v.fault(!(x >= 0 && x <= most), field, wanted, fmt.Sprint(x))
}

// stepOf checks a step of a release whose model has d columns: a profile, or a method that it has
// taken the place of, may have measured some that the model lacks.
func (v *verifier) stepOf(s *PlanStep, r *Release, d int) {
	before := v.faults
	v.step(s, &r.Certificate, d)
	for of := d + 1; len(v.faults) > len(before) && of <= len(r.Profile); of++ {
		other := &verifier{}
		if other.step(s, &r.Certificate, of); other.faults == nil {
			v.faults = before
		}
	}
}

// step checks one line of the plan by itself, of a table of d columns.
func (v *verifier) step(s *PlanStep, c *Certificate, d int) {
	field := func(name string) string { return fmt.Sprintf("certificate.plan, step %q, %s", s.Step, name) }
	v.fault(s.Step == "", "certificate.plan", "a name for every step", "none")
	v.fault(s.Query == "", field("query"), "a kind of measurement", "none")
	v.fault(s.Count < 1, field("count"), "at least 1", fmt.Sprint(s.Count))
	v.fault(s.Group != 0, field("group"), "none in a release without groups", fmt.Sprint(s.Group))
	v.amount(field("delta"), s.Delta, 1)
	line := check.Line{Query: s.Query, Law: s.Law, Columns: d, Curve: s.curved(), Shape: s.Shape, Sensitivity: s.Sensitivity, Delta: s.Delta}
	line.Relation, _ = privacy.ParseRelation(c.Relation)
	for _, f := range line.Faults() {
		v.fault(true, field(f.Field), f.Wanted, f.Got)
	}
	if s.curved() {
		v.curve(s, field)
		return
	}
	v.amount(field("sensitivity"), s.Sensitivity, math.MaxFloat64)
	v.amount(field("noise"), s.Noise, math.MaxFloat64)
	v.amount(field("mu"), s.Mu, math.MaxFloat64)
	ratio := s.Sensitivity / s.Noise
	if mu := muOf(s.Law, ratio); !near(s.Mu, mu) {
		v.fault(true, field("mu"), fmt.Sprintf("that of %s noise at sensitivity/noise = %v, which is %v", cmp.Or(s.Law, "Gaussian"), ratio, mu), fmt.Sprint(s.Mu))
	}
}

// curve checks a step whose loss is a Rényi curve: that it is well formed and, if a mask or a pure
// loss is stated, that it is the mask's or loss's curve.
func (v *verifier) curve(s *PlanStep, field func(string) string) {
	v.fault(s.Sensitivity != 0 || s.Noise != 0 || s.Mu != 0 || s.Law != "" || s.Shape != nil, field("renyi"), "either it, or law, shape, sensitivity, noise and mu", "both")
	v.fault(len(s.Renyi) == 0, field("renyi"), "at least one order", "none")
	curve, err := s.implied()
	if err != nil {
		v.fault(true, field("mask"), err.Error(), fmt.Sprintf("mask %v, pure %v", s.Mask, s.Pure))
		return
	}
	v.fault(curve == nil, field("renyi"), "the mask or the pure loss that it follows from", "neither")
	v.fault(s.Pure > 0 && s.Delta == 0, field("delta"), "that of the test", "0")
	for _, text := range slices.Sorted(maps.Keys(s.Renyi)) { // the same release always has the same list of faults
		divergence := s.Renyi[text]
		order, _ := strconv.ParseFloat(text, 64)
		switch want, known := curve[order]; {
		case !known:
			v.fault(true, field("renyi, order "+text), "an order at which its curve is known", fmt.Sprint(divergence))
		case !near(divergence, want):
			v.fault(true, field("renyi, order "+text), fmt.Sprintf("that of its mask or pure loss, %v", want), fmt.Sprint(divergence))
		}
	}
}

// muOf returns the mu of one measurement whose noise has the law, for the ratio of sensitivity and
// noise; NaN where there is none.
//
// A discrete Laplace variable of scale b on every number is epsilon-DP with epsilon = S/b. The
// exponential mechanism with P(i) proportional to e^(score/b) has bounded range epsilon = 2S/b. The
// first noisy score above a noisy threshold, Laplace of scales b and b/2, is epsilon-DP with
// epsilon = 4S/b. A truncated Laplace variable, and a choice that a test allows, are epsilon-DP
// with epsilon = S/b up to their delta.
func muOf(law string, ratio float64) float64 {
	switch factor := lawFactors[law]; {
	case law == "":
		return ratio
	case !(ratio >= 0 && ratio <= 1e7): // the range in which package privacy computes
		return math.NaN()
	case law == "exponential":
		return privacy.MuOfBoundedRange(factor * ratio)
	default:
		return privacy.MuOfPure(factor * ratio)
	}
}

// lawFactors are epsilon over S/b, for muOf's laws.
var lawFactors = map[string]float64{"laplace": 1, "truncated laplace": 1, "local exponential": 1, "exponential": 2, "above threshold": 4}

// near reports whether two finite figures agree within tolerance.
func near(x, y float64) bool {
	size := math.Max(math.Abs(x), math.Abs(y))
	return math.Abs(x-y) <= tolerance*size && !math.IsInf(size, 0)
}

// spent adds the plan up, compares it with the certificate's spent figures, and these with the
// request.
func (v *verifier) spent(c *Certificate) {
	sum := c.planTotals()
	spent := c.Spent
	v.fault(!near(spent.Mu*spent.Mu, sum.mu2), "certificate.spent.mu", fmt.Sprintf("√(Σ count·mu²) = %v", math.Sqrt(sum.mu2)), fmt.Sprint(spent.Mu))
	if math.IsInf(sum.mu2, 1) {
		return
	}
	asConcentrated := c.Rho > 0
	rho := sum.mu2 / 2
	if sum.orders != nil && !asConcentrated {
		rho = 0
	}
	v.costs("certificate.spent.rho", spent.Rho, rho)
	switch {
	case c.pure():
		v.costs("certificate.spent.epsilon", spent.Epsilon, sum.pure)
	case c.Epsilon > 0 || spent.Delta > 0 || !asConcentrated:
		v.conversion(spent, sum)
		v.fault(c.Epsilon > 0 && !near(spent.Delta, c.Delta), "certificate.spent.delta", fmt.Sprintf("the %v that was asked, at which epsilon is stated", c.Delta), fmt.Sprint(spent.Delta))
	}
	v.atLeast("certificate.spent.delta", spent.Delta, sum.delta)
	if asConcentrated {
		v.fault(sum.orders != nil || sum.delta > 0, "certificate.rho", "measurements without a delta or a curve, neither of which proves zCDP", "a plan with one")
	}
	v.asked(c)
}

// pure reports whether the request was for pure differential privacy.
func (c *Certificate) pure() bool { return c.Epsilon > 0 && c.Delta == 0 && c.Rho == 0 }

// asked compares the spent figures with the request.
func (v *verifier) asked(c *Certificate) {
	atMost := func(field string, spent, asked, budget float64) {
		v.fault(budget > 0 && spent > asked, "certificate.spent."+field, fmt.Sprintf("at most the %v that was asked", asked), fmt.Sprint(spent))
	}
	atMost("rho", c.Spent.Rho, c.Rho, c.Rho)
	atMost("epsilon", c.Spent.Epsilon, c.Epsilon, c.Epsilon)
	atMost("delta", c.Spent.Delta, c.Delta, c.Epsilon)
}

// atLeast adds a fault if a spent figure is below the plan's cost.
func (v *verifier) atLeast(field string, x, least float64) {
	v.fault(x < least*(1-tolerance), field, fmt.Sprintf("at least %v, which the plan costs", least), fmt.Sprint(x))
}

// loose is the relative excess allowed of a spent figure over the recomputed one: a solver's last
// bits.
const loose = 1e-6

// costs adds a fault if a spent figure is below or above the plan's cost: the plan lists all
// measurements.
func (v *verifier) costs(field string, x, cost float64) {
	v.atLeast(field, x, cost)
	v.fault(x > cost*(1+loose), field, fmt.Sprintf("at most %v, which is all that the plan costs", cost), fmt.Sprint(x))
}

// conversion checks that the spent (epsilon, delta) is what the measurements imply.
func (v *verifier) conversion(spent Spent, sum totals) {
	delta := spent.Delta - sum.delta
	if sum.orders == nil {
		at := func(f float64) float64 { return privacy.DeltaOfMu(spent.Epsilon*f, math.Sqrt(sum.mu2)) }
		v.atLeast("certificate.spent.delta", spent.Delta, at(1+tolerance)+sum.delta)
		// if both bounds of costs are seen to hold, there is nothing to solve
		if delta >= privacy.MinDelta && delta < 1 && !(at(1+tolerance/2) <= delta && at(1-loose/2) > delta) {
			v.costs("certificate.spent.epsilon", spent.Epsilon, privacy.EpsilonOfMu(delta, math.Sqrt(sum.mu2)))
		}
		return
	}
	if !(delta > 0) {
		v.fault(true, "certificate.spent.delta", fmt.Sprintf("more than the thresholds' %v", sum.delta), fmt.Sprint(spent.Delta))
		return
	}
	_, least := sum.deciding(delta)
	v.atLeast("certificate.spent.epsilon", spent.Epsilon, least) // the reservation may be more
}
