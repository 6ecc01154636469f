package knowncov

// A Tuning is the constants of the method. They affect utility only; tests and experiments may set
// them, and no request can. Guesses.
type Tuning struct {
	// The part of the total mu^2 of all histograms of boxes where there is one coordinate, since
	// little else needs budget, and how much less it is from eight coordinates on, where the means
	// do.
	Boxes, FewerBoxes float64
	// The side of a box in sds: with more coordinates boxes grow, so that a component still has a
	// box that holds much of it.
	LeastSide, SidePerCoordinate float64
	// A look reaches the root of d and Reach sds from a mean, and Uncertainties times what is not
	// known of the mean in each coordinate.
	Reach, Uncertainties float64
	// MinGain is the least improvement of the misfit by a component, plus GainPerNumber for each of
	// its 1 + d numbers.
	MinGain, GainPerNumber float64
	// A second moment that exceeds the expected one by Striking times its uncertainty is a reason
	// to try two components. Two that it does not tell from one start at least HalfApart from
	// their middle.
	Striking, HalfApart float64
	// A component farther than Apart sds from all others, beyond ApartUncertainties times what is
	// not known of their means, is not tried to be left out.
	Apart, ApartUncertainties float64
	// A component with fewer rows than DroppedSDs of their sds is dropped.
	DroppedSDs float64
	// MostSwaps splits are tried in exchange for a component after each look: where the known
	// covariance is too narrow, all frames are striking for ever.
	MostSwaps int
	// MostTried components, those of the least clear numbers of rows, are tried to be left out.
	MostTried int
}

// Usual returns the constants that run.
func Usual() Tuning {
	return Tuning{Boxes: .34, FewerBoxes: .12, LeastSide: 4, SidePerCoordinate: 1.1, Reach: 1.3, Uncertainties: 1.5,
		MinGain: 6, GainPerNumber: 3, Striking: 1, HalfApart: .7, Apart: 4, ApartUncertainties: 2, DroppedSDs: 3, MostSwaps: 3, MostTried: 5}
}

// With returns the estimator with constants of its own.
func (e Estimator) With(t Tuning) Estimator {
	e.tuning = t
	return e
}
