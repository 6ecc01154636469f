package gaussian

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/angular"
)

// A measurement is what one step released: the mean of u u^T over the rows, u = (sqrt nu, w)/|.|,
// in the step's frame.
type measurement struct {
	frame *state
	mean  *mat.SymDense // the lift first
	sigma float64       // the noise sd of a diagonal entry; off-diagonal ones have 1/sqrt2 of it
}

// leastPart of all information: a measurement that has less is left aside.
const leastPart = .01

// A view is a measurement as the final coordinates z see it: w = B z + shift.
type view struct {
	b      *mat.Dense
	shift  []float64
	nu     float64
	ww     *mat.Dense
	w0     []float64
	zero   float64
	weight float64 // 1/sigma^2, less where sampling is what limits
	law    *angular.Law
	scale  image // what a change of scale does to the measurement, normed
}

// An image is a point of the space that measurements live in; w0 counts twice in products.
type image struct {
	ww   *mat.Dense
	w0   []float64
	zero float64
}

func (a image) dot(b image) float64 {
	s := a.zero * b.zero
	for i, v := range a.w0 {
		s += 2 * v * b.w0[i]
	}
	x, y := a.ww.RawMatrix().Data, b.ww.RawMatrix().Data
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// add adds f times b to a.
func (a *image) add(f float64, b image) {
	a.zero += f * b.zero
	for i, v := range b.w0 {
		a.w0[i] += f * v
	}
	x, y := a.ww.RawMatrix().Data, b.ww.RawMatrix().Data
	for i, v := range y {
		x[i] += f * v
	}
}

// information is the sum of 1/sigma^2 over the measurements of the state's rank and steps, per
// coordinate of a relative error of the covariance: a small relative error E, without its trace,
// moves the mean of u u^T by E/(nu+d+2).
func (r *run) information(st *state) float64 {
	sum := 0.0
	for _, m := range r.history {
		if m.frame.rank() == st.rank() && m.frame.nu == st.nu {
			sum += 1 / (m.sigma * m.sigma)
		}
	}
	gain := st.nu + float64(st.rank()) + 2
	return sum / (gain * gain)
}

// views are the measurements that say something in the coordinates z = root W(y - m) of st.
// sampling is the variance, in the measurement's unit, by which the directions know less of the
// rows than the last release does.
func (r *run) views(st *state, root, sampling float64) []*view {
	d := st.rank()
	gain := st.nu + float64(d) + 2
	total := r.information(st) * gain * gain
	var out []*view
	for _, m := range r.history {
		weight := 1 / (m.sigma * m.sigma)
		if m.frame.rank() != d || m.frame.nu != st.nu || weight < leastPart*total {
			continue
		}
		v := &view{b: new(mat.Dense), shift: make([]float64, d), nu: st.nu, ww: mat.NewDense(d, d, nil), w0: make([]float64, d),
			zero: m.mean.At(0, 0), weight: weight / (1 + sampling*total)}
		v.b.Mul(m.frame.w, st.wi)
		v.b.Scale(1/root, v.b)
		for i := range d {
			for j, c := range st.m {
				v.shift[i] += m.frame.w.At(i, j) * (c - m.frame.m[j])
			}
			v.w0[i] = m.mean.At(0, i+1)
			for j := range d {
				v.ww.Set(i, j, m.mean.At(i+1, j+1))
			}
		}
		if dense.AllFinite(v.shift) && dense.AllFinite(v.b.RawMatrix().Data) {
			out = append(out, v)
		}
	}
	return out
}

// pull adds to gradient what the difference between the measurement and its expectation under
// N(delta, cov) asks for.
func (v *view) pull(delta []float64, cov *mat.SymDense, gradient change) {
	d := len(delta)
	eta := append([]float64(nil), v.shift...)
	for i := range d {
		for j, x := range delta {
			eta[i] += v.b.At(i, j) * x
		}
	}
	s := symmetric.Congruence(v.b, cov)
	law, ok := angular.New(eta, s, v.nu)
	if v.law = law; !ok {
		return
	}
	v.scale.ww, v.scale.w0, v.scale.zero = law.Forward(make([]float64, d), mat.DenseCopyOf(s))
	off := image{mat.NewDense(d, d, nil), make([]float64, d), v.zero - law.Zero}
	off.ww.Sub(v.ww, law.WW)
	for i := range off.w0 {
		off.w0[i] = v.w0[i] - law.W0[i]
	}
	v.back(off, gradient)
}

// back adds the weighted transpose of the derivative at off to out. What a change of scale would do
// is left out: directions say little about the scale, and bend where it is far off, so that the
// last release alone decides it.
func (v *view) back(off image, out change) {
	if norm := v.scale.dot(v.scale); norm > 0 {
		off.add(-off.dot(v.scale)/norm, v.scale)
	}
	dEta, dS := v.law.Adjoint(off.ww, off.w0, off.zero)
	var t, x mat.Dense
	t.Mul(v.b.T(), dS)
	x.Mul(&t, v.b)
	shift := make([]float64, len(dEta))
	for i, e := range dEta {
		for j, b := range v.b.RawRowView(i) {
			shift[j] += b * e
		}
	}
	out.add(v.weight, change{shift, &x})
}

// curve adds the weighted second derivative times x to out.
func (v *view) curve(x, out change) {
	if v.law == nil {
		return
	}
	var t, s mat.Dense
	t.Mul(v.b, x.cov)
	s.Mul(&t, v.b.T())
	dEta := make([]float64, len(x.mean))
	for i := range dEta {
		for j, b := range v.b.RawRowView(i) {
			dEta[i] += b * x.mean[j]
		}
	}
	var off image
	off.ww, off.w0, off.zero = v.law.Forward(dEta, &s)
	v.back(off, out)
}
