package knowncov

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
)

// Utility constants of the solution, guesses.
const (
	mostSteps = 25
	// a step that improves the misfit by less, and less than its part hardly, is the last
	settled = .02
	hardly  = 2e-4
	// .. of a solution that is only compared with others
	roughly     = 1e-2
	firstDamp   = 1e-3
	farthest    = 4.0 // sds that a mean moves in one step
	looksSolved = 3   // the number of last looks that are solved together
)

// A solution is parts, and how badly they explain the looks: the sum of the squares of what is
// left, in sds.
type solution struct {
	parts  []part
	misfit float64
}

// solve fits weights and means to the looks by Levenberg and Marquardt's steps from a start, until
// one improves the misfit by less than the part hardly. It is post-processing.
func (f *fit) solve(start []part, hardly float64) solution {
	looks := f.looks[max(0, len(f.looks)-looksSolved):]
	now := f.system(looks, start)
	for damp, step := firstDamp, 0; step < mostSteps && damp < 1e6; step++ {
		moved, ok := now.step(damp)
		if !ok {
			damp *= 10
			continue
		}
		next := f.system(looks, moved)
		if gain := now.misfit - next.misfit; !(gain > 0) {
			damp *= 10
			continue
		} else if gain < settled+hardly*now.misfit {
			break
		}
		damp /= 5
		now = next
	}
	now.uncertainties()
	return now.solution
}

// system is the linearised problem at some parts.
type system struct {
	solution
	d        int
	normal   *mat.SymDense // J^T J, in sds
	gradient []float64     // J^T r
}

func (f *fit) system(looks []*look, parts []part) *system {
	n := len(parts) * (1 + f.Problem.Columns)
	s := &system{solution: solution{parts: parts}, d: f.Problem.Columns, normal: mat.NewSymDense(n, nil), gradient: make([]float64, n)}
	for _, l := range looks {
		mean, jacobian := f.law.average(f.white, l, parts, true)
		left := make([]float64, len(mean))
		for i, v := range mean {
			left[i] = (l.value[i] - v) / l.sd[i]
			s.misfit += left[i] * left[i]
		}
		for i := range mean {
			row := jacobian.RawRowView(i)
			for c := range row {
				row[c] /= l.sd[i]
			}
		}
		var own mat.SymDense
		own.SymOuterK(1, jacobian.T())
		s.normal.AddSym(s.normal, &own)
		var g mat.VecDense
		g.MulVec(jacobian.T(), mat.NewVecDense(len(left), left))
		floats.Add(s.gradient, g.RawVector().Data)
	}
	return s
}

// with returns the normal matrix with the given diagonal.
func (s *system) with(diagonal func(i int, v float64) float64) *mat.SymDense {
	return symmetric.Of(len(s.gradient), func(i, j int) float64 {
		if i == j {
			return diagonal(i, s.normal.At(i, i))
		}
		return s.normal.At(i, j)
	})
}

// step returns the result of a damped step; false if there is none.
func (s *system) step(damp float64) ([]part, bool) {
	n := len(s.gradient)
	a := s.with(func(_ int, v float64) float64 { return v*(1+damp) + 1e-12*(1+v) })
	var chol mat.Cholesky
	var x mat.VecDense
	if !chol.Factorize(a) || chol.SolveVecTo(&x, mat.NewVecDense(n, s.gradient)) != nil {
		return nil, false
	}
	moved := slices.Clone(s.parts)
	for j := range moved {
		own := x.RawVector().Data[j*(1+s.d) : (j+1)*(1+s.d)]
		length := math.Sqrt(dense.Norm2(own[1:]))
		if !dense.Finite(length) {
			return nil, false
		}
		short := math.Min(1, farthest*math.Sqrt(float64(s.d))/math.Max(length, 1e-9))
		p := &moved[j]
		p.at = slices.Clone(p.at)
		floats.AddScaled(p.at, short, own[1:1+len(p.at)])
		p.rows = math.Max(1, math.Max(p.rows/5, p.rows+own[0]))
	}
	return moved, true
}

// doubts fills in how uncertain the parts are; a part that the looks say nothing of is wholly so.
func (s *system) uncertainties() {
	a := s.with(func(i int, v float64) float64 {
		if i%(1+s.d) == 0 {
			return v + 1e-12 // rows have no prior to speak of
		}
		return v + 1/(mostUncertainty*mostUncertainty)
	})
	var chol mat.Cholesky
	var inverse mat.SymDense
	ok := chol.Factorize(a) && chol.InverseTo(&inverse) == nil
	for j := range s.parts {
		p := &s.parts[j]
		if p.atSD, p.rowsSD = mostUncertainty, p.rows; !ok {
			continue
		}
		at, sum := j*(1+s.d), 0.0
		for c := 1; c <= s.d; c++ {
			sum += inverse.At(at+c, at+c)
		}
		p.atSD, p.rowsSD = math.Sqrt(sum/float64(s.d)), math.Sqrt(inverse.At(at, at))
	}
}
