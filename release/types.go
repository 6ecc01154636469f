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
	Model    *model.Mixture `json:"model,omitempty"`    // Required, except for a release of groups or a profile.
	// Table one, a line for each column; nil if it was not measured.
	Profile []ColumnProfile `json:"profile,omitempty"`
	// What is publicly known of the model's columns, in their order; nil if nothing.
	Columns     []Column    `json:"columns,omitempty"`
	Certificate Certificate `json:"certificate"`
	Diagnostics Diagnostics `json:"diagnostics"`
	// Instead of model and diagnostics, if every group has its own.
	Groups []Group `json:"groups,omitempty"`
}

// An Identity names the release for people; nothing in it comes from a row.
type Identity struct {
	// From the schema; empty if it does not say.
	Title   string `json:"title,omitempty"`
	Dataset string `json:"dataset,omitempty"`
	Created string `json:"created,omitempty"` // The day of the fit, in UTC: 2006-01-02.
	Program string `json:"program"`           // The program that wrote it, with its version and revision.
}

// A Column holds what is publicly known of one column, declared beforehand.
type Column struct {
	Name string `json:"name"` // Required: as in the model.
	// The unit in which it is recorded; 0 if not declared.
	RoundedTo float64 `json:"rounded_to,omitempty"`
	// The limits of a value; nil if not declared. A cell outside was treated as missing.
	AtLeast *float64 `json:"at_least,omitempty"`
	AtMost  *float64 `json:"at_most,omitempty"`
	// Its label for people, and the unit of its values ("kg"); empty if not declared.
	Label         string `json:"label,omitempty"`
	UnitOfMeasure string `json:"unit_of_measure,omitempty"`
	// The kind of its values: "number", "count", "yes-no" (1 and 0), "date" (days since 1970-01-01)
	// or "category"; empty if not declared.
	Kind string `json:"kind,omitempty"`
	// The values of a category, except for missing cells; "0" and "1" of a "yes-no" column that was
	// counted. Nil for numbers.
	Categories []string `json:"categories,omitempty"`
	// Find says that these values were found among the rows' texts, within the budget: "(other)"
	// stands for those that were too rare.
	Find bool `json:"find,omitempty"`
	// Codes that meant missing: float64 and strings; nil if none were declared.
	Missing []any `json:"missing,omitempty"`
}

// A Certificate states the request, the loss spent, and the measurements.
type Certificate struct {
	Relation string `json:"relation"` // Required: ReplaceOne or AddRemoveOne.
	// As requested. Zero, and left out of the JSON, only if the budget was requested as Rho alone.
	Epsilon float64 `json:"epsilon"`
	// As requested, in [0, 1). Zero if the budget was pure, or, left out, requested as Rho alone.
	Delta float64 `json:"delta"`
	Rho   float64 `json:"rho,omitempty"` // As requested, for a zCDP budget.
	Spent Spent   `json:"spent"`         // At most the request.
	// n; nil (null) where it is private, which is under AddRemoveOne.
	Rows *int `json:"rows"`
	// The column of the input whose values name persons. A row of the table is then one row of a
	// person, drawn in secret, and a person with all of its rows is protected. Empty where a row is
	// a person.
	Unit   string `json:"unit,omitempty"`
	Schema string `json:"schema"` // Required: SchemaDeclared or SchemaInferred.
	// The public facts of the request; nil if there were none.
	Facts *Facts `json:"facts,omitempty"`
	// Required: the estimator's name, for example "separated".
	Method string `json:"method"`
	// ConstantsPrinted if a paper's method ran on the constants that the paper prints,
	// ConstantsTournament if it chose by a tournament.
	Constants string `json:"constants,omitempty"`
	// The columns that define groups, if every group has a model.
	By []string `json:"by,omitempty"`
	// The learner on blocks of rows; nil for methods without blocks or with one learner only.
	Learner *Learner `json:"learner,omitempty"`
	// The rest of the request, from which the plan follows; nil in releases of earlier versions.
	Requested *Requested `json:"asked,omitempty"`
	Plan      []PlanStep `json:"plan"` // The measurements as run.
	// Whether the rows or the noise came from a seed: such a release protects nobody.
	Simulated bool   `json:"simulated"`
	Version   string `json:"version"` // Of the program that wrote it.
}

// Requested is the part of a fit's request that the certificate does not state elsewhere. With
// method, columns, rows, relation, facts, learner and budget the plan follows from it, so that a
// reader can make the plan again.
type Requested struct {
	// Plans is the edition of the plans that was used: releases of one edition with the same public
	// facts have the same plan.
	Plans int `json:"plans"`
	// Components is the requested number of components, and MaxComponents the largest number
	// allowed; 0 where that was left to the method.
	Components    int    `json:"components,omitempty"`
	MaxComponents int    `json:"max_components,omitempty"`
	Covariance    string `json:"covariance"` // "full", "diagonal" or "spherical".
}

// Facts are public bounds that a fit was given, in the units of the columns. They cost nothing, and
// privacy does not depend on them: if one is wrong, the estimate is wrong, and the promise holds.
//
// Invariant: at least one is given.
type Facts struct {
	// MeanWithin is the radius of a ball about the origin that holds the mean, 0 for a mean at the
	// origin; nil if not given.
	MeanWithin *float64 `json:"mean_within,omitempty"`
	// EigenvaluesWithin are a lower and an upper bound on the eigenvalues of the covariance; nil if
	// not given.
	EigenvaluesWithin []float64 `json:"eigenvalues_within,omitempty"`
	// Moments is the even order, at least 4, up to which moments are bounded as a Gaussian's are; 0
	// if not given.
	Moments int `json:"moments,omitempty"`
	// MomentBound bounds each moment of that order, as a multiple of the variance's power; 0 if not
	// given: as a Gaussian's.
	MomentBound float64 `json:"moment_bound,omitempty"`
	// LeastWeight is a lower bound on the components' weights; 0 if not given.
	LeastWeight float64 `json:"least_weight,omitempty"`
	// KnownCovariance is the covariance that every component has, d x d; nil if not given.
	KnownCovariance [][]float64 `json:"known_covariance,omitempty"`
}

// A Learner names what a method ran on every block of rows, without privacy: a public choice.
// Privacy does not depend on it, unless it is OwnLearner: whoever brought that one answers for what
// it did with the rows.
type Learner struct {
	Name string  `json:"name"`           // Required: OwnLearner for one that is not part of Gauze.
	Trim float64 `json:"trim,omitempty"` // The fraction of a block's rows that it left out, in [0, 1).
}

// ConstantsPrinted are a paper's constants as it prints them.
const ConstantsPrinted = "printed"

// ConstantsTournament are practical constants, with a choice by contests of all pairs of mixtures.
const ConstantsTournament = "tournament"

// OwnLearner is the name of a learner that the requester brought along.
const OwnLearner = "own"

// Spent is the cost of the measurements as run, in every unit in which it can be stated; units that
// do not apply are 0.
//
// The promise is the requested budget. A run that stopped early because of an answer spent less,
// but the smaller figure is a meter reading and not a promise by itself. The same holds for Mu and
// Rho of a pure budget, which limits only the sum of epsilons.
type Spent struct {
	// Zero, and left out of the JSON with Delta, if the budget was requested as Rho.
	Epsilon float64 `json:"epsilon"`
	// The sum of the conversion's delta at Epsilon and the thresholds' own delta.
	Delta float64 `json:"delta"`
	// Gaussian DP: Mu^2 = sum count mu^2 over the plan's steps except for those with a Rényi curve.
	Mu  float64 `json:"mu"`
	Rho float64 `json:"rho"` // zCDP: Mu^2/2 where no step has a Rényi curve, otherwise 0.
}

// A PlanStep is one kind of measurement of the plan, made Count times.
type PlanStep struct {
	// Required: its purpose, in the estimator's words.
	Step  string `json:"step"`
	Group int    `json:"group,omitempty"` // In a release of groups: from 1 on.
	Query string `json:"query"`           // Required: the kind of measurement.
	// The number of measurements, at least 1.
	Count int `json:"count"`
	// The numbers that determine Sensitivity, with Query and the relation. Left out when Renyi is
	// given, and nil in releases of versions before 0.1.
	Shape *check.Shape `json:"shape,omitempty"`
	// Of the noise: "" is the Gaussian; see muOf for the others.
	Law string `json:"law,omitempty"`
	// L2; L1 or that of a score for other laws. Left out of the JSON when Renyi is given.
	Sensitivity float64 `json:"sensitivity"`
	// Sigma, or the scale of the law. Left out of the JSON when Renyi is given.
	Noise float64 `json:"noise"`
	// Sensitivity/Noise, or the law's mu, of one measurement. Left out when Renyi is given.
	Mu float64 `json:"mu"`
	// The delta of a threshold or a test, of one measurement; 0 for none.
	Delta float64 `json:"delta"`
	// Order -> Rényi divergence (nats) of one measurement; infinite ones are left out.
	Renyi map[string]float64 `json:"renyi,omitempty"`
	// epsilon0 of a pure measurement with the curve Renyi; 0 for other measurements.
	Pure float64 `json:"pure,omitempty"`
	// The mask with the curve Renyi; nil for other measurements.
	Mask   *Mask  `json:"mask,omitempty"`
	Source string `json:"source,omitempty"` // "KEY Algorithm N".
}

// Diagnostics holds released values only: numbers that measurements of the plan returned, and
// numbers computed from them.
type Diagnostics struct {
	// In the order of the model's components.
	Components []ComponentNote `json:"components,omitempty"`
	Flags      []Flag          `json:"flags,omitempty"`
	// Combinations of columns without a measurable spread.
	Unresolved []Direction `json:"unresolved,omitempty"`
	// Columns whose released spread is zero.
	ConstantColumns []string `json:"constant_columns,omitempty"`
	Notes           []string `json:"notes,omitempty"`
	// Units in which columns seem to be recorded, though none was declared.
	Units []Unit `json:"units,omitempty"`
	// The rows that the model leaves out; nil if the method does not count them.
	Undescribed *Undescribed `json:"undescribed,omitempty"`
	// The rows without those far from all others, where the model of one Gaussian, which is of all
	// rows, differs from that.
	Core *Core `json:"core,omitempty"`
	// How sure the number of components is; nil if it was given, or the method does not say.
	Number *Number `json:"number,omitempty"`
}

// A Number is how many components were found, not counting background, and how sure that is.
type Number struct {
	Found int `json:"found"`
	// The part of fits at such noise, to clusters that lie apart, that are right: in [0, 1].
	Confidence float64 `json:"confidence"`
	Or         int     `json:"or"` // The likeliest number otherwise, at least 1.
}

// A Core is mean and covariance of the share of the rows that lies together, over the model's
// columns.
type Core struct {
	Share      float64     `json:"share"`
	Mean       []float64   `json:"mean"`
	Covariance [][]float64 `json:"covariance"`
}

// Undescribed is the share of the rows that a model does not describe, as counted, with its noise.
type Undescribed struct {
	Share float64 `json:"share"` // Noisy, in [0, 1].
	Noise float64 `json:"noise"` // Its standard deviation.
	Where string  `json:"where"` // The place of these rows, in a few words.
	// The same column by column, if so counted; a row may be counted in several.
	Columns []UndescribedColumn `json:"columns,omitempty"`
}

// An UndescribedColumn holds the rows that a model leaves out because of one column.
type UndescribedColumn struct {
	Column string  `json:"column"`
	Share  float64 `json:"share"`
	Noise  float64 `json:"noise"`
	// Below the first or above the second, in the column's own units; nil if not known. A side
	// without a bound has the limit of float64.
	Beyond []float64 `json:"beyond,omitempty"`
	// By how much of the column's standard deviation these rows would move its mean or its standard
	// deviation; 0 if not known.
	Pull float64 `json:"pull,omitempty"`
}

// A Flag is one thing to know about the model or a component, with columns by name: see
// [flags.Flag].
type Flag = flags.Flag[string]

// A ComponentNote says how far one component of the model can be trusted.
type ComponentNote struct {
	// Spectral norm of the noise in its second moment, relative to its covariance.
	EffectiveNoise float64 `json:"effective_noise,omitempty"`
	// How far released values show that its rows depart from its shape beyond the noise, on the
	// same scale; 0 where nothing is known.
	Misfit        float64 `json:"misfit,omitempty"`
	EffectiveRows float64 `json:"effective_rows,omitempty"` // Noisy number of rows behind it.
	// The standard deviation of the noise in each of its probabilities of categories, before they
	// were made to sum to 1; 0 without categories.
	CategoryNoise float64 `json:"category_noise,omitempty"`
	// The share of its rows that lack the cell of a column, by the column's name, with the standard
	// deviation of the noise; none where that was not measured.
	Missing      map[string]float64 `json:"missing,omitempty"`
	MissingNoise float64            `json:"missing_noise,omitempty"`
	Flags        []Flag             `json:"flags,omitempty"`
}

// A Unit is the unit in which released counts show a column to be recorded: its values are Offset
// plus multiples of Unit.
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
