package general

import (
	"github.com/gauze-dp/gauze/estimate/recursive"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// A Tuning is the constants of the method that tests and experiments may set, and the mechanisms
// that they may leave out. They affect utility only, and no request can set them.
type Tuning struct {
	// Enough is the strength of a sample that may be asked in place of all rows; +Inf: never.
	Enough  float64
	Without Without
}

// A Without says which mechanisms are left out, to see what each is worth: none of them in a fit
// that people ask for.
type Without struct {
	// Starts.
	ShortColumns bool // inColumns: in a short table the column that shows the clearest gap
	Apart        bool // level by level, where columns have clusters far apart
	BoxesFirst   bool // by boxes, where near and far are many octaves apart
	CoarseBoxes  bool // .. and where all that the first tree shows is narrower than its cells
	FullCells    bool // .. and where a cell of the tree in one frame holds what a component does
	WideRest     bool // one more component for the rows that are in none of those apart
	Small        bool // lines along which a short table shows several
	Glance       bool // .. before its rows are round
	Directions   bool // the tree and lines in directions in which rows are least like one Gaussian
	Extra        bool // more components than are asked for, in the first rounds

	// Rounds.
	SharedShape       bool // components from coarse cells share a covariance at first
	Faint             bool // few rows far off in some columns are like all others elsewhere
	NarrowFloor       bool // a lower floor of scales, where components have come down to it far apart
	Atoms             bool // components of their own for values that many rows share
	EarlyLines        bool // splits along lines before the rounds
	LateLines         bool // .. and after the first of them
	ColumnLines       bool // .. and along columns, of one component alone
	RenewedBackground bool // around what the components are in the end
	Rest              bool // rounds after the number of components is decided
	Settled           bool // rounds end early where no rows change hands

	// Decisions on the number of components.
	OneMethod    bool // one component alone is fitted by its own method
	Contest      bool // one component alone against all
	EarlyContest bool // .. after the first rounds
	Fewer        bool // the fewest that explain the rows about as well

	Shrink        bool // unreliable covariances are made wider, or drawn towards their diagonals
	GoodnessOfFit bool // a test of fit before the last round
	Means         bool // components keep to the measured means of the columns

	Rounds privateem.Without
	Finder recursive.Without
}

// Usual returns the constants that run.
func Usual() Tuning { return Tuning{Enough: sampleStrength} }

// With returns the estimator with constants of its own.
func (e Estimator) With(t Tuning) Estimator {
	e.Tuning = t
	return e
}
