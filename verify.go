package gauze

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/profile"
	"github.com/gauze-dp/gauze/release"
)

// A Verdict is what a reader can find out about a release from the release alone.
type Verdict struct {
	// Faults are contradictions, for which the release is refused: nil if it is consistent.
	Faults []error
	// Warnings are statements that a genuine release seldom makes, and what could not be checked.
	Warnings []string
	// Exceptions are limits of the promise that the release itself states.
	Exceptions []string
	// Replanned says that the plan was made again and allows all measurements.
	Replanned bool
}

// OnlySigned states what no reader can check.
const OnlySigned = "Only a signature shows who vouches for the file. Without one, somebody may have changed names, limits, stated facts, the unit, " +
	"whether the schema was declared, or numbers of the model that no measurement contradicts."

// Verify checks a release as a reader would: [release.Verify], the method, and the plan, which is
// made again from method, columns, rows where they are public, relation, facts, learner, budget and
// the rest of the request. Every measurement has to be one that the plan allows, with at least its
// noise; and where there is a model, steps that the method cannot do without have to be there, and
// all of the budget spent.
//
// A release of another edition of the plans, or without one, is not compared with them: a warning
// says so.
func Verify(r *release.Release) Verdict { return verify(r, nil) }

// verify does what Verify does; if method is not nil, it is used instead of the catalogue's.
func verify(r *release.Release, method estimate.Estimator) (v Verdict) {
	v.Faults = release.Verify(r)
	c := &r.Certificate
	own := isOwn(c.Method) && method == nil
	if c.Method != "" && method == nil && !own && c.Method != profile.Name && !slices.Contains(Methods().Names()[1:], c.Method) {
		v.Faults = append(v.Faults, &release.Error{Field: "certificate.method", Wanted: "one that gauze papers or gauze fit --help lists", Got: strconv.Quote(c.Method),
			Hint: "the release was altered, or another version of gauze wrote it"})
	}
	if !c.Recomputable() {
		v.warn("an earlier version wrote it, without the shapes of its queries: their sensitivities were not recomputed")
	}
	switch {
	case v.Faults != nil:
	case own:
		v.warn("its method %s is not part of Gauze, so its plan was not made again: what each measurement cost was checked, and not whether they are the method's", c.Method)
	case c.Requested == nil && likely(r, method):
		v.warn("it does not say what was asked, as releases of earlier versions do not: its measurements are those of some request of its method")
	case c.Requested == nil:
		v.warn("it does not say what was asked, as releases of earlier versions do not, and its measurements are those of no plan that this version makes for its method: " +
			"the plans have changed since, or the release was altered")
	case c.Requested.Plans != PlanEdition:
		v.warn("it was planned by edition %d of the methods' plans, and this program knows edition %d: whether its measurements are those of its method was not checked",
			c.Requested.Plans, PlanEdition)
	default:
		v.Faults = follow(r, method)
		v.Replanned = v.Faults == nil
	}
	v.exceptions(c)
	if v.Faults == nil {
		v.doubts(r)
	}
	return v
}

// likely reports whether a release that does not state its request has measurements that a usual
// request allows.
func likely(r *release.Release, method estimate.Estimator) bool {
	for k := range DefaultMaxComponents + 1 {
		for _, shape := range []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical} {
			as := *r
			as.Certificate.Requested = &release.Requested{Plans: PlanEdition, Components: k, Covariance: shape.String()}
			if follow(&as, method) == nil {
				return true
			}
		}
	}
	return false
}

func (v *Verdict) warn(format string, args ...any) {
	v.Warnings = append(v.Warnings, fmt.Sprintf(format, args...))
}

// exceptions adds the limits of the promise.
func (v *Verdict) exceptions(c *release.Certificate) {
	say := func(is bool, format string, args ...any) {
		if is {
			v.Exceptions = append(v.Exceptions, fmt.Sprintf(format, args...))
		}
	}
	say(c.Simulated, "it is simulated, its rows or its noise came from a seed: it protects nobody")
	say(c.Schema == release.SchemaInferred, "its columns were chosen by looking at cells (the schema is inferred): the promise does not cover that choice")
	say(c.Learner != nil && c.Learner.Name == release.OwnLearner, "a learner that is not part of Gauze was handed raw rows: whoever brought it answers for what it did with them")
	say(isOwn(c.Method), "its method %s is not part of Gauze: the kernel held it to its budget, and whoever brought it answers for that it knew of the rows nothing but the answers", c.Method)
	say(slices.ContainsFunc(c.Plan, func(s release.PlanStep) bool { return s.Query == release.QueryOwnSpace }),
		"the distance and the mask of its popular estimate are not part of Gauze: whoever brought them was handed estimates of secret blocks, and answers for what the mask is said to cost")
	say(c.Epsilon > LargestEpsilon, "epsilon is %g, above %d: a row is hardly protected", c.Epsilon, LargestEpsilon)
	say(c.Rows != nil && c.Delta*float64(*c.Rows) >= 1, "delta is %g, not below one over the number of rows: it would allow a whole row to be published", c.Delta)
}

// follow compares a release with the plan of its request.
func follow(r *release.Release, method estimate.Estimator) (faults []error) {
	if r.Groups == nil {
		p, err := replan(r, method)
		if err != nil {
			return []error{unplanned(err)}
		}
		return p.followed(r)
	}
	var p *planned
	for i := range r.Groups {
		own := r.Of(i)
		if p == nil { // all groups have one plan
			var err error
			if p, err = replan(own, method); err != nil {
				return []error{unplanned(err)}
			}
		}
		for _, fault := range p.followed(own) {
			faults = append(faults, fmt.Errorf("group %s: %w", r.Groups[i].Name(r.Certificate.By), fault))
		}
	}
	return faults
}

// unplanned returns the fault of a release whose request would have been refused.
func unplanned(err error) error {
	return &release.Error{Field: "certificate", Wanted: "a request that its method takes", Got: errors.Join(err).Error(),
		Hint: "it would have been refused: the release was altered, do not rely on it"}
}

// followed returns the faults of one fit.
func (p *planned) followed(r *release.Release) []error {
	f := &follower{planned: p, c: &r.Certificate}
	f.steps()
	if r.Model == nil {
		return f.faults
	}
	if _, known := always[r.Certificate.Method]; known && !point(r) {
		f.whole()
	}
	f.fault(r.Certificate.Requested.Covariance != estimate.Full.String() && correlated(r), "model.covariances", "matrices that are diagonal, as was asked", "others")
	asked, k := r.Certificate.Requested, r.Model.K()
	f.fault(asked.Components > 0 && k > asked.Components, "model", fmt.Sprintf("at most the %d components that were asked for", asked.Components), fmt.Sprint(k))
	f.fault(asked.Components == 0 && asked.MaxComponents > 0 && k > asked.MaxComponents, "model", fmt.Sprintf("at most the %d components that were allowed", asked.MaxComponents), fmt.Sprint(k))
	return f.faults
}

// correlated reports whether a covariance is not diagonal.
func correlated(r *release.Release) bool {
	for _, g := range r.Model.Components {
		for i := range r.Model.Dim() {
			for j := range i {
				if g.Cov.At(i, j) != 0 {
					return true
				}
			}
		}
	}
	return false
}

// point reports whether the model has no spread: all its columns are constant, which takes few
// measurements to see.
func point(r *release.Release) bool {
	if len(r.Model.Components) != 1 {
		return false
	}
	for j := range r.Model.Dim() {
		if v := r.Model.Components[0].Cov.At(j, j); math.Abs(v) > 0 {
			return false
		}
	}
	return true
}
