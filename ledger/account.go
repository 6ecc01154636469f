package ledger

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// An Amount is an epsilon at a delta.
type Amount struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// A state is the account of one data set after an entry.
type state struct {
	Granted  Amount `json:"granted"`
	Relation string `json:"relation,omitempty"` // of all its fits, that of the first
	Unit     string `json:"unit,omitempty"`     // whose rows are protected, "" where a row is one
	// CurveFirst: the first fit had a Rényi curve, which decides how delta is shared out.
	CurveFirst bool `json:"curve_first,omitempty"`
	Fits       int  `json:"fits"` // that count, those that have not ended included
	Open       int  `json:"open"` // that have not ended
	Releases   int  `json:"releases"`
	Rho        int  `json:"rho,omitempty"` // fits asked as zCDP, which are in no sum of epsilons
	Sum        Cost `json:"sum"`
}

// shares say how the delta of a grant is shared out, so that what a fit asks may depend on what
// others have released (ledger_proof.md, steps 6 to 8). They sum to 1.
type shares struct {
	added float64 // of closeness that counts as it stands
	slack float64 // of total variation
	gauss float64 // of accounts in Gaussian DP alone
	curve float64 // of each of the orders of accounts with curves
}

// How delta is shared out where the first fit had no Rényi curve, and where it had one. Guesses: at
// (1, 1e-6) an account of Gaussian fits loses 5 % of mu^2 by not having all of it.
var (
	plainShares = shares{added: .20, slack: .05, gauss: .60, curve: .05}
	curveShares = shares{added: .35, slack: .05, gauss: .06, curve: .18}
)

// curveOrders is how many orders an account with curves may end in.
const curveOrders = 3

func (s state) shares() shares {
	if s.CurveFirst {
		return curveShares
	}
	return plainShares
}

// full says why what the account holds, Sum, is more than was granted; "" if it is not.
//
// One fit alone is within what it was calibrated to; more have to stay, on every path, within caps
// that the grant and the first fit have fixed.
func (s state) full() string {
	granted := s.Granted
	if granted == (Amount{}) {
		return "nothing was granted"
	}
	if s.Fits <= 1 && (s.Rho == 0 && s.Sum.Epsilon <= granted.Epsilon && s.Sum.Delta <= granted.Delta || s.Sum.holds(granted.Epsilon, granted.Delta)) {
		return ""
	}
	share := s.shares()
	part := func(share float64) float64 { return privacy.MulDown(share, granted.Delta) }
	if s.Sum.Added > part(share.added) {
		return fmt.Sprintf("the thresholds and tests of all fits together need %.3g of the granted delta = %.3g, and at most %.3g is set aside for them", s.Sum.Added, granted.Delta, part(share.added))
	}
	if slack := s.Sum.slackDelta(granted.Epsilon); slack > part(share.slack) {
		return fmt.Sprintf("the truncated noise of all fits together needs %.3g of the granted delta = %.3g, and at most %.3g is set aside for it", slack, granted.Delta, part(share.slack))
	}
	needs := math.Inf(1)
	if s.Sum.Renyi == nil {
		mu := privacy.SqrtUp(s.Sum.Mu2)
		if privacy.DeltaOfMu(granted.Epsilon, mu) <= part(share.gauss) {
			return ""
		}
		needs = privacy.EpsilonOfMu(part(share.gauss), mu)
	} else {
		for _, i := range bestOrders(granted.Epsilon, part(share.curve)) {
			needs = math.Min(needs, s.Sum.atOrder(i, part(share.curve)))
		}
		if needs <= granted.Epsilon {
			return ""
		}
	}
	return fmt.Sprintf("all fits together need epsilon = %.4g at delta = %.4g, and epsilon = %.4g is granted", needs, granted.Delta, granted.Epsilon)
}

// bestOrders are the orders, by index, at which epsilon and delta allow the largest mu: the best
// and those beside it. They depend on the grant alone.
func bestOrders(epsilon, delta float64) []int {
	best, room := 0, math.Inf(-1)
	for i, a := range orders {
		// the mu^2 with which the Gaussian divergence a mu^2/2 implies epsilon
		if mu2 := 2 * (epsilon - privacy.EpsilonAt(a-1, 0, -math.Log(delta))) / a; mu2 > room {
			best, room = i, mu2
		}
	}
	first := min(max(best-1, 0), len(orders)-curveOrders)
	return []int{first, first + 1, first + 2}
}

// take adds a fit, or says why it does not belong to the account.
func (s state) take(t Terms, cost Cost) (state, error) {
	if s.Fits == 0 {
		s.Relation, s.Unit, s.CurveFirst, s.Sum, s.Rho = t.Relation, t.Unit, cost.Renyi != nil, Cost{}, 0
	}
	cost, err := s.converted(t, cost)
	if err != nil {
		return s, err
	}
	s.Sum = s.Sum.plus(cost)
	s.Fits++
	if t.Epsilon == 0 {
		s.Rho++
	}
	return s, nil
}

// converted is a fit's cost in the account's relation; fits that protect other units are refused.
func (s state) converted(t Terms, cost Cost) (Cost, error) {
	refuse := func(field, wanted, got, mend string) (Cost, error) {
		return cost, &privacy.FieldError{Field: field, Wanted: wanted, Got: got, Mend: mend}
	}
	if t.Unit != s.Unit {
		return refuse("unit", unitWords(s.Unit)+", as in all fits that are counted of this data set", unitWords(t.Unit),
			"what protects rows says nothing of persons, and of rows that change their person neither says anything of the other: count it as a data set of its own")
	}
	switch {
	case t.Relation == s.Relation:
		return cost, nil
	case s.Relation == privacy.ReplaceOne.String():
		if twice, ok := cost.underReplaceOne(); ok {
			return twice, nil
		}
		return refuse("relation", "replace-one, as in the first fit of this data set", t.Relation, "a method without thresholds and masks would be counted at four times its mu^2")
	}
	return refuse("relation", "add-remove-one, as in all fits of this data set", t.Relation, "replace-one promises nothing of the number of rows")
}

func unitWords(unit string) string {
	if unit == "" {
		return "rows"
	}
	return fmt.Sprintf("persons by the column %q", unit)
}

// giveBack takes a fit out again.
func (s state) giveBack(t Terms, cost Cost) (state, error) {
	cost, err := s.converted(t, cost)
	if err != nil {
		return s, err
	}
	s.Fits--
	if t.Epsilon == 0 {
		s.Rho--
	}
	if s.Sum = s.Sum.minus(cost); s.Fits == 0 {
		s.Sum = Cost{}
	}
	return s, nil
}

// A Balance is an account for people and programs.
type Balance struct {
	Name     string   `json:"name"`
	Granted  Amount   `json:"granted"`
	Spent    Spending `json:"spent"`
	Left     Spending `json:"remaining"`
	Releases int      `json:"releases"`
	Fits     int      `json:"fits"`       // that count: released, without a release, or cut off
	Open     int      `json:"unfinished"` // running, or cut off
	Relation string   `json:"relation,omitempty"`
	Unit     string   `json:"unit,omitempty"`
}

// Spending is an epsilon at a delta, and the mu of what is counted in Gaussian DP.
type Spending struct {
	Amount
	Mu float64 `json:"mu"`
}

func (s state) balance(name string) Balance {
	b := Balance{Name: name, Granted: s.Granted, Releases: s.Releases, Fits: s.Fits, Open: s.Open, Relation: s.Relation, Unit: s.Unit}
	b.Spent = s.spent()
	if mu := s.mostMu(); mu > 0 {
		b.Left = Spending{Amount{math.Min(s.Granted.Epsilon, privacy.EpsilonOfMu(s.Granted.Delta, mu)), s.Granted.Delta}, mu}
	}
	if s.Fits == 0 {
		b.Left.Amount = s.Granted
	}
	return b
}

// spent is what the fits cost together, as an epsilon at the granted delta: at most the granted
// one, of an account that full lets through (ledger_proof.md, steps 8 and 9).
func (s state) spent() (out Spending) {
	if s.Fits == 0 {
		return out
	}
	out.Mu = privacy.SqrtUp(s.Sum.Mu2)
	out.Amount = Amount{s.Sum.epsilonAt(s.Granted.Delta), s.Granted.Delta}
	if s.Rho == 0 && s.Sum.Delta <= s.Granted.Delta {
		out.Epsilon = math.Min(out.Epsilon, s.Sum.Epsilon)
	}
	if out.Epsilon > s.Granted.Epsilon && s.full() == "" {
		out.Epsilon = s.Granted.Epsilon
	}
	out.Epsilon = math.Min(out.Epsilon, most) // never of an account that full lets through
	return out
}

// WhyNotAdd is why what is spent and what is left do not add up to what was granted.
const WhyNotAdd = "Epsilons do not add up: fits together cost less than the sum of theirs, and a part of the granted delta is set aside so that each fit may be chosen by what earlier ones released."

// mostMu is the largest mu of one more fit of Gaussian steps alone.
func (s state) mostMu() float64 {
	terms := Terms{Relation: s.Relation, Unit: s.Unit}
	return privacy.LargestWhere(func(mu float64) bool {
		next, err := s.take(terms, Cost{Mu2: privacy.MulUp(mu, mu)})
		return err == nil && next.full() == ""
	})
}
