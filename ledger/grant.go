package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// validate returns an error if the amount cannot be granted.
func (a Amount) validate() error {
	if !(a.Delta > 0) {
		return &privacy.FieldError{Field: "delta", Wanted: "a positive number", Got: fmt.Sprint(a.Delta), Fix: "an account of several fits needs one, for instance 1e-6; pure fits can be asked of it too"}
	}
	return privacy.Budget{Epsilon: a.Epsilon, Delta: a.Delta}.Validate()
}

// fewestRows stands for the number of rows where it is not known. A guess: nothing can be learned
// from fewer.
const fewestRows = 100

// Reasonable returns an error for a total, after a grant, that promises next to nothing: an epsilon
// above privacy.LargestEpsilon, or a delta of one over the number of rows or more; 0 if the number
// is not known. Callers who mean it pass force instead.
func (a Amount) Reasonable(rows int) error {
	var epsilon, delta error
	if a.Epsilon > privacy.LargestEpsilon {
		epsilon = &privacy.FieldError{Field: "epsilon", Wanted: fmt.Sprintf("a total of at most %d", privacy.LargestEpsilon), Got: fmt.Sprintf("%.4g in all", a.Epsilon),
			Fix: "a total of 1 to 5 is usual, and beyond 20 a row is hardly protected; force (--force) allows it all the same"}
	}
	n, which := rows, "the number of rows"
	if n <= 0 {
		n, which = fewestRows, "the fewest rows that a fit is made of"
	}
	if a.Delta*float64(n) >= 1 {
		delta = &privacy.FieldError{Field: "delta", Wanted: fmt.Sprintf("a total below 1/%d, one over %s", n, which), Got: fmt.Sprintf("%.4g in all", a.Delta),
			Fix: fmt.Sprintf("it would allow a whole row to be published; grant a far smaller one, for instance %.0e; force (--force) allows it all the same", .01/float64(n))}
	}
	return errors.Join(epsilon, delta)
}

// Grant adds to the budget of a data set, and creates the data set if it is new.
func (l *Ledger) Grant(ctx context.Context, dataset string, more Amount) (b Balance, err error) {
	err = l.Write(ctx, func(w *Tx) error {
		b, err = w.Grant(dataset, more)
		return err
	})
	return b, err
}

// Grant does what the ledger's Grant does, within the transaction.
func (w *Tx) Grant(dataset string, more Amount) (Balance, error) {
	if err := errors.Join(validName(dataset), more.validate()); err != nil {
		return Balance{}, err
	}
	before, err := w.account(dataset)
	if err != nil {
		return Balance{}, err
	}
	if before == nil {
		before = &state{Recounted: true}
	}
	return w.change(kindGrant, dataset, *before, more)
}

// Balance returns the account of a data set as it is within the transaction. If nothing was granted
// of it yet, all of it but the name is zero.
func (w *Tx) Balance(dataset string) (Balance, error) {
	now, err := w.account(dataset)
	if err != nil || now == nil {
		return Balance{Name: dataset}, err
	}
	return w.l.balance(entry{Dataset: dataset, After: *now}), nil
}

// Withdraw takes less from the unspent budget of a data set; if less is zero, all of it. It returns
// what it took and the account after it.
//
// Failures: *[RefusedError] if that much is not unspent; nothing is withdrawn then.
func (w *Tx) Withdraw(dataset string, less Amount) (took Amount, b Balance, err error) {
	before, err := w.account(dataset)
	if err == nil && before == nil {
		err = unknownDataset(dataset)
	}
	if err != nil {
		return took, b, err
	}
	if !(less.Epsilon >= 0 && less.Delta >= 0) {
		return took, b, &privacy.FieldError{Field: "epsilon, delta", Wanted: "what is withdrawn, neither below 0", Got: fmt.Sprintf("%v and %v", less.Epsilon, less.Delta), Fix: "leave both out to withdraw all that is unspent"}
	}
	free := before.unspent()
	if less == (Amount{}) {
		less = free
	}
	if less == (Amount{}) {
		return took, b, &RefusedError{Dataset: dataset, Why: "all that was granted is spent"}
	}
	if before.Fits == 0 && less.Epsilon == before.Granted.Epsilon {
		less = before.Granted
	}
	b, err = w.change(kindWithdraw, dataset, *before, less)
	if errors.As(err, new(*RefusedError)) {
		err = &RefusedError{Dataset: dataset, Why: fmt.Sprintf("so much is not unspent: of the granted epsilon = %.4g at delta = %.4g, epsilon = %.4g can be withdrawn at most", before.Granted.Epsilon, before.Granted.Delta, free.Epsilon)}
	}
	return less, b, err
}

// change appends an entry that changes the granted budget.
func (w *Tx) change(kind, dataset string, before state, by Amount) (Balance, error) {
	e := entry{Kind: kind, Dataset: dataset, Time: stamp(w.l.now()), Grant: &by}
	var err error
	if e.After, err = e.apply(before, nil); err != nil {
		return Balance{}, err
	}
	_, err = w.append(e)
	return w.l.balance(e), err
}

// more returns the account with a added to the grant, rounded down.
func (s state) more(a Amount) (state, error) {
	s.Granted = Amount{-privacy.AddUp(-s.Granted.Epsilon, -a.Epsilon), -privacy.AddUp(-s.Granted.Delta, -a.Delta)}
	if err := s.Granted.validate(); err != nil {
		return s, fmt.Errorf("with what was granted before, together: %w", err)
	}
	return s, nil
}

// less returns the account with a taken from the grant, rounded up so that what is spent stays
// within it; all of it may be taken before the first fit.
func (s state) less(dataset string, a Amount) (state, error) {
	if a == s.Granted && s.Fits == 0 {
		s.Granted = Amount{}
		return s, nil
	}
	s.Granted = Amount{privacy.AddUp(s.Granted.Epsilon, -a.Epsilon), privacy.AddUp(s.Granted.Delta, -a.Delta)}
	if s.Granted.validate() != nil {
		return s, &RefusedError{Dataset: dataset, Why: "less than nothing would be left"}
	}
	if s.Fits == 0 {
		return s, nil
	}
	return s, s.within(dataset, s)
}

// unspent returns what can be withdrawn. Before the first fit that is the whole grant; later it is
// the excess of epsilon over the least for which the account holds what is spent, at the granted
// delta. That least is rounded up to four digits.
func (s state) unspent() Amount {
	if s.Fits == 0 {
		return s.Granted
	}
	holds := func(epsilon float64) bool {
		less := s
		less.Granted.Epsilon = epsilon
		return epsilon >= privacy.MinEpsilon && epsilon <= s.Granted.Epsilon && less.full() == ""
	}
	least := s.Granted.Epsilon
	if holds(s.Sum.Epsilon) {
		least = s.Sum.Epsilon
	}
	low, high := 0.0, least
	for range 60 {
		if mid := (low + high) / 2; holds(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	for digits := 4; digits < 17; digits++ { // the fewest digits that hold: the account need not be monotone
		if e := roundedUp(high, digits); e < least && holds(e) {
			least = e
			break
		}
	}
	if least >= s.Granted.Epsilon*(1-1e-9) { // a rest of roundings is nothing
		return Amount{}
	}
	return Amount{Epsilon: privacy.SubDown(s.Granted.Epsilon, least)}
}

// roundedUp returns a number of at least x with this many digits, up to rounding.
func roundedUp(x float64, digits int) float64 {
	unit := math.Pow(10, math.Ceil(math.Log10(x))-float64(digits))
	y, err := strconv.ParseFloat(strconv.FormatFloat(math.Ceil(x/unit)*unit, 'e', digits, 64), 64)
	if err != nil {
		return x
	}
	return math.Max(x, y)
}
