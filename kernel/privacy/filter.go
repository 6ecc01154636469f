package privacy

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

// Filter is the meter of a run: it lets through steps whose mu^2 add up to at most the cap, and
// refuses all others.
//
// Theorem. Let every step, given the answers before it, be mu_i-GDP, where the step, its mu_i and
// whether to go on may depend on earlier answers in any way (not on rows). If sum mu_i^2 <= mu^2 on
// every path, the whole transcript is mu-GDP.
//
// Proof: filter_proof.md, steps 1 to 4.
//
// So stopping early, retrying, and spending at last exactly what is left are all free. The theorem
// fails for general trade-off functions: only mu^2 goes through a Filter. In a plan with an Extra
// curve the same cap bounds the Gaussian part's Rényi divergence by alpha mu^2/2 at every order,
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
type Filter struct{ gauss, threshold account } // of mu^2, and of the delta of thresholds

// ErrInvalidLoss is wrapped by the error for a loss that is negative, NaN or infinite.
var ErrInvalidLoss = errors.New("privacy: invalid loss")

// OverspendError says that a step asked for more than is left. Nothing was spent.
type OverspendError struct {
	Account string  // "mu2" or "threshold delta"
	Asked   float64 // by the step
	Left    float64 // rounded down
}

func (e *OverspendError) Error() string {
	return fmt.Sprintf("%s: wanted at most %g, which is what is left, got %g; plan fewer steps or smaller shares",
		e.Account, e.Left, e.Asked)
}

// NewFilter returns a filter that allows what c allows.
func NewFilter(c Calibration) *Filter {
	return &Filter{gauss: account{name: "mu2", cap: c.Cap}, threshold: account{name: "threshold delta", cap: c.ThresholdDelta}}
}

// Spend takes mu2 = mu_i^2 (of a pure budget: epsilon_i) from the cap, before the step is run. If
// that is more than is left it spends nothing and returns an *[OverspendError].
func (f *Filter) Spend(mu2 float64) error { return f.gauss.spend(mu2) }

// SpendThreshold takes, for one threshold, the part delta of the delta set aside for all of them.
// It fails as Spend does.
func (f *Filter) SpendThreshold(delta float64) error { return f.threshold.spend(delta) }

// Left returns the mu^2 that is left, rounded down, never negative. Spending exactly it succeeds.
func (f *Filter) Left() float64 { return f.gauss.left() }

// Spent returns the mu^2 and the threshold delta spent so far, rounded up, as [Calibration.Loss]
// takes them.
func (f *Filter) Spent() (mu2, thresholdDelta float64) { return f.gauss.total(), f.threshold.total() }

// account is a sum that never exceeds its cap. Invariant: 0 <= spent <= cap, and spent is at least
// the exact sum.
type account struct {
	mu         sync.Mutex
	name       string
	cap, spent float64
}

func (a *account) spend(asked float64) error {
	if !(asked >= 0) || math.IsInf(asked, 1) {
		return fmt.Errorf("%w: %s: wanted a finite number ≥ 0, got %g", ErrInvalidLoss, a.name, asked)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := AddUp(a.spent, asked)
	if !(sum <= a.cap) {
		return &OverspendError{a.name, asked, math.Max(0, SubDown(a.cap, a.spent))}
	}
	a.spent = sum
	return nil
}

// left rounds down, so that AddUp(spent, left) <= cap: what is left can always be spent.
func (a *account) left() float64 { return math.Max(0, SubDown(a.cap, a.total())) }

func (a *account) total() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spent
}
