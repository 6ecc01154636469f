package release

import (
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release/check"
)

// Format names the version of the JSON that this package reads and writes.
const Format = "gauze/release/v1"

// A Release is what a custodian may publish: a model, and the certificate of the privacy it was
// learned under.
//
// Nothing in it may depend on a row except through a measurement that the certificate's plan lists.
type Release struct {
	Format   string         `json:"format"`             // Required: Format. Write fills in an empty one.
	Identity *Identity      `json:"identity,omitempty"` // nil in releases of versions before 0.1
	Model    *model.Mixture `json:"model,omitempty"`    // Required, but for a release of groups or a profile.
	// Table one, a line for each column; nil if it was not measured.
	Profile []ColumnProfile `json:"profile,omitempty"`
	// What is publicly known of the model's columns, in their order; nil if nothing.
	Columns     []Column    `json:"columns,omitempty"`
	Certificate Certificate `json:"certificate"`
	Diagnostics Diagnostics `json:"diagnostics"`
	// In place of model and diagnostics, where every group has its own.
	Groups []Group `json:"groups,omitempty"`
}

// An Identity says which release it is, for people; nothing in it comes from a row.
type Identity struct {
	// As the schema has them; empty if it does not say.
	Title   string `json:"title,omitempty"`
	Dataset string `json:"dataset,omitempty"`
	Created string `json:"created,omitempty"` // The day of the fit, in UTC: 2006-01-02.
	Program string `json:"program"`           // What wrote it, with its version and revision.
}

// A Column is what is publicly known of one column, declared beforehand.
type Column struct {
	Name string `json:"name"` // Required: as in the model.
	// The unit that it is recorded in; 0 if not declared.
	RoundedTo float64 `json:"rounded_to,omitempty"`
	// What a value can be; nil if not declared. A cell outside was a missing one.
	AtLeast *float64 `json:"at_least,omitempty"`
	AtMost  *float64 `json:"at_most,omitempty"`
	// What people call it, and the unit of its values ("kg"); empty if not declared.
	Label         string `json:"label,omitempty"`
	UnitOfMeasure string `json:"unit_of_measure,omitempty"`
	// What it holds: "number", "count", "yes-no" (1 and 0), "date" (days since 1970-01-01) or
	// "category"; empty if not declared.
	Kind string `json:"kind,omitempty"`
	// The values of a category, but for missing cells; nil for numbers.
	Categories []string `json:"categories,omitempty"`
	// Codes that meant missing: float64 and strings; nil if none were declared.
	Missing []any `json:"missing,omitempty"`
}

// A Certificate says what was asked, what was spent, and by which measurements.
type Certificate struct {
	Relation string `json:"relation"` // Required: ReplaceOne or AddRemoveOne.
	// As asked. Zero, and left out of the JSON, only when the budget was asked as Rho alone.
	Epsilon float64 `json:"epsilon"`
	// As asked, in [0, 1). Zero when the budget was pure, or, left out, asked as Rho alone.
	Delta float64 `json:"delta"`
	Rho   float64 `json:"rho,omitempty"` // As asked, when the budget was asked as zCDP.
	Spent Spent   `json:"spent"`         // At most what was asked.
	// n; nil (null) where it is private, which is under AddRemoveOne.
	Rows *int `json:"rows"`
	// The column of the input whose values are persons, of each of whom a row of the table is one
	// row drawn in secret: what is protected is a person with all of its rows. Empty where a row is
	// one.
	Unit   string `json:"unit,omitempty"`
	Schema string `json:"schema"` // Required: SchemaDeclared or SchemaInferred.
	// What was publicly known beforehand, as asked; nil if nothing.
	Facts *Facts `json:"facts,omitempty"`
	// Required: the estimator's name, for example "separated".
	Method string `json:"method"`
	// ConstantsPrinted where a paper's method ran on the constants that the paper prints.
	Constants string `json:"constants,omitempty"`
	// The columns that make groups, where every group has a model.
	By []string `json:"by,omitempty"`
	// What ran on blocks of rows; nil for methods without blocks or with one learner only.
	Learner *Learner `json:"learner,omitempty"`
	// What else was asked, from which the plan follows; nil in releases of earlier versions.
	Asked *Asked     `json:"asked,omitempty"`
	Plan  []PlanStep `json:"plan"` // The measurements as run.
	// The rows or the noise came from a seed: protects nobody.
	Simulated bool   `json:"simulated"`
	Version   string `json:"version"` // Of the program that wrote it.
}

// Asked is what a fit was asked beside what the certificate says elsewhere: with method, columns,
// rows, relation, facts, learner and budget its plan follows, so that a reader can make it again.
type Asked struct {
	// Plans is the edition of the plans that it was planned by: releases of one edition with the
	// same public facts have the same plan.
	Plans int `json:"plans"`
	// Components is the number of components that was asked for, and MaxComponents the most that
	// were allowed; 0 where that was left to the method.
	Components    int    `json:"components,omitempty"`
	MaxComponents int    `json:"max_components,omitempty"`
	Covariance    string `json:"covariance"` // "full", "diagonal" or "spherical".
}

// Facts are public bounds that a fit was told, in the units of the columns. They cost nothing, and
// the privacy does not rest on them: if one is wrong the estimate is, and the promise holds.
//
// Invariant: at least one is given.
type Facts struct {
	// MeanWithin is the radius of a ball about the origin that holds the mean, 0 for a mean that is
	// the origin; nil if not given.
	MeanWithin *float64 `json:"mean_within,omitempty"`
	// EigenvaluesWithin are a lower and an upper bound on the eigenvalues of the covariance; nil if
	// not given.
	EigenvaluesWithin []float64 `json:"eigenvalues_within,omitempty"`
	// Moments is the even order, at least 4, up to which moments are bounded as a Gaussian's are; 0
	// if not given.
	Moments int `json:"moments,omitempty"`
	// MomentBound bounds each of that order, as a multiple of the variance's power; 0 if not given:
	// as a Gaussian's.
	MomentBound float64 `json:"moment_bound,omitempty"`
	// LeastWeight is what the components' weights are at least; 0 if not given.
	LeastWeight float64 `json:"least_weight,omitempty"`
	// KnownCovariance is the covariance that every component has, d x d; nil if not given.
	KnownCovariance [][]float64 `json:"known_covariance,omitempty"`
}

// A Learner is what a method ran on every block of rows, without privacy: a public choice. The
// privacy does not rest on it, unless it is OwnLearner: whoever brought that one answers for what
// it did with the rows.
type Learner struct {
	Name string  `json:"name"`           // Required: OwnLearner for one that is not part of Gauze.
	Trim float64 `json:"trim,omitempty"` // The part of a block's rows that it left out, in [0, 1).
}

// ConstantsPrinted are a paper's constants as it prints them.
const ConstantsPrinted = "printed"

// OwnLearner is the name of a learner that whoever asked for the release brought along.
const OwnLearner = "own"

// Spent is the cost of the measurements as run, in every currency that it can be stated in; what
// does not apply is 0.
//
// What is promised is the budget that was asked. Where a run stopped early because of an answer,
// less is spent, but the smaller figure is a meter reading and not a promise by itself. So are Mu
// and Rho of a pure budget, under which epsilons alone are held to a total.
type Spent struct {
	// Zero, and left out of the JSON with Delta, where the budget was asked as Rho.
	Epsilon float64 `json:"epsilon"`
	// The conversion's delta at Epsilon and the thresholds' own delta together.
	Delta float64 `json:"delta"`
	// Gaussian DP: Mu^2 = sum count mu^2 over the plan's steps but for those with a Rényi curve.
	Mu  float64 `json:"mu"`
	Rho float64 `json:"rho"` // zCDP: Mu^2/2 where no step has a Rényi curve, otherwise 0.
}

// A PlanStep is one kind of measurement of the plan, made Count times.
type PlanStep struct {
	// Required: what it is for, in the estimator's words.
	Step  string `json:"step"`
	Group int    `json:"group,omitempty"` // Of a release of groups: from 1 on.
	Query string `json:"query"`           // Required: the kind of measurement.
	// How many times it was made, at least 1.
	Count int `json:"count"`
	// What Sensitivity follows from, beside Query and the relation. Left out when Renyi is given,
	// and nil in releases of versions before 0.1.
	Shape *check.Shape `json:"shape,omitempty"`
	// Of the noise: "" is the Gaussian; see muOf for the others.
	Law string `json:"law,omitempty"`
	// L2; L1 or that of a score for other laws. Left out of the JSON when Renyi is given.
	Sensitivity float64 `json:"sensitivity"`
	// Sigma, or the scale of the law. Left out of the JSON when Renyi is given.
	Noise float64 `json:"noise"`
	// Sensitivity/Noise, or the law's, of one measurement. Left out when Renyi is given.
	Mu float64 `json:"mu"`
	// What a threshold or a test adds, of one measurement; 0 for none.
	Delta float64 `json:"delta"`
	// Order -> Rényi divergence (nats) of one measurement; infinite ones are left out.
	Renyi map[string]float64 `json:"renyi,omitempty"`
	// epsilon0 of a pure measurement of which Renyi is the curve; 0 for other measurements.
	Pure float64 `json:"pure,omitempty"`
	// Of which Renyi is the curve; nil for other measurements.
	Mask   *Mask  `json:"mask,omitempty"`
	Source string `json:"source,omitempty"` // "KEY Algorithm N".
}

// Diagnostics holds released values only: numbers that measurements of the plan gave, and what
// follows from them.
type Diagnostics struct {
	// In the order of the model's components.
	Components []ComponentNote `json:"components,omitempty"`
	Flags      []Flag          `json:"flags,omitempty"`
	// Combinations of columns with no spread that could be seen.
	Unresolved []Direction `json:"unresolved,omitempty"`
	// Columns whose released spread is zero.
	ConstantColumns []string `json:"constant_columns,omitempty"`
	Notes           []string `json:"notes,omitempty"`
	// Units that columns look recorded in, though none was declared.
	Units []Unit `json:"units,omitempty"`
	// What the model leaves out; nil if the method does not count it.
	Undescribed *Undescribed `json:"undescribed,omitempty"`
}

// Undescribed is what a model leaves out: the share of the rows that it does not describe, as
// counted, with its noise.
type Undescribed struct {
	Share float64 `json:"share"` // Noisy, in [0, 1].
	Noise float64 `json:"noise"` // Its standard deviation.
	Where string  `json:"where"` // Where these rows are, in short words.
	// Where they were counted column by column; a row may be counted in several.
	Columns []UndescribedColumn `json:"columns,omitempty"`
}

// An UndescribedColumn is the rows that a model leaves out because of one column.
type UndescribedColumn struct {
	Column string  `json:"column"`
	Share  float64 `json:"share"`
	Noise  float64 `json:"noise"`
	// Below the first or above the second, in the column's own units; nil if not known. A side
	// without a bound has that of float64.
	Beyond []float64 `json:"beyond,omitempty"`
	// By how much of the column's standard deviation these rows would move its mean or its standard
	// deviation; 0 if not known.
	Pull float64 `json:"pull,omitempty"`
}

// A Flag is one thing to know about the model or a component; columns have their names: see
// [flags.Flag].
type Flag = flags.Flag[string]

// A ComponentNote says how far one component of the model can be trusted.
type ComponentNote struct {
	// Spectral norm of the noise in its second moment, relative to its covariance.
	EffectiveNoise float64 `json:"effective_noise,omitempty"`
	// How far released values say that its rows are from its shape beyond the noise, on the same
	// scale; 0 where nothing is known.
	Misfit        float64 `json:"misfit,omitempty"`
	EffectiveRows float64 `json:"effective_rows,omitempty"` // Noisy number of rows behind it.
	// The standard deviation of the noise in each of its probabilities of categories, before they
	// were made to sum to 1; 0 without categories.
	CategoryNoise float64 `json:"category_noise,omitempty"`
	Flags         []Flag  `json:"flags,omitempty"`
}

// A Unit is the unit that released counts say a column is recorded in: its values are Offset plus
// multiples of Unit.
type Unit struct {
	Column string  `json:"column"`
	Unit   float64 `json:"unit"` // 0: any value.
	Offset float64 `json:"offset,omitempty"`
}

// A Direction is one in which the model's spread is an upper limit and not an estimate.
type Direction struct {
	// Unit vector a, d long: the combination a.x of a row in the columns' own units.
	Direction []float64 `json:"direction"`
	// The standard deviation of that combination is at most this.
	StdAtMost float64 `json:"std_at_most"`
}

// The values of Certificate.Relation and Certificate.Schema.
const (
	ReplaceOne     = "replace-one"
	AddRemoveOne   = "add-remove-one"
	SchemaDeclared = "declared"
	SchemaInferred = "inferred"
)
