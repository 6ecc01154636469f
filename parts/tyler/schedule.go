package tyler

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// Constants of the schedule. They decide how much is spent where, and none of them touches privacy.
// As [TYLERPRESS] Section 4.2 has them, or guesses.
const (
	maxSteps = 400
	// certainSDs: the certificate is a least eigenvalue this many noise sds above zero. Chosen on
	// Gaussian rows in 5 and 20 columns, where 4 lose fits at a condition number of 1e12.
	certainSDs = 3
	// A certificate's noise leaves a spectrum of ones certainPart of the way down to that.
	certainPart = .85
	// While k of D eigenvalues are distinguished from zero, these k are about D/(k+1) each, and a
	// step's noise may be farShareOfTop of that, at most farMost: cheap steps as long as few
	// directions hold all the rows.
	farShareOfTop, farMost = .8, 2
	// polish is the part of what is left that buys the last step, polishLow + polishRise d up to
	// polishMost: it makes the frame as good as the last release needs, and is used by it; in few
	// dimensions the scale, which only the last release measures, matters more.
	polishLow, polishRise, polishMost = .25, .025, .8
	polishAlone                       = .05 // of a single column
	// nearlyRound times the noise above 1 an eigenvalue is at most where a step may be the last. A
	// guess.
	nearlyRound = 1.5
)

// A Rounder is what makes rows round and what it knows of them. All fields are public or released.
type Rounder struct {
	SubBudget *kernel.SubBudget
	Prefix    string // of the step's name
	// Rows prices the steps: good rows, n or a noisy count.
	Rows float64
	Good *component.RowCount // what the steps see of good rows is added
	// Unit is the scale that relativeFloor refers to: 1 where the columns have units that were
	// found, 0 (unknown) in raw ones.
	Unit float64

	// Polish, if set, looks at the rows in a state that is round, and says whether the last step is
	// worth its price.
	Polish func(*State) (bool, error)

	pre     *kernel.SubBudget // the part of the sub-budget that the steps may spend
	history []measurement     // of the last Round
}

// Step is the step of Round, for two rounds.
var Step = parts.Step{Name: "directions", Query: query.Directions{}.Kind(), Share: 1, Most: 2*maxSteps + 2, Source: "TYLERPRESS Section 4"}

// Round repeats steps of t_nu from start on until the certificate holds (ok), or the part of what
// is left runs out. It hands back what it did not spend. All later choices use released values
// only, so that retries and early ends cost nothing beyond the filter. start is not changed; the
// state that is returned is that of the last step even if the certificate does not hold.
//
// The certificate: a direction that the rows do not fill shows an eigenvalue of at most noise, of
// sd noise/sqrt(2D); the least eigenvalue of all is above certainSDs of these by chance with
// probability below 1.4e-3. And none is larger than noise makes ones.
//
// Source: [TYLERPRESS] Section 4.2. Differs: three sds in place of four. Finer certificates cost
// more fits, of the last rows that do, than false ones.
func (r *Rounder) Round(start *State, nu, part float64) (st *State, ok bool, err error) {
	st = start.clone()
	st.Nu = nu
	r.pre = r.SubBudget.Take(part * r.SubBudget.Left())
	defer func() { r.SubBudget.Return(r.pre) }()
	r.history = nil
	resolved, polished := 1, false
	for range maxSteps {
		d := st.Rank()
		certain := certainLevel(d)
		level := math.Max(certain, farLevel(d, resolved))
		mu := r.stepMu(d, nu, level)
		if mu > r.pre.LeftMu() {
			return st, false, nil
		}
		l, err := r.step(st, mu)
		if err != nil || l.lost {
			return st, false, err
		}
		if certified := level == certain && l.certified(d, certain); certified || level == certain && l.nearly(d) && !polished {
			if r.Polish != nil {
				if worth, err := r.Polish(st); err != nil || !worth {
					return st, err == nil, err
				}
			}
			polish, done, err := r.polish(st, certain)
			if certified || err != nil || polish.lost {
				return st, err == nil && !polish.lost, err
			}
			if polished = done; done {
				if l = polish; l.certified(d, certain) {
					return st, true, nil
				}
			}
		}
		sd := l.noise / math.Sqrt(2*float64(d+1))
		resolved = l.resolved
		switch narrow := st.narrow(r.Unit); {
		case narrow == 0:
		case level > certain: // too coarse to call a direction empty: look again
			resolved = d + 1
		case l.least < certainSDs*sd:
			if !st.drop(narrow, r.Unit) {
				return st, false, nil
			}
			resolved = min(resolved, st.Rank()+1)
		}
	}
	return st, false, nil
}

// Coarse makes so many of the cheapest steps of t_1 from start on, after which a centre is known,
// and the few directions that hold most of the spread. ok is false if the rows are too few for it.
func (r *Rounder) Coarse(start *State, steps int) (st *State, ok bool, err error) {
	st = start.clone()
	st.Nu, r.pre = 1, r.SubBudget
	for range steps {
		mu := r.stepMu(st.Rank(), st.Nu, farMost)
		if mu > r.pre.LeftMu() {
			return st, false, nil
		}
		if l, err := r.step(st, mu); err != nil || l.lost {
			return st, false, err
		}
	}
	return st, true, nil
}

// certainLevel returns the largest noise level at which the certificate can hold: what the edge of
// the noise leaves of 1 is still certainSDs above zero.
func certainLevel(d int) float64 { return certainPart / (1 + certainSDs/math.Sqrt(2*float64(d+1))) }

// farLevel returns the noise level of a step when that many of the d+1 eigenvalues were
// distinguished from zero; 0 if all were.
func farLevel(d, resolved int) float64 {
	if resolved > d {
		return 0
	}
	return math.Min(farMost, farShareOfTop*float64(d+1)/float64(resolved+1))
}

// polish makes the last step as good as what is left allows, unless it would be worse than a
// certificate's.
func (r *Rounder) polish(st *State, certain float64) (l look, done bool, err error) {
	d := st.Rank()
	part := math.Min(polishMost, polishLow+polishRise*float64(d))
	if d == 1 { // there is nothing but the scale
		part = polishAlone
	}
	mu := math.Min(math.Sqrt(part*(r.SubBudget.Left()+r.pre.Left())), r.pre.LeftMu())
	if r.stepMu(d, st.Nu, certain) > mu {
		return look{}, false, nil
	}
	l, err = r.step(st, mu)
	return l, true, err
}

// certified reports that no direction of the d coordinates looked empty, and none larger than noise
// of that level makes ones.
func (l look) certified(d int, level float64) bool {
	sds := certainSDs / math.Sqrt(2*float64(d+1))
	return l.least > sds*l.noise && l.top < 1+level*(1+sds)
}

// nearly reports that the rows looked so round that a good step makes them round.
func (l look) nearly(d int) bool {
	return l.resolved > d && l.least > 0 && l.top < 1+nearlyRound*l.noise
}

const (
	// relativeFloor: a direction narrower than this, in column scales, has no spread.
	relativeFloor = 1e-9
	// lostColumn: a single column that has become this narrow in the unit that location and scale
	// gave it has the wrong unit.
	lostColumn = 1e-6
)

// narrow counts the directions in which the released state is narrower than relativeFloor.
func (s *State) narrow(unit float64) int {
	var svd mat.SVD
	if !svd.Factorize(s.Wi, mat.SVDNone) {
		return 0
	}
	std := svd.Values(nil) // decreasing
	limit := relativeFloor * unit
	if unit == 0 {
		limit = relativeFloor * math.Max(1, std[len(std)/2])
	}
	return len(std) - sort.Search(len(std), func(i int) bool { return std[i] < limit })
}

// drop takes the count narrowest directions out of the state: the covariance has exact rank r, the
// mean stays where it is in the others. It reports false if nothing is left, or a column's unit was
// wrong.
//
// Source: [TYLERPRESS] Section 4.4. Differs: columns in the wrong unit are told apart from
// directions without spread; a direction is empty only if a step as fine as a certificate's sees
// nothing there.
func (s *State) drop(count int, unit float64) bool {
	var svd mat.SVD
	if !svd.Factorize(s.Wi, mat.SVDThin) {
		return false
	}
	std := svd.Values(nil)
	keep := len(std) - count
	if keep == 0 || s.narrowestColumn() < lostColumn*unit {
		return false
	}
	var u mat.Dense
	svd.UTo(&u)
	d := len(s.M)
	s.W, s.Wi = mat.NewDense(keep, d, nil), mat.NewDense(d, keep, nil)
	for i, v := range std {
		if i >= keep {
			s.empty = append(s.empty, direction{mat.Col(nil, i, &u), v})
			continue
		}
		for j := range d {
			s.Wi.Set(j, i, u.At(j, i)*v)
			s.W.Set(i, j, u.At(j, i)/v)
		}
	}
	return true
}

// narrowestColumn returns the least spread of a single column, in its scale.
func (s *State) narrowestColumn() float64 {
	least := math.Inf(1)
	for j := range s.M {
		least = math.Min(least, floats.Norm(s.Wi.RawRowView(j), 2))
	}
	return least
}
