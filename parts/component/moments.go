package component

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

// Sums are the released moments of one component: noisy sums over the rows, each weighted by its
// posterior share and with its working coordinates z clipped to the component's radius. The sds are
// those of the noise alone.
type Sums struct {
	Count   float64 // sum of the shares
	CountSD float64
	Sum     []float64 // sum of z
	SumSD   float64   // of each coordinate
	// Second is the sum of z z^T: all of it in the full form, its diagonal (zero elsewhere) in the
	// diagonal form, nil in the spherical form. It need not be positive.
	Second *mat.SymDense
	// SecondSD is the sd of a diagonal entry; off-diagonal entries have SecondSD/sqrt2.
	SecondSD float64
	// Trace is the sum of |z|^2, the trace of Second where there is one.
	Trace, TraceSD float64
	// Of the completed form alone: Rest is the sum of r^2-|z|^2, with the noise SecondSD, and Cross
	// that of z sqrt(r^2-|z|^2), each coordinate with CrossSD.
	Rest    float64
	Cross   []float64
	CrossSD float64
}

// Over returns the sums, except Count, of the full and the completed form divided by a number of
// rows: means, and the noise of these.
func (s Sums) Over(rows float64) Sums {
	for _, sums := range [][]float64{s.Sum, s.Cross} {
		floats.Scale(1/rows, sums)
	}
	s.Second.ScaleSym(1/rows, s.Second)
	for _, number := range []*float64{&s.SumSD, &s.SecondSD, &s.Trace, &s.TraceSD, &s.Rest, &s.CrossSD} {
		*number /= rows
	}
	return s
}

// Spectral returns the spectral norm of the noise of Second, about.
func (s Sums) Spectral() float64 { return s.SecondSD * math.Sqrt(2*float64(len(s.Sum))) }

// UnpackSums undoes the packing of query.ClippedMoments: one Sums for every component that is not
// GateOnly, in their order. It panics if answer does not belong to q.
func UnpackSums(q query.ClippedMoments, answer kernel.Answer) []Sums {
	if len(answer.Values) != q.Size() {
		panic(fmt.Sprintf("component: want %d numbers, got %d", q.Size(), len(answer.Values)))
	}
	var out []Sums
	rest := answer.Values
	for _, c := range q.Components {
		if c.GateOnly {
			continue
		}
		d := c.Map.Out()
		var s Sums
		size := q.Form.Size(d)
		switch q.Form {
		case query.CompletedForm:
			s = completed(rest[:size], answer.Sigma, c.Radius, q.Lift*c.Radius, d)
		case query.FullForm:
			s = full(rest[:size], answer.Sigma, c.Radius, q.Lift*c.Radius, d)
		case query.DiagonalForm:
			s = diagonal(rest[:size], answer.Sigma, c.Radius)
		case query.ColumnForm:
			s = marginal(rest[:size], answer.Sigma, c.Radius, q.Lift)
		default:
			s = spherical(rest[:size], answer.Sigma, c.Radius)
		}
		out, rest = append(out, s), rest[size:]
	}
	return out
}

// UnpackCounted undoes the packing with the count that all entries say together: see Sums.Counted.
func UnpackCounted(q query.ClippedMoments, answer kernel.Answer) []Sums {
	out, at := UnpackSums(q, answer), 0
	for _, c := range q.Components {
		if !c.GateOnly {
			out[at] = out[at].Counted(c.Radius * c.Radius)
			at++
		}
	}
	return out
}

// full undoes f = (b, z)/sqrt(r^2+b^2), packed as the upper triangle of the sum of f f^T.
func full(values []float64, sigma, r, b float64, d int) Sums {
	return gram(Symmetric(values, d+1), sigma, r, b)
}

// completed undoes f = (b, z, sqrt(r^2-|z|^2))/sqrt(r^2+b^2), packed likewise.
func completed(values []float64, sigma, r, b float64, d int) Sums {
	m := Symmetric(values, d+2)
	norm := r*r + b*b
	s := gram(m.SliceSym(0, d+1).(*mat.SymDense), sigma, r, b)
	s.Rest, s.Cross, s.CrossSD = m.At(d+1, d+1)*norm, mat.Row(nil, d+1, m)[1:1+d], sigma*norm/math.Sqrt2
	floats.Scale(norm, s.Cross)
	return s
}

// gram undoes f = (b, z)/sqrt(r^2+b^2), of the sum of f f^T.
func gram(m *mat.SymDense, sigma, r, b float64) Sums {
	d := m.SymmetricDim() - 1
	norm := r*r + b*b
	s := Sums{
		Count: m.At(0, 0) * norm / (b * b), CountSD: sigma * norm / (b * b),
		Sum: make([]float64, d), SumSD: sigma * norm / b / math.Sqrt2,
		Second: symmetric.Of(d, func(i, j int) float64 { return m.At(i+1, j+1) * norm }), SecondSD: sigma * norm,
		TraceSD: sigma * norm * math.Sqrt(float64(d)),
	}
	for i := range d {
		s.Sum[i] = m.At(0, i+1) * norm / b
		s.Trace += s.Second.At(i, i)
	}
	return s
}

// diagonal undoes u = (r, z, z^2/r)/(sqrt3 r).
func diagonal(values []float64, sigma, r float64) Sums {
	d, root3 := len(values)/2, math.Sqrt(3)
	s := first(values[:1+d], sigma, root3, root3, r)
	s.Second, s.SecondSD = mat.NewSymDense(d, nil), s.SumSD*r
	s.TraceSD = s.SecondSD * math.Sqrt(float64(d))
	for i, v := range values[1+d:] {
		s.Second.SetSym(i, i, v*root3*r*r)
		s.Trace += s.Second.At(i, i)
	}
	return s
}

// spherical undoes u = (r/2, z, |z|^2/r)/(3/2 r).
func spherical(values []float64, sigma, r float64) Sums {
	last := len(values) - 1
	s := first(values[:last], sigma, 3, 1.5, r)
	s.Trace, s.TraceSD = values[last]*1.5*r*r, s.SumSD*r
	return s
}

// marginal undoes u = (r/sqrt2, s, |s|^2/(sqrt2 r))/(sqrt2 r), s = (z, a (z_i^2 - 1)): Second has
// the sums of z_i^2 - 1, and Trace is that of |s|^2.
func marginal(values []float64, sigma, r, a float64) Sums {
	last := len(values) - 1
	d := last / 2
	all := first(values[:last], sigma, 2, math.Sqrt2, r)
	s := Sums{Count: all.Count, CountSD: all.CountSD, Sum: all.Sum[:d], SumSD: all.SumSD, Second: mat.NewSymDense(d, nil), SecondSD: all.SumSD / a}
	for i, v := range all.Sum[d:] {
		s.Second.SetSym(i, i, v/a)
	}
	s.Trace, s.TraceSD = values[last]*2*r*r, sigma*2*r*r
	return s
}

// first returns the count, which was divided by that number, and the sum, divided by norm times r.
func first(values []float64, sigma, count, norm, r float64) Sums {
	sum := parts.Map(values[1:], func(v float64) float64 { return v * norm * r })
	return Sums{Count: values[0] * count, CountSD: sigma * count, Sum: sum, SumSD: sigma * norm * r}
}

// Symmetric returns the dim x dim matrix whose upper triangle is packed row by row in values. It
// panics if their number is not dim(dim+1)/2.
func Symmetric(values []float64, dim int) *mat.SymDense {
	if len(values) != dim*(dim+1)/2 {
		panic(fmt.Sprintf("component: want %d packed numbers, got %d", dim*(dim+1)/2, len(values)))
	}
	at := -1
	return symmetric.Of(dim, func(int, int) float64 { at++; return values[at] })
}
