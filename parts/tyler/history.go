package tyler

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// A measurement is what one step released: the mean of u u^T over the rows, u = (sqrt nu, w)/|.|,
// in the step's frame.
type measurement struct {
	frame *State
	mean  *mat.SymDense // the lift first
	sigma float64       // the noise sd of a diagonal entry; off-diagonal ones have 1/sqrt2 of it
}

// leastPart of all information: a measurement that has less is left aside. A guess.
const leastPart = .01

// Gain: a small relative error E of the covariance, without its trace, moves the mean of u u^T by
// E/Gain.
func (s *State) Gain() float64 { return s.Nu + float64(s.Rank()) + 2 }

// alike returns the measurements of the state's rank and steps.
func (r *Rounder) alike(st *State) []measurement {
	return slices.DeleteFunc(slices.Clone(r.history), func(m measurement) bool { return m.frame.Rank() != st.Rank() || m.frame.Nu != st.Nu })
}

// Information returns the sum of 1/sigma^2 over the measurements of the state's rank and steps, per
// coordinate of a relative error of the covariance.
func (r *Rounder) Information(st *State) float64 {
	sum := parts.Sum(r.alike(st), func(m measurement) float64 { return 1 / (m.sigma * m.sigma) })
	return sum / (st.Gain() * st.Gain())
}

// Views returns the measurements that say something in the coordinates z = root W(y - M) of st.
// sampling is the variance, in the measurement's unit, by which the directions know less of the
// rows than the last release does.
func (r *Rounder) Views(st *State, root, sampling float64) (out []component.View) {
	total := r.Information(st) * st.Gain() * st.Gain()
	for _, m := range r.alike(st) {
		weight := 1 / (m.sigma * m.sigma)
		if weight < leastPart*total {
			continue
		}
		d := st.Rank()
		v := &view{b: new(mat.Dense), shift: make([]float64, d), nu: st.Nu, weight: weight / (1 + sampling*total)}
		v.b.Mul(m.frame.W, st.Wi)
		v.b.Scale(1/root, v.b)
		between := slices.Clone(st.M)
		floats.Sub(between, m.frame.M)
		symmetric.AddMul(v.shift, m.frame.W, between)
		v.seen = Image{WW: mat.DenseCopyOf(m.mean.SliceSym(1, d+1)), W0: mat.Row(nil, 0, m.mean)[1:], Zero: m.mean.At(0, 0)}
		if dense.AllFinite(v.shift) && dense.AllFinite(v.b.RawMatrix().Data) {
			out = append(out, v)
		}
	}
	return out
}

// A view is a measurement as the final coordinates z see it: w = B z + shift.
type view struct {
	b      *mat.Dense
	shift  []float64
	nu     float64
	seen   Image
	weight float64 // 1/sigma^2, less where sampling is what limits
	law    *AngularLaw
	scale  Image      // what a change of scale does to the measurement
	turned *mat.Dense // B in the law's coordinates
}

// Pull adds to gradient what the difference between the measurement and its expectation under
// N(delta, cov) asks for.
func (v *view) Pull(delta []float64, cov *mat.SymDense, gradient component.Change) {
	eta := slices.Clone(v.shift)
	symmetric.AddMul(eta, v.b, delta)
	s := symmetric.Congruence(v.b, cov)
	law, ok := NewAngularLaw(eta, s, v.nu)
	if v.law = law; !ok {
		return
	}
	v.turned = new(mat.Dense)
	v.turned.Mul(law.Vectors.T(), v.b)
	v.scale = law.Forward(make([]float64, len(delta)), mat.DenseCopyOf(symmetric.Diagonal(law.Variance)))
	v.back(law.Turned(v.seen).Plus(-1, law.Image), gradient)
}

// back adds the weighted transpose of the derivative at off to out. What a change of scale would do
// is left out: directions say little about the scale, and bend where it is far off, so that the
// last release alone decides it.
func (v *view) back(off Image, out component.Change) {
	if norm := v.scale.Dot(v.scale); norm > 0 {
		off = off.Plus(-off.Dot(v.scale)/norm, v.scale)
	}
	dEta, dS := v.law.Adjoint(off)
	var t mat.Dense
	t.Mul(v.turned.T(), dS)
	x := component.NewChange(len(dEta))
	x.Cov.Mul(&t, v.turned)
	symmetric.AddMulT(x.Mean, v.turned, dEta)
	out.Add(v.weight, x)
}

// Curve adds the weighted second derivative times x to out.
func (v *view) Curve(x, out component.Change) {
	if v.law == nil {
		return
	}
	var t, s mat.Dense
	t.Mul(v.turned, x.Cov)
	s.Mul(&t, v.turned.T())
	dEta := make([]float64, len(x.Mean))
	symmetric.AddMul(dEta, v.turned, x.Mean)
	v.back(v.law.Forward(dEta, &s), out)
}
