package privacy

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

// Filter counts the loss of a run: it accepts steps whose mu^2 add up to at most the cap, and
// refuses all others.
//
// Theorem. Let every step, given the answers before it, be mu_i-GDP, where the step, its mu_i and
// whether to go on may depend on earlier answers in any way (not on rows). If sum mu_i^2 <= mu^2 on
// every path, the whole transcript is mu-GDP.
//
// Proof: filter_proof.md, steps 1 to 4.
//
// So stopping early, retrying, and spending exactly what is left are all free. The theorem fails
// for general trade-off functions: only mu^2 goes through a Filter. In a plan with an Extra curve
// the same cap bounds the Gaussian part's Rényi divergence by alpha mu^2/2 at every order,
// adaptively too ([FZ21]).
//
// Under a pure budget the same account adds up epsilons: if every step, given the answers before
// it, is epsilon_i-DP, the probability of any transcript is a product of factors of which each
// changes by at most e^epsilon_i from one neighbour to the other, so that the transcript is
// epsilon-DP if sum epsilon_i <= epsilon on every path (filter_proof.md, step 5).
//
// The delta of stability thresholds is a second account: reserved as a whole by [Calibrate], drawn
// from, never refunded.
//
// A Filter may be used by several goroutines. Its zero value refuses everything. It must not be
// copied.
//
// Source: [ST22] (fully adaptive GDP filter); [KTH23] (by a supermartingale). Differs: proof by
// embedding in B.
type Filter struct {
	gauss     account[Mu2]
	pure      account[Epsilon] // under a pure budget, whose cap of mu^2 is 0
	threshold account[float64] // the delta of thresholds
}

// A Mu2 is the square of a mu, or a sum of such squares; an Epsilon is that of a pure step, or a
// sum of such epsilons. Both add up, in separate accounts; the types keep a number of one from
// being counted as one of the other.
type (
	Mu2     float64
	Epsilon float64
)

// ErrInvalidLoss is wrapped by the error for a loss that is negative, NaN or infinite.
var ErrInvalidLoss = errors.New("privacy: invalid loss")

// OverspendError says that a step asked for more than is left. Nothing was spent.
type OverspendError struct {
	Account   string  // "mu2", "epsilon" or "threshold delta"
	Requested float64 // by the step
	Left      float64 // rounded down
}

func (e *OverspendError) Error() string {
	return fmt.Sprintf("%s: wanted at most %g, which is what is left, got %g; plan fewer steps or smaller shares",
		e.Account, e.Left, e.Requested)
}

// NewFilter returns a filter that allows what c allows.
func NewFilter(c Calibration) *Filter {
	return &Filter{account[Mu2]{name: "mu2", cap: c.Cap}, account[Epsilon]{name: "epsilon", cap: c.PureCap},
		account[float64]{name: "threshold delta", cap: c.ThresholdDelta}}
}

// Spend takes mu2 = mu_i^2 from the cap, before the step is run. If that is more than is left it
// spends nothing and returns an *[OverspendError].
func (f *Filter) Spend(mu2 Mu2) error { return f.gauss.spend(mu2) }

// SpendPure takes epsilon_i of a pure step from a pure budget. It fails as Spend does.
func (f *Filter) SpendPure(epsilon Epsilon) error { return f.pure.spend(epsilon) }

// SpendThreshold takes, for one threshold, the part delta of the delta set aside for all of them.
// It fails as Spend does.
func (f *Filter) SpendThreshold(delta float64) error { return f.threshold.spend(delta) }

// Left returns the mu^2 that is left, rounded down, never negative. Spending exactly it succeeds.
func (f *Filter) Left() Mu2 { return f.gauss.left() }

// LeftPure returns the epsilon that is left of a pure budget, as Left does.
func (f *Filter) LeftPure() Epsilon { return f.pure.left() }

// Spent returns the mu^2, the epsilon and the threshold delta spent so far, rounded up, as
// [Calibration.Loss] takes them.
func (f *Filter) Spent() (mu2 Mu2, epsilon Epsilon, thresholdDelta float64) {
	return f.gauss.total(), f.pure.total(), f.threshold.total()
}

// account is a sum that never exceeds its cap. Invariant: 0 <= spent <= cap, and spent is at least
// the exact sum.
type account[U ~float64] struct {
	mu         sync.Mutex
	name       string
	cap, spent U
}

func (a *account[U]) spend(asked U) error {
	if !(asked >= 0) || math.IsInf(float64(asked), 1) {
		return fmt.Errorf("%w: %s: wanted a finite number ≥ 0, got %g", ErrInvalidLoss, a.name, asked)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := U(AddUp(float64(a.spent), float64(asked)))
	if !(sum <= a.cap) {
		return &OverspendError{a.name, float64(asked), math.Max(0, SubDown(float64(a.cap), float64(a.spent)))}
	}
	a.spent = sum
	return nil
}

// left rounds down, so that AddUp(spent, left) <= cap: all that is left can be spent.
func (a *account[U]) left() U { return U(math.Max(0, SubDown(float64(a.cap), float64(a.total())))) }

func (a *account[U]) total() U {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spent
}
