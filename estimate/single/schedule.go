package single

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
)

// Constants of the schedule, as measured in [TYLERPRESS] Section 4.2.
const (
	firstPassPart  = .5  // of what is left, for the first preconditioner
	secondPassPart = .5  // of what is left then, for the t_nu preconditioner
	tryConfirm     = .3  // a step whose least eigenvalue is above this is followed by the certificate
	confirmed      = .5  // the certificate's least eigenvalue
	confirmPart    = .05 // of mu^2: the certificate never costs less, if there is that much
	stillNarrow    = .5  // below this least eigenvalue, look for degenerate directions
	maxSteps       = 400
)

// precondition repeats steps until the certificate holds (ok), or the part of what is left runs out. It hands back what it did
// not spend.
//
// The noise alone passes the certificate with probability about 1e-4 (GOE tail); it is a function of released values.
//
// Source: [TYLERPRESS] Section 4.2.
func (r *run) precondition(st *state, nu, part float64) (result *state, ok bool, err error) {
	st.nu = nu
	r.pre = r.a.Take(part * r.a.Left())
	defer func() { r.a.Return(r.pre) }()
	r.last = st
	for range maxSteps {
		d := st.rank()
		coarse, fine := levels(d)
		mu := r.stepMu(d, nu, coarse)
		if mu > r.pre.LeftMu() {
			return st, false, nil
		}
		least, lost, err := r.step(st, nu, relaxation(d, nu), mu)
		if err != nil || lost {
			return st, false, err
		}
		if least > tryConfirm {
			mu := math.Max(r.stepMu(d, nu, fine), math.Sqrt(confirmPart*r.mu2))
			mu = math.Min(mu, r.pre.LeftMu())
			if !(mu > 0) {
				return st, false, nil
			}
			if least, lost, err = r.step(st, nu, 1, mu); err != nil || lost {
				return st, false, err
			}
			if least > confirmed {
				return st, true, nil
			}
		}
		if least < stillNarrow && !st.dropNarrow(r.floorUnit()) {
			return st, false, nil
		}
	}
	return st, false, nil
}

// levels are the noise levels of an ordinary step and of the certificate: they leave the noise's spectral tail room.
func levels(d int) (coarse, fine float64) {
	tail := 4 / math.Sqrt(2*float64(d+1))
	return math.Min(.5, 1/(1+tail)), math.Min(.25, .5/(1+tail))
}

const (
	// relativeFloor: a direction narrower than this, in column scales, has no spread.
	relativeFloor = 1e-9
	// lostColumn: a single column that has become this narrow in the unit that stage 0 gave it has the wrong unit.
	lostColumn = 1e-6
)

// dropNarrow takes the directions in which the released state has become narrower than relativeFloor out of the state: the
// covariance has exact rank r, the mean stays where it is in the others. It reports false if nothing is left, or a column's unit
// was wrong.
//
// Source: [TYLERPRESS] Section 4.4. Differs: columns in the wrong unit are told apart from directions without spread.
func (s *state) dropNarrow(unit float64) bool {
	var svd mat.SVD
	if !svd.Factorize(s.wi, mat.SVDThin) {
		return false
	}
	std := svd.Values(nil) // decreasing
	limit := relativeFloor * unit
	if unit == 0 {
		limit = relativeFloor * math.Max(1, median(std))
	}
	keep := sort.Search(len(std), func(i int) bool { return std[i] < limit })
	if keep == len(std) {
		return true
	}
	if keep == 0 || s.narrowestColumn() < lostColumn*unit {
		return false
	}
	var u mat.Dense
	svd.UTo(&u)
	d := len(s.m)
	s.w, s.wi = mat.NewDense(keep, d, nil), mat.NewDense(d, keep, nil)
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

// unresolved is the outcome of a preconditioner whose budget ended first.
func (r *run) unresolved() (estimate.Outcome, error) {
	out, err := r.refuse(fmt.Sprintf("the noise hides the spread in some directions at about %.0f rows", r.rows))
	for _, h := range r.last.hidden {
		full := make([]float64, r.problem.Columns)
		for i, j := range r.last.columns {
			full[j] = h.direction[i]
		}
		out.Diagnostics.Unresolved = append(out.Diagnostics.Unresolved, estimate.Direction{
			Direction: full, StdAtMost: h.std,
			Resolution: "an upper bound set by the noise, not an estimate; columns divided by their released scale",
		})
	}
	return out, err
}
