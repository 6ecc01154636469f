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

// Cost is what the ledger counts for a fit: see package privacy.
type Cost = privacy.Cost

// A state is the account of one data set after an entry.
type state struct {
	Granted  Amount `json:"granted"`
	Relation string `json:"relation,omitempty"` // of all its fits: that of the first
	Unit     string `json:"unit,omitempty"`     // the column of the protected persons, "" where a row is one
	// CurveFirst says that the first fit had a Rényi curve, which decides how delta is divided.
	CurveFirst bool `json:"curve_first,omitempty"`
	Fits       int  `json:"fits"` // that count, those that have not ended included
	Open       int  `json:"open"` // that have not ended
	Releases   int  `json:"releases"`
	Rho        int  `json:"rho,omitempty"` // fits requested as zCDP, which are in no sum of epsilons
	Sum        Cost `json:"sum"`
	// Recounted says that fits of groups are also counted for rows that are replaced within their
	// group.
	Recounted bool `json:"recounted,omitempty"`
}

// account returns s in the form that package privacy composes.
func (s state) account() privacy.Account {
	return privacy.Account{Epsilon: s.Granted.Epsilon, Delta: s.Granted.Delta, CurveFirst: s.CurveFirst, Fits: s.Fits, Rho: s.Rho, Sum: s.Sum}
}

// full returns why the account holds more than was granted; "" if it does not.
func (s state) full() string { return s.account().Full() }

// take returns the account with a fit added, or an error if the fit does not belong to it.
func (s state) take(t Terms, cost Cost) (state, error) {
	if s.Fits == 0 {
		s.Relation, s.Unit, s.CurveFirst, s.Sum, s.Rho = t.Relation, t.Unit, cost.Renyi != nil, Cost{}, 0
	}
	cost, err := s.converted(t, cost)
	if err != nil {
		return s, err
	}
	s.Sum = s.Sum.Plus(cost)
	s.Fits++
	if t.Epsilon == 0 {
		s.Rho++
	}
	return s, nil
}

// converted returns a fit's cost in the account's relation, or an error if the fit protects another
// unit.
func (s state) converted(t Terms, cost Cost) (Cost, error) {
	refuse := func(field, wanted, got, fix string) (Cost, error) {
		return cost, &privacy.FieldError{Field: field, Wanted: wanted, Got: got, Fix: fix}
	}
	if t.Unit != s.Unit {
		return refuse("unit", unitWords(s.Unit)+", as in all fits that are counted of this data set", unitWords(t.Unit),
			"this table has several rows per person: protecting rows does not protect persons, and the two cannot be added up; use one unit in all fits, or count it as a data set of its own")
	}
	switch {
	case t.Relation == s.Relation:
		return cost, nil
	case s.Relation == privacy.ReplaceOne.String():
		if twice, ok := cost.UnderReplaceOne(); ok {
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

// giveBack returns the account without the fit.
func (s state) giveBack(t Terms, cost Cost) (state, error) {
	cost, err := s.converted(t, cost)
	if err != nil {
		return s, err
	}
	s.Fits--
	if t.Epsilon == 0 {
		s.Rho--
	}
	if s.Sum = s.Sum.Minus(cost); s.Fits == 0 {
		s.Sum = Cost{}
	}
	return s, nil
}

// A Balance is the account as people and programs see it.
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

// Spending is an epsilon at a delta, and the mu of the part counted in Gaussian DP.
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

// spent returns what the fits cost together, as an epsilon at the granted delta: at most the
// granted one, if full lets the account through.
func (s state) spent() (out Spending) {
	if s.Fits > 0 {
		out.Mu = privacy.SqrtUp(s.Sum.Mu2)
	}
	out.Epsilon, out.Delta = s.account().Spent()
	return out
}

// WhyNotAdd explains why spent and left do not add up to granted.
const WhyNotAdd = "Epsilons do not add up: fits together cost less than the sum of theirs, and a part of the granted delta is set aside so that each fit may be chosen by what earlier ones released."

// mostMu returns the largest mu of one more fit, if all its steps are Gaussian.
func (s state) mostMu() float64 {
	terms := Terms{Relation: s.Relation, Unit: s.Unit}
	return privacy.LargestWhere(func(mu float64) bool {
		next, err := s.take(terms, Cost{Mu2: privacy.MulUp(mu, mu)})
		return err == nil && next.full() == ""
	})
}
