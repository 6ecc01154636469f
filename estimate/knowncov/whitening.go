package knowncov

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

// whitening is the known covariance l l^T with triangular l, and inv = l^-1: z = inv (x - center)
// has the identity as covariance.
type whitening struct {
	d      int
	l, inv *mat.Dense
}

// whiten factors a covariance that estimate.ValidateCovariance finds sound. It works on the
// correlations, so units do not matter.
func whiten(known [][]float64) (*whitening, error) {
	d := len(known)
	sd := make([]float64, d)
	for i := range d {
		sd[i] = math.Sqrt(known[i][i])
	}
	var chol mat.Cholesky
	if d == 0 || !chol.Factorize(symmetric.Of(d, func(i, j int) float64 { return known[i][j] / sd[i] / sd[j] })) {
		return nil, fmt.Errorf("knowncov: the known covariance is not a positive definite matrix")
	}
	var l, inv mat.TriDense
	chol.LTo(&l)
	if err := inv.InverseTri(&l); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			return nil, err
		}
	}
	w := &whitening{d, mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)}
	for i := range d {
		for j := range i + 1 {
			w.l.Set(i, j, sd[i]*l.At(i, j))
			w.inv.Set(i, j, inv.At(i, j)/sd[j])
		}
	}
	return w, nil
}

// coordinates returns coordinates low to high - 1 of inv (x - 0): a map of the first high columns.
func (w *whitening) coordinates(low, high int) query.Affine {
	a := query.Affine{Columns: parts.Upto(high), Center: make([]float64, high)}
	for i := low; i < high; i++ {
		a.W = append(a.W, append([]float64(nil), w.inv.RawRowView(i)[:high]...))
	}
	return a
}

// point returns l z, the other coordinates of z being zero.
func (w *whitening) point(z []float64) []float64 { return lower(w.l, z) }

// between returns inv (to - from): exact to the last digits of the difference, however far both are
// from the origin.
func (w *whitening) between(from, to []float64) []float64 {
	return lower(w.inv, floats.SubTo(make([]float64, w.d), to, from))
}

// way returns the whitened difference of a part's mean from a point.
func (w *whitening) way(from []float64, p part) []float64 {
	z := w.between(from, p.base)
	floats.Add(z, p.at)
	return z
}

// lower returns a lower triangle times z, whose other coordinates are zero.
func lower(triangle *mat.Dense, z []float64) []float64 {
	x := make([]float64, triangle.RawMatrix().Rows)
	for i := range x {
		x[i] = dense.Dot(triangle.RawRowView(i)[:min(i+1, len(z))], z)
	}
	return x
}
