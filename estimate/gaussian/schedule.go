package gaussian

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
)

// Constants of the schedule. They decide how much is spent where, and none of them touches privacy.
const (
	firstPassPart  = .85 // of what is left, for the first preconditioner
	secondPassPart = .5  // of what is left then, for the t_nu preconditioner
	maxSteps       = 400
	// certainSDs: the certificate is a least eigenvalue this many noise sds above zero.
	certainSDs = 4
	// A certificate's noise leaves a spectrum of ones certainPart of the way down to that.
	certainPart = .85
	// While k of D eigenvalues are told from zero, these k are about D/(k+1) each, and a step's
	// noise may be farShareOfTop of that, at most farMost: cheap steps as long as few directions
	// hold all the rows.
	farShareOfTop, farMost = .8, 2
	// polish is the part of what is left that buys the last step, polishLow + polishRise d up to
	// polishMost: it makes the frame as good as the last release needs, and is used by it; in few
	// dimensions the scale, which only the last release sees, is worth more.
	polishLow, polishRise, polishMost = .25, .025, .5
	polishAlone                       = .05 // of a single column
)

// precondition repeats steps until the certificate holds (ok), or the part of what is left runs
// out. It hands back what it did not spend. All later choices use released values only, so that
// retries and early ends cost nothing beyond the filter.
//
// The certificate: a direction that the rows do not fill shows an eigenvalue of at most noise, of
// sd noise/sqrt(2D); the least eigenvalue of all is above certainSDs of these by chance with
// probability below 4e-5. And none is larger than noise makes ones.
//
// Source: [TYLERPRESS] Section 4.2.
func (r *run) precondition(st *state, nu, part float64) (result *state, ok bool, err error) {
	st.nu = nu
	r.pre = r.a.Take(part * r.a.Left())
	defer func() { r.a.Return(r.pre) }()
	r.last, r.history = st, nil
	resolved := 1
	for range maxSteps {
		d := st.rank()
		certain := certainLevel(d)
		level := math.Max(certain, farLevel(d, resolved))
		mu := r.stepMu(d, nu, level)
		if mu > r.pre.LeftMu() {
			return st, false, nil
		}
		l, err := r.step(st, nu, mu)
		if err != nil || l.lost {
			return st, false, err
		}
		sd := l.noise / math.Sqrt(2*float64(d+1))
		if level == certain && l.least > certainSDs*sd && l.top < 1+l.noise+certainSDs*sd {
			return r.polish(st, nu, certain)
		}
		resolved = l.resolved
		switch narrow := st.narrow(r.floorUnit()); {
		case narrow == 0:
		case level > certain: // too coarse to call a direction empty: look again
			resolved = d + 1
		case l.least < certainSDs*sd:
			if !st.drop(narrow, r.floorUnit()) {
				return st, false, nil
			}
			resolved = min(resolved, st.rank()+1)
		}
	}
	return st, false, nil
}

// certainLevel is the largest noise level at which the certificate can hold: what the edge of the
// noise leaves of 1 is still certainSDs above zero.
func certainLevel(d int) float64 { return certainPart / (1 + certainSDs/math.Sqrt(2*float64(d+1))) }

// farLevel is the noise level of a step when so many of the d+1 eigenvalues were told from zero; 0
// if all were.
func farLevel(d, resolved int) float64 {
	if resolved > d {
		return 0
	}
	return math.Min(farMost, farShareOfTop*float64(d+1)/float64(resolved+1))
}

// polish makes the last step as good as what is left allows, unless it would be worse than a
// certificate's.
func (r *run) polish(st *state, nu, certain float64) (result *state, ok bool, err error) {
	d := st.rank()
	part := math.Min(polishMost, polishLow+polishRise*float64(d))
	if d == 1 { // there is nothing but the scale
		part = polishAlone
	}
	mu := math.Min(math.Sqrt(part*(r.a.Left()+r.pre.Left())), r.pre.LeftMu())
	if r.stepMu(d, nu, certain) > mu {
		return st, true, nil
	}
	l, err := r.step(st, nu, mu)
	return st, err == nil && !l.lost, err
}

const (
	// relativeFloor: a direction narrower than this, in column scales, has no spread.
	relativeFloor = 1e-9
	// lostColumn: a single column that has become this narrow in the unit that stage 0 gave it has
	// the wrong unit.
	lostColumn = 1e-6
)

// narrow counts the directions in which the released state is narrower than relativeFloor.
func (s *state) narrow(unit float64) int {
	var svd mat.SVD
	if !svd.Factorize(s.wi, mat.SVDNone) {
		return 0
	}
	std := svd.Values(nil) // decreasing
	limit := relativeFloor * unit
	if unit == 0 {
		limit = relativeFloor * math.Max(1, median(std))
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
func (s *state) drop(count int, unit float64) bool {
	var svd mat.SVD
	if !svd.Factorize(s.wi, mat.SVDThin) {
		return false
	}
	std := svd.Values(nil)
	keep := len(std) - count
	if keep == 0 || s.narrowestColumn() < lostColumn*unit {
		return false
	}
	var u mat.Dense
	svd.UTo(&u)
	d := len(s.m)
	s.w, s.wi = mat.NewDense(keep, d, nil), mat.NewDense(d, keep, nil)
	for i := keep; i < len(std); i++ {
		s.empty = append(s.empty, hiddenDirection{mat.Col(nil, i, &u), std[i]})
	}
	for i := range keep {
		for j := range d {
			s.wi.Set(j, i, u.At(j, i)*std[i])
			s.w.Set(i, j, u.At(j, i)/std[i])
		}
	}
	return true
}

// narrowestColumn is the least spread of a single column, in its scale.
func (s *state) narrowestColumn() float64 {
	least := math.Inf(1)
	for j := range s.m {
		least = math.Min(least, floats.Norm(s.wi.RawRowView(j), 2))
	}
	return least
}

func median(decreasing []float64) float64 { return decreasing[len(decreasing)/2] }

// directions are hidden directions of a state in the columns' own units.
func (r *run) directions(st *state, hidden []hiddenDirection) (out []estimate.Direction) {
	for _, h := range hidden {
		full, norm := make([]float64, r.problem.Columns), 0.0
		for i, j := range st.columns {
			full[j] = h.direction[i] / st.scale[i]
			norm = math.Hypot(norm, full[j])
		}
		if !(norm > 0) || !dense.Finite(norm) {
			continue
		}
		for j := range full {
			full[j] /= norm
		}
		out = append(out, estimate.Direction{Direction: full, StdAtMost: h.std / norm})
	}
	return out
}

// unresolved is the outcome of a preconditioner whose budget ended first.
func (r *run) unresolved() (estimate.Outcome, error) {
	out, err := r.refuse(fmt.Sprintf("the noise hides the spread in some directions at about %.0f rows", r.rows))
	out.Diagnostics.Unresolved = r.directions(r.last, r.last.hidden)
	return out, err
}
