package paper

import (
	"fmt"
	"math"
)

// A Cost is what a choice among mixtures takes before and while it reads the rows.
type Cost struct {
	Mixtures float64
	Sets     float64 // every row is counted in each
	Masses   float64 // numbers in memory: of every Gaussian in every set
	Compared float64 // differences of a count and a prediction
}

// CostOf returns that of a form for so many mixtures of so many Gaussians: AllPairs compares every
// mixture on every set, M^3/2 of them, a Tournament only on those of its own contests, M^2.
func CostOf(form Form, gaussians int, mixtures float64) Cost {
	c := Cost{Mixtures: mixtures, Sets: mixtures * (mixtures - 1) / 2}
	if form == anchored || form == Quick && mixtures > mostReference {
		c.Sets = mostAnchors * (mostAnchors - 1) / 2
	}
	c.Masses, c.Compared = float64(gaussians)*c.Sets, mixtures*c.Sets
	if form == Tournament {
		c.Compared = 2 * c.Sets
	}
	return c
}

// The most that a form that is printed may take: a GB of masses (a guess), and mixtures times sets
// as kernel/query/papers has it.
const (
	mostPairMasses = 1 << 27
	mostPairs      = 1 << 29
)

// Runs reports that there is memory and time for it: for at most 1024 mixtures.
func (c Cost) Runs() bool { return c.Masses <= mostPairMasses && c.Mixtures*c.Sets <= mostPairs }

func (c Cost) String() string {
	return fmt.Sprintf("%.3g sets for %.3g mixtures, with %.2g masses and %.2g comparisons", c.Sets, c.Mixtures, c.Masses, c.Compared)
}

// bound returns what Choose's form AllPairs promises beyond 3 OPT, with probability 1 - 2 beta, for
// n rows and a list of so many mixtures whose masses are exact:
//
//	TV(f, chosen) <= 3 OPT + 2 t + 2 ln(M/beta)/(epsilon n) + 2/n,   t = sqrt(ln(M^2/beta)/(2n)),
//
// OPT the least total variation from the truth f to a mixture of the list.
//
// Source: [AAL21] Lemma 3.1.
func bound(n float64, mixtures int, epsilon, beta float64) float64 {
	m := float64(mixtures)
	return 2*math.Sqrt(math.Log(m*m/beta)/(2*n)) + 2*math.Log(m/beta)/(epsilon*n) + 2/n
}

// SelectionRows returns the number of rows from which bound is at most alpha (but for its last
// term): 8 ln(M^2/beta)/alpha^2 + 4 ln(M/beta)/(alpha epsilon).
//
// Source: [AAL21] Lemma 3.1.
func SelectionRows(alpha, beta, epsilon, mixtures float64) float64 {
	return 8*math.Log(mixtures*mixtures/beta)/(alpha*alpha) + 4*math.Log(mixtures/beta)/(alpha*epsilon)
}

// zeta is the slack of a contest, and what a Tournament loses beyond three times the best.
const zeta = 1

// margins returns what a contest is a draw by, and what a winner must have beyond the loser's
// share.
//
// Source: [BSKW19] Algorithm 1. Differs: zeta is 1.
func margins(alpha float64) (draw, margin float64) {
	return math.Min(1, (2+zeta)*alpha), math.Min(1, (1+zeta/2.)*alpha)
}

// TournamentRows returns the number of rows from which a Tournament of accuracy alpha, of a list of
// which some mixture is within alpha of the truth, chooses one within (3+zeta) alpha of it with
// probability 1 - 2 beta: 8 ln(2M/beta)/(zeta alpha)^2 + 8 ln(M/beta)/(zeta alpha epsilon) rows.
//
// Let h* be the one within alpha. With probability 1 - beta the share of the rows in each of the M
// sets of its contests is within zeta alpha/4 of its mass (Hoeffding). A contest of h* that is no
// draw is then won by h* by more than zeta alpha/4 of the rows, so its score is at least n zeta
// alpha/4; and a mixture farther than (3+zeta) alpha from the truth is farther than (2+zeta) alpha
// from h*, so that their contest is no draw, and has at most its own margin: its score is 0. The
// exponential mechanism is off by less than 2 ln(M/beta)/epsilon with probability 1 - beta.
//
// Source: [AMN24] Theorem D.2; [BSKW19] Algorithm 2 (constants derived above).
func TournamentRows(alpha, beta, epsilon, mixtures float64) float64 {
	return 8*math.Log(2*mixtures/beta)/(zeta*zeta*alpha*alpha) + 8*math.Log(mixtures/beta)/(zeta*alpha*epsilon)
}
