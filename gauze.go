// Package gauze releases Gaussian summaries of sensitive tables under differential privacy, without
// asking for bounds on the data.
//
//	release, err := gauze.FitFile(ctx, "people.csv", "age,bmi",
//		gauze.Request{Budget: gauze.Budget{Epsilon: 1, Delta: 1e-6}})
//
// or, step by step and from other sources:
//
//	// or FromRows, FromSeq, FromSQL
//	in, err := gauze.Open("people.csv", nil, source.Named([]string{"age", "bmi"}))
//	table, err := in.Load(gauze.ReplaceOne, nil)        // the rows go in and never come out
//	request := in.Request()
//	request.Relation, request.Budget = gauze.ReplaceOne, gauze.Budget{Epsilon: 1, Delta: 1e-6}
//	result, err := gauze.Fit(ctx, table, request)
//	release, err := result.Released()                   // the model and its certificate
//
// The guarantee: whatever Fit returns, as a function of the table's rows, is differentially private
// under the relation and the budget of the request. It covers one Fit: two fits on one table cost
// the sum of their budgets (in mu^2, or in epsilon and delta), which the caller has to add up.
//
// Not protected: how long a fit takes, how much memory it uses, and what [Input] reports about the
// rows to the custodian.
package gauze

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/estimate/categories"
	"github.com/gauze-dp/gauze/estimate/profile"
	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/literal"
	"github.com/gauze-dp/gauze/source"
)

// Version is the version of this module, as certificates name it.
const Version = "0.1.0-dev"

// DefaultMaxComponents is the least limit on the number of components if Request.MaxComponents is
// 0: methods that choose their number allow as many as the rows can support, if that is more.
const DefaultMaxComponents = 10

// Methods returns all methods of a [Fit]: those for practical use, and those that run what papers
// print.
func Methods() catalog.List {
	return catalog.Methods(literal.Learners()...).With(literal.One(), literal.Mixtures())
}

// Named returns columns of which only the names are known.
func Named(names ...string) []source.Column { return source.Named(names).Columns }

// LargestEpsilon is the largest epsilon that is accepted without Force: beyond it one row may
// change the odds of an answer by more than e^20, which protects nobody in practice.
const LargestEpsilon = privacy.LargestEpsilon

// MostColumns is the largest number of columns. A guess: releases hold every covariance in full,
// and one of this many columns takes about eight GB.
const MostColumns = 1 << 15

// A Request holds everything that a fit is asked. All of it is public.
type Request struct {
	Relation privacy.Relation // Required.
	Budget   privacy.Budget   // Required.
	// Method is the name of one of [Methods]. Default "auto".
	Method string
	// Components is the number of components; 0, the default, lets the method choose, up to
	// MaxComponents.
	Components int
	// MaxComponents is 1 or more; 0 means DefaultMaxComponents, or as many as the rows can support.
	// It counts only where Components is 0.
	MaxComponents int
	Covariance    estimate.CovarianceType // Default estimate.Full.
	// Columns are the d columns, with what is publicly known of each: releases state it, and
	// synthetic rows keep to it. Required; [Named] makes them from names.
	Columns []source.Column
	// Title and Dataset name the release and its data set, and Day is the day of the fit: releases
	// state them. Default: not stated.
	Title, Dataset string
	Day            time.Time
	// TypicalSD are standard deviations that columns of such a kind have, as far as is publicly
	// known: [Plan] computes the expected error from them, and a fit does not use them. Default: a
	// sixth of a column's limits.
	TypicalSD map[string]float64
	// Facts are public bounds on the distribution. Default: nothing is known.
	Facts estimate.Facts
	// Printed asks a method that runs what a paper prints for the paper's own constants. Such a
	// request is usually refused, with the number of rows that they need. The certificate repeats
	// it.
	Printed bool
	// Tournament asks a method that chooses among listed mixtures, those of AAL21, to choose by a
	// tournament of all pairs. The certificate repeats it.
	Tournament bool
	// KnownCovariance is the covariance that all components are publicly known to have, in the
	// columns' own units and order, d x d; nil where none is known. The certificate repeats it.
	KnownCovariance [][]float64
	// Learner names what a black box runs on blocks of rows: "em", "spectral", "pearson-lines" or,
	// up to two components, "moitra-valiant";
	// "", the default, is "em". Only methods that run a learner take one, and "auto" takes such a
	// method if one is named.
	Learner string
	// Own is a learner of the caller's in place of Learner. It receives raw rows. The caller must
	// ensure that it keeps none, shows none, and answers for every block from that block alone
	// (docs/LEARNERS.md), and the certificate says so. Default nil.
	Own learner.Mixture
	// Estimator is a method of the caller's, in place of Method. Its name begins with "own:". It
	// reads the rows through its session only, so the kernel holds it to its plan and the budget,
	// as any method, and ledger, certificate and release treat it as any other. The caller must
	// ensure that it knows nothing else of the rows (docs/LEARNERS.md), and Verify says so. Default
	// nil.
	Estimator estimate.Estimator
	// Trim is the fraction of a block's rows, the least likely, that the learner leaves out, in [0,
	// estimate.MostTrim). Default 0.
	Trim float64
	// unit is the column whose values name the persons that the table's rows stand for, "" where a
	// row of the input is one: only Input.Fill, which knows it, sets it.
	unit string
	// settled says that columns are as a release states them: which are counted is decided.
	settled bool
	// Force allows a budget that promises next to nothing: an epsilon above LargestEpsilon, or a
	// delta of one over the public number of rows or more.
	Force bool
	// SchemaInferred says that the columns were chosen by reading cells, which the promise does not
	// cover. The certificate says so.
	SchemaInferred bool
	// Observe, if set, is called after every measurement with its step and the part of the budget
	// (of mu^2) spent so far.
	Observe func(step string, spent float64)
	// Engine reads the rows: one of the packages below kernel/internal/engine. Default: all cores
	// of this machine.
	Engine kernel.Engine
	// Reserve, if set, receives the plan and its largest cost before the first measurement of a
	// fit, or of each group's fit: its error refuses the fit, with nothing spent.
	Reserve func(plan kernel.Plan, total privacy.Calibration) error
}

// Validate returns nil or all faults at once, each a *privacy.FieldError, a *source.Error or a
// *catalog.UnknownError, joined.
func (r Request) Validate() error {
	var faults estimate.Faults
	if _, err := privacy.ParseRelation(r.Relation.String()); err != nil {
		faults = append(faults, err)
	}
	if err := r.Budget.Validate(); err != nil {
		faults = append(faults, err)
	}
	faults.If(!r.Force && r.Budget.Epsilon > LargestEpsilon, "epsilon", fmt.Sprintf("at most %d", LargestEpsilon), r.Budget.Epsilon,
		"an epsilon of 1 to 3 is usual, and beyond 20 a row is hardly protected; --force asks for it all the same")
	learning := estimate.Problem{Learner: r.Learner, Own: estimate.OwnType(r.Own), Trim: r.Trim, Printed: r.Printed, Tournament: r.Tournament}
	if r.Estimator != nil {
		r.checkOwn(&faults)
	} else if method, _, err := r.named(learning); err != nil {
		faults = append(faults, err)
	} else {
		faults = append(faults, estimate.ValidateLearner(method, learning))
	}
	faults.If(r.Components < 0, "components", "a positive number, or 0 for auto", r.Components, "0 lets the method choose")
	faults.If(r.MaxComponents < 0, "max_components", "a positive number", r.MaxComponents, "0 allows what the rows can carry")
	faults.If(r.Covariance < estimate.Full || r.Covariance > estimate.Spherical, "covariance", "full, diagonal or spherical",
		int(r.Covariance), "use a constant of the package estimate")
	faults.If(len(r.Columns) == 0, "columns", "at least one column", "none", "name the columns to fit")
	d := len(r.schema().Numbers())
	faults.If(d < len(r.Columns) && r.Budget.Pure(), "columns", "numbers alone for a budget without delta", "a category",
		"counts of categories have Gaussian noise: ask for a delta, or leave the category out")
	faults.If(len(r.Columns) > MostColumns, "columns", fmt.Sprintf("at most %d", MostColumns), len(r.Columns),
		fmt.Sprintf("a release holds every covariance as d x d numbers, %.3g GB here: leave columns out", 8e-9*float64(len(r.Columns)*len(r.Columns))))
	faults = append(faults, r.schema().Tidy(), r.Facts.Validate(), estimate.ValidateCovariance(r.KnownCovariance, d, r.Covariance))
	return errors.Join(faults...)
}

// named returns the method that the request names, or the choice of "auto": one of [Methods], or
// the profile of the columns; and why.
func (r Request) named(p estimate.Problem) (estimate.Estimator, string, error) {
	if r.Method == profile.Name {
		return profile.New(), "table one was asked for", nil
	}
	return Methods().Requested(r.Method, p)
}

// schema returns a schema of the columns.
func (r Request) schema() *source.Schema { return &source.Schema{Columns: slices.Clone(r.Columns)} }

// counts reports whether the values of columns of yes and no are counted like those of categories:
// for methods that look for several components, which two points far apart would be.
func (r Request) counts() bool {
	one := r.Components == 1 || r.Components == 0 && r.MaxComponents == 1
	if one || r.settled || r.Estimator != nil || r.KnownCovariance != nil || r.Budget.Pure() {
		return false
	}
	return r.Method == "" || r.Method == catalog.Auto || slices.ContainsFunc(Methods().Mixtures, func(e estimate.Estimator) bool { return e.Name() == r.Method })
}

// found returns the numbers, among the columns of categories, of those whose values are to be
// found.
func (r Request) found() (columns []int) {
	for a, c := range r.schema().Categorical() {
		if c.Find {
			columns = append(columns, a)
		}
	}
	return columns
}

// A question is a request that has been checked, with what follows from it: only questions are
// planned and run.
type question struct {
	Request
	problem estimate.Problem // the request as an estimator sees it
	method  estimate.Estimator
	why     string  // reason for this method
	asked   float64 // the requested epsilon, if it exceeds what the method can use
	// of the table's columns of numbers, those whose values are counted, and the number of each
	// among the columns of categories
	counted, places []int
	shares          categories.Shares // of mu^2, for categories; the method has the rest
}

// check checks the request and chooses the method; rows is n where that is public, else 0.
func (r Request) check(rows int) (*question, error) {
	q, err := r.choose(rows)
	if err == nil && q.method.Name() == profile.Name {
		err = profile.Refused(q.problem)
	}
	return q, r.fixed(err, rows)
}

// plan returns the plan of the method.
func (q *question) plan() (kernel.Plan, error) {
	p := q.problem
	p.Profiled = profile.Measured(q.method.Name(), p)
	plan, err := kernel.Plan{}, error(nil)
	if alone := q.alone(); alone {
		plan = profile.AlonePlan(q.method.Name())
	} else if plan, err = q.method.Plan(p); err == nil && profile.Carried(q.method.Name(), p) {
		plan = profile.Beside(p, plan)
	}
	if err == nil && q.shares.All > 0 {
		plan = categories.Extend(plan, q.problem, q.shares)
	}
	return plan, err
}

// alone reports that beside categories the rows may be too few for the method, and are enough for
// every column by itself, so that a fit is that. With more rows a joint model has the correlations,
// though numbers by themselves can be nearer without it.
func (q *question) alone() bool {
	return profile.Affords(q.method.Name(), q.problem) && catalog.Unsure(q.method, q.problem)
}

// usualEpsilons are the values suggested when a fit is refused.
var usualEpsilons = [...]float64{.1, .2, .5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, LargestEpsilon}

// fixed adds to a refusal what the public number of rows can pay for: a larger epsilon, simpler
// covariances, fewer columns, or every column by itself.
func (r Request) fixed(err error, rows int) error {
	var refusal *estimate.Refusal
	if !errors.As(err, &refusal) || rows == 0 {
		return err
	}
	offers := r.offers(rows)
	if described := r; r.Method != profile.Name && r.KnownCovariance == nil && !strings.Contains(refusal.Advice, "gauze describe") {
		described.Method, described.Components, described.Covariance = profile.Name, 0, estimate.Full
		if described.paidBy(rows) {
			offers = append(offers, "gauze describe, each column by itself")
		} else if categories := described.schema().Categorical(); categories != nil { // whose shares are always had
			offers = append(offers, "gauze describe, which gives the shares of categories, and of numbers what so few rows show")
		}
	}
	if offers == nil {
		return err
	}
	return &estimate.Refusal{Reason: refusal.Reason, Advice: fmt.Sprintf("%s; %s would do with: %s", refusal.Advice, words.Plural(rows, "row"), strings.Join(offers, "; or "))}
}

// offers returns requests close to a refused one that this many rows can pay for.
func (r Request) offers(rows int) (offers []string) {
	for _, epsilon := range usualEpsilons {
		more := r
		if more.Budget.Epsilon = epsilon; r.Budget.Epsilon != 0 && epsilon > r.Budget.Epsilon && more.paidBy(rows) {
			offers = append(offers, fmt.Sprintf("epsilon %g", epsilon))
			break
		}
	}
	if plain := r; r.Covariance == estimate.Full && len(r.Columns) > 1 {
		if plain.Covariance = estimate.Diagonal; plain.paidBy(rows) {
			offers = append(offers, "--covariance diagonal")
		}
	}
	offers = append(offers, r.asCategories(rows)...)
	few := r
	for few.Columns = r.Columns; len(few.Columns) > 1; {
		few.Columns = few.Columns[:len(few.Columns)/2]
		if few.KnownCovariance == nil && few.paidBy(rows) {
			offers = append(offers, words.Plural(len(few.Columns), "column")+" of the "+fmt.Sprint(len(r.Columns)))
			break
		}
	}
	few.Columns, few.Budget.Epsilon, few.Budget.Rho = few.Columns[:1], r.Budget.Epsilon/float64(len(r.Columns)), r.Budget.Rho/float64(len(r.Columns))
	if few.KnownCovariance != nil || len(r.Columns) < 2 {
		return offers
	}
	if few.Method == profile.Name {
		few.Method = "" // mean and sd of a column ask for less than its quantiles
	}
	if few.paidBy(rows) {
		offers = append(offers, fmt.Sprintf("fits of one column each, at epsilon %.2g", few.Budget.Epsilon))
	}
	return offers
}

// asCategories returns the offer to make as few columns of whole numbers categories as this many
// rows can pay for, if there is any: a share of a value takes fewer rows than a column of numbers.
func (r Request) asCategories(rows int) []string {
	const values = 5 // that each is taken to have
	coded, wholes, numbers := r, 0, len(r.schema().Numbers())
	coded.Columns = slices.Clone(r.Columns)
	for i := len(coded.Columns) - 1; i >= 0 && numbers > 1; i-- {
		if c := &coded.Columns[i]; c.Kind == source.Counts || c.RoundedTo == 1 && !c.Categorical() && c.Kind != source.Dates {
			*c = source.Column{Name: c.Name, Kind: source.Categories}
			for v := range values {
				c.Categories = append(c.Categories, fmt.Sprint(v))
			}
			numbers--
			if wholes++; coded.KnownCovariance == nil && coded.paidBy(rows) {
				return []string{fmt.Sprintf("%s of whole numbers as categories, if they have few values (x:category(1,2,3))", words.Plural(wholes, "column"))}
			}
		}
	}
	return nil
}

// oneColumn is the n mu from which on nearly all fits of one column are released: 39 of 40 made-up
// tables at epsilon .3 and 1.
const oneColumn = 60

// paidBy reports whether a method would be chosen, would not refuse, and would need no more rows.
func (r Request) paidBy(rows int) bool {
	q, err := r.choose(rows)
	if err != nil {
		return false
	}
	// The rows needed for several components are stated for as many components as the rows can
	// support.
	alone := r.Method != profile.Name && q.problem.Columns == 1 && r.Components == 0 && q.problem.Mu*float64(rows) >= oneColumn
	if !alone && q.method.Expect(q.problem).RowsNeeded > float64(rows) {
		return false
	}
	_, err = q.method.Plan(q.problem)
	return err == nil
}

// choose does what check does, without suggestions in its errors.
func (r Request) choose(rows int) (*question, error) {
	if n := float64(rows); !r.Force && r.Budget.Delta*n >= 1 && r.Validate() == nil {
		return nil, &privacy.FieldError{Field: "delta", Wanted: fmt.Sprintf("less than 1/%d, one over the number of rows", rows),
			Got: fmt.Sprint(r.Budget.Delta), Fix: fmt.Sprintf("it would allow a whole row to be published; ask for a far smaller one, for instance %.0e, or allow it by --force", .01/n)}
	}
	q, err := r.pose(rows)
	if err != nil {
		return nil, err
	}
	if r.Estimator != nil {
		q.method, q.why = r.Estimator, "as asked: it is not part of Gauze"
		return q.capped()
	}
	if r.Budget.Pure() {
		q.method, q.why, err = literal.Pure(r.named(q.problem))
		return q, err
	}
	if r.Method == profile.Name {
		q.method, q.why, err = r.named(q.problem)
		return q, err
	}
	q.method, q.why, err = Methods().Choose(r.Method, q.problem)
	if err != nil {
		if q.method == nil || !q.alone() {
			return q, err
		}
		q.why = "too few rows for how columns depend on each other: each by itself"
	}
	return q.capped()
}

// pose checks the request and states it as estimators see it, without a method.
func (r Request) pose(rows int) (*question, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	total, err := privacy.Calibrate(r.Budget, privacy.Needs{})
	if err != nil {
		return nil, err
	}
	if r.counts() {
		r.Columns = r.schema().Counted()
	}
	numbers := r.schema().Numbers()
	q := &question{Request: r, problem: estimate.Problem{
		Columns: len(numbers), Rows: rows, Relation: r.Relation, Mu: total.Mu, NoDelta: r.Budget.Delta == 0,
		Components: r.Components, MaxComponents: cmp.Or(r.MaxComponents, DefaultMaxComponents), MoreComponents: r.MaxComponents == 0,
		Covariance: r.Covariance, Facts: r.Facts, Printed: r.Printed, Tournament: r.Tournament, KnownCovariance: cloned(r.KnownCovariance),
		Budget: r.Budget, Learner: r.Learner, Own: estimate.OwnType(r.Own), Trim: r.Trim,
	}}
	for _, c := range numbers {
		unit := c.RoundedTo
		low, high := c.Limits()
		if c.Kind == source.Logs { // logarithms lie on no grid, and their limits are others
			unit, low, high = 0, math.Inf(-1), math.Inf(1)
		}
		q.problem.RoundedTo, q.problem.Limits = append(q.problem.RoundedTo, unit), append(q.problem.Limits, [2]float64{low, high})
	}
	for _, c := range r.schema().Categorical() {
		values := len(c.Values())
		if c.Find {
			values = 0
		}
		q.problem.Categories = append(q.problem.Categories, values)
	}
	q.shares = categories.SharesOf(q.problem, q.problem.Mu, r.Method != profile.Name)
	q.problem.Mu *= math.Sqrt(1 - q.shares.All)
	return q, nil
}

// capped returns the question with the largest epsilon that its method can use, if that is less
// than the requested one.
func (q *question) capped() (*question, error) {
	c, ok := q.method.(estimate.Capped)
	if !ok || q.Budget.Concentrated() || q.Budget.Pure() {
		return q, nil
	}
	asked, most := q.Budget.Epsilon, c.MostEpsilon(q.Budget.Delta)
	if asked <= most || most < privacy.MinEpsilon {
		return q, nil
	}
	less := q.Request
	less.Budget.Epsilon = most
	out, err := less.pose(q.problem.Rows)
	if err == nil {
		out.method, out.why, out.asked = q.method, q.why, asked
	}
	return out, err
}

func cloned(matrix [][]float64) (out [][]float64) {
	for _, row := range matrix {
		out = append(out, slices.Clone(row))
	}
	return out
}
