package gauze

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/categories"
	"github.com/gauze-dp/gauze/estimate/profile"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/literal"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// PlanEdition counts the editions of the methods' plans. A reader can make the plan of a release of
// this edition again from what the release says. It goes up by one whenever the plan of some
// request changes (TestPlanEdition fails then), and releases of other editions are verified without
// their plans.
const PlanEdition = 25

// certified returns the part of the request that the certificate's other fields do not state.
func (r Request) certified() *release.Requested {
	return &release.Requested{Plans: PlanEdition, Components: r.Components, MaxComponents: r.MaxComponents, Covariance: r.Covariance.String()}
}

// A planned is a reader's reconstruction of a release: its request, the request's plan, and the
// plan's largest cost.
type planned struct {
	plan  kernel.Plan
	total privacy.Calibration
	lists map[string]int // number of columns of categories, or of pairs of them, that a step asks
}

// stranger stands for a learner that is not part of Gauze, of which a reader knows no more.
type stranger struct{}

// LearnMixture learns nothing: a reader has no rows.
func (stranger) LearnMixture([][]float64, int, uint64) ([]learner.Component, error) { return nil, nil }

// requestOf returns the request of a release, from its own statements; for a group's release by
// itself, that of the group.
func requestOf(r *release.Release) (Request, error) {
	c := &r.Certificate
	relation, err := privacy.ParseRelation(c.Relation)
	if err != nil {
		return Request{}, err
	}
	shape, known := estimate.ShapeOf(c.Requested.Covariance)
	if !known {
		return Request{}, fmt.Errorf("covariance %q", c.Requested.Covariance)
	}
	out := Request{settled: true, Relation: relation, Budget: privacy.Budget{Epsilon: c.Epsilon, Delta: c.Delta, Rho: c.Rho}, Method: c.Method,
		Components: c.Requested.Components, MaxComponents: c.Requested.MaxComponents, Covariance: shape, Printed: c.Constants == release.ConstantsPrinted, Tournament: c.Constants == release.ConstantsTournament, Force: true}
	switch {
	case r.Columns != nil:
		for _, column := range r.Columns {
			if column.Find { // the plan does not know what will be found
				column.Categories = nil
			}
			out.Columns = append(out.Columns, source.Column(column))
		}
	case r.Model != nil:
		out.Columns = Named(r.Model.Columns...)
	}
	if l := c.Learner; l != nil {
		if out.Trim = l.Trim; l.Name == release.OwnLearner {
			out.Own = stranger{}
		} else {
			out.Learner = l.Name
		}
	}
	if f := c.Facts; f != nil {
		out.Facts = estimate.Facts{Moments: f.Moments, MomentBound: f.MomentBound, LeastWeight: f.LeastWeight}
		if out.KnownCovariance = f.KnownCovariance; f.MeanWithin != nil {
			out.Facts.KnowsMean, out.Facts.MeanWithin = true, *f.MeanWithin
		}
		if e := f.EigenvaluesWithin; len(e) == 2 {
			out.Facts.Eigenvalues = [2]float64{e[0], e[1]}
		}
	}
	return out, nil
}

// replan makes the plan of a release again, from its public statements. If method is not nil, it is
// used instead of the catalogue's.
func replan(r *release.Release, method estimate.Estimator) (*planned, error) {
	request, err := requestOf(r)
	if err != nil {
		return nil, err
	}
	if method != nil {
		request.Method = "" // unknown to the catalogue
	}
	rows := 0
	if r.Certificate.Rows != nil {
		rows = *r.Certificate.Rows
	}
	q, err := request.pose(rows)
	if err != nil {
		return nil, err
	}
	if q.method = method; method == nil {
		if q.method, _, err = request.named(q.problem); err == nil && request.Budget.Pure() {
			q.method, _, err = literal.Pure(q.method, "", nil)
		}
	}
	if err == nil && q.method == nil {
		err = fmt.Errorf("method %q", request.Method)
	}
	if err != nil {
		return nil, err
	}
	if q, err = q.capped(); err != nil {
		return nil, err
	}
	out := &planned{lists: q.shares.Lists(countsOf(r))}
	out.lists[categories.StepValues] = categories.Found(q.problem.Categories)
	out.plan, out.total, err = q.calibrated()
	return out, err
}

// countsOf returns the number of values of each column of categories of a release.
func countsOf(r *release.Release) (values []int) {
	for _, c := range r.Columns {
		if column := source.Column(c); column.Categorical() {
			values = append(values, len(column.Values()))
		}
	}
	return values
}

// A follower checks the measurements of one fit against the plan.
type follower struct {
	*planned
	c      *release.Certificate
	faults []error
}

func (f *follower) fault(bad bool, field, wanted, got string) {
	if bad {
		f.faults = append(f.faults, &release.Error{Field: field, Wanted: wanted, Got: got,
			Hint: "these measurements cannot have made this release: it was altered, do not rely on it"})
	}
}

// Relative tolerances: same is the largest difference of a figure from its recomputed value, and
// whole the most that may be left of the budget.
const same, whole = 1e-9, 1e-6

func equal(x, y float64) bool { return math.Abs(x-y) <= same*math.Max(math.Abs(x), math.Abs(y)) }

// steps checks every step against its line of the plan: the query, its source, the number of
// measurements, their cost, and the delta they add.
func (f *follower) steps() {
	pure := f.total.Budget.Pure()
	for _, name := range f.names() {
		i := slices.IndexFunc(f.plan.Steps, func(s kernel.Step) bool { return s.Name == name })
		field := func(what string) string { return fmt.Sprintf("certificate.plan, step %q, %s", name, what) }
		if i < 0 {
			f.fault(true, "certificate.plan", fmt.Sprintf("steps that the method %s plans for such a request", f.c.Method), strconv.Quote(name))
			continue
		}
		step := f.plan.Steps[i]
		count, masks, cost := 0, 0, 0.0
		for j := range f.c.Plan {
			line := &f.c.Plan[j]
			if line.Step != name {
				continue
			}
			f.fault(line.Query != step.Query, field("query"), strconv.Quote(step.Query), strconv.Quote(line.Query))
			f.fault(line.Source != step.Source, field("source"), strconv.Quote(step.Source), strconv.Quote(line.Source))
			f.line(step, line, field)
			if step.Extra != nil && !(line.Delta > 0) && !(line.Pure > 0) {
				masks += line.Count
			} else {
				count += line.Count
			}
			cost += costOf(line, pure)
		}
		f.fault(max(count, masks) > step.Most, field("count"), fmt.Sprintf("at most the %d that are planned", step.Most), fmt.Sprint(max(count, masks)))
		most := step.Share * f.cap()
		f.fault(cost > most*(1+same), field("noise"), "at least as much as the plan has: "+costing(most, pure), costing(cost, pure))
		if _, known := always[f.c.Method]; known && f.first(name) {
			f.fault(!equal(cost, most), field("noise"), "that of the plan: "+costing(most, pure), costing(cost, pure))
		}
	}
}

// first reports whether a step takes all that is planned for it: the count of the rows, or of their
// cells where a fit begins with a profile.
func (f *follower) first(name string) bool {
	if f.plan.Steps[0].Name == profile.BesideFirst {
		return name == profile.BesideFirst
	}
	return name == "count" || name == "rows"
}

// costOf returns what a line costs of the budget that steps share: nothing if its loss is in a
// curve of its own.
func costOf(line *release.PlanStep, pure bool) float64 {
	if line.Mask != nil || line.Pure > 0 {
		return 0
	}
	return line.Cost(pure)
}

// costing returns a cost in words.
func costing(cost float64, pure bool) string {
	if pure {
		return fmt.Sprintf("epsilon %.6g in all", cost)
	}
	return fmt.Sprintf("mu %.6g in all", math.Sqrt(cost))
}

// line checks the delta that one line adds, and the losses that mu does not count: a step with such
// losses has a line of its test, and one of its mask or its noise.
func (f *follower) line(step kernel.Step, line *release.PlanStep, field func(string) string) {
	var mask *release.Mask
	delta, pure := f.total.ThresholdDelta*step.Slack/float64(step.Most), 0.0
	if step.Extra != nil && (line.Delta > 0 || line.Pure > 0 || line.Mask != nil) {
		var stated any
		stated, _, pure = step.Extra.Stated()
		_, delta = step.Extra.Loss(f.total.Budget.Epsilon)
		mask = maskOf(stated)
	}
	if line.Mask != nil {
		f.fault(mask == nil || !covers(*mask, *line.Mask), field("mask"), fmt.Sprintf("that of the plan, %v", mask), line.Mask.String())
		return
	}
	if n := f.lists[step.Name]; n > 0 { // on which the sensitivity depends
		f.fault(line.Shape == nil || line.Shape.Of != n, field("shape.of"), fmt.Sprintf("%d, the columns of categories or pairs of them", n), fmt.Sprintf("%+v", line.Shape))
	}
	f.fault(!equal(line.Delta, delta), field("delta"), fmt.Sprintf("that of the plan, %v", delta), fmt.Sprint(line.Delta))
	f.fault(!equal(line.Pure, pure), field("pure"), fmt.Sprintf("that of the plan, %v", pure), fmt.Sprint(line.Pure))
}

// covers reports whether a mask has at least the noise of the planned one for what moves no
// further.
func covers(planned, used release.Mask) bool {
	gamma := used.Gamma
	used.Gamma = planned.Gamma
	return used == planned && gamma <= planned.Gamma
}

// names returns the steps that were measured, each once.
func (f *follower) names() (names []string) {
	for _, line := range f.c.Plan {
		if !slices.Contains(names, line.Step) {
			names = append(names, line.Step)
		}
	}
	return names
}

// cap returns what the budget buys, in costOf's unit: mu^2, or a pure budget's epsilon. The other
// one is 0.
func (f *follower) cap() float64 { return float64(f.total.Cap) + float64(f.total.PureCap) }

// whole checks that a fit whose model has some spread measured the steps that its method cannot do
// without, and spent all of its budget.
func (f *follower) whole() {
	names := f.names()
	for _, any := range always[f.c.Method] {
		alternatives := strings.Split(any, "|")
		planned := slices.ContainsFunc(f.plan.Steps, func(s kernel.Step) bool { return slices.Contains(alternatives, s.Name) })
		f.fault(planned && !slices.ContainsFunc(alternatives, func(step string) bool { return slices.Contains(names, step) }), "certificate.plan",
			fmt.Sprintf("the step %s, which every model of the method %s rests on", strings.Join(alternatives, ", or "), f.c.Method), "none")
	}
	pure, spent := f.total.Budget.Pure(), 0.0
	for i := range f.c.Plan {
		spent += costOf(&f.c.Plan[i], pure)
	}
	f.fault(spent < f.cap()*(1-whole), "certificate.plan", "measurements that cost all that was planned, as those of every model do: "+costing(f.cap(), pure), costing(spent, pure))
	f.fault(spent > f.cap()*(1+same), "certificate.plan", "measurements that cost at most what was planned: "+costing(f.cap(), pure), costing(spent, pure))
}
