package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// whitener maps the r free columns of a row to z = L^-1(x - mean), a standard Gaussian vector under
// the component, where L is the lower triangular factor of the component's covariance on the free
// columns, degenerate directions widened as the package comment says.
type whitener struct {
	mean []float64
	// below holds L's columns under the diagonal, one after the other; nil if L is diagonal.
	below   []float64
	inverse []float64 // 1/L_ii
	logDet  float64   // sum log L_ii
}

// newWhitener compiles g on the free columns of s.
func newWhitener(g Gaussian, s *support) *whitener {
	r := len(s.free)
	w := &whitener{mean: taken(g.Mean, s.free), inverse: make([]float64, r)}
	if r == 0 {
		return w
	}
	if u, ok := g.Cov.(Diagonal); ok {
		sds := u.sds()
		for a, j := range s.free {
			w.setPivot(a, max(sds[j], s.floor(j, sds[j])))
		}
		return w
	}
	l, scale := w.lower(g, s)
	for a := range r {
		w.setPivot(a, scale[a]*l.At(a, a))
	}
	for b := range r {
		for a := b + 1; a < r; a++ {
			w.below = append(w.below, scale[a]*l.At(a, b))
		}
	}
	return w
}

// floor returns the standard deviation given to column j, of standard deviation sd, where it has
// none of its own.
func (s *support) floor(j int, sd float64) float64 {
	if sd > 0 {
		return 0
	}
	return s.spread[j] * s.relativeFloor(j, s.spread[j])
}

// relativeFloor returns the smallest useful standard deviation in units of scale, at least 1e-9:
// rows cannot be distinguished below the rounding of the means.
func (s *support) relativeFloor(j int, scale float64) float64 {
	return min(1, max(supportTolerance, meanRounding*s.size[j]/scale))
}

func (w *whitener) setPivot(i int, sd float64) {
	w.inverse[i] = 1 / sd
	w.logDet += math.Log(sd)
}

// lower returns the lower factor of g's covariance on the free columns, row i in units of scale[i].
func (w *whitener) lower(g Gaussian, s *support) (l *mat.Dense, scale []float64) {
	f := takeRows(factorOf(g.Cov), s.free)
	scale = rowNorms(f)
	rounding := supportTolerance
	for a, j := range s.free {
		if scale[a] == 0 {
			scale[a] = s.spread[j]
		}
		rounding = max(rounding, s.relativeFloor(j, scale[a]))
	}
	f = scaledRows(f, scale)
	svd := singular(f, mat.SVDThinU)
	values := svd.Values(nil)
	// The whole factor is d x d and r <= d, so there are r values.
	if slices.Min(values) > rankTolerance*values[0] {
		return lowerFactor(f), scale
	}
	var u mat.Dense
	svd.UTo(&u)
	for a := range s.free {
		row := u.RawRowView(a)
		for b, v := range values {
			if v <= rankTolerance*values[0] {
				v = rounding
			}
			row[b] *= v
		}
	}
	return lowerFactor(&u), scale
}

// whiten turns z, the free columns of a row less the mean, into L^-1 z in place.
func (w *whitener) whiten(z []float64) {
	if w.below == nil {
		floats.Mul(z, w.inverse)
		return
	}
	below := w.below
	for b := range z {
		v := z[b] * w.inverse[b]
		z[b] = v
		rest := z[b+1:]
		column := below[:len(rest)]
		for a, l := range column {
			rest[a] -= l * v
		}
		below = below[len(rest):]
	}
}

// square returns |L^-1(x - mean)|^2 for the free columns of row, +Inf if it is not a finite number.
// z is scratch for r numbers.
func (w *whitener) square(z, row []float64, free []int) float64 {
	for a, j := range free {
		z[a] = row[j] - w.mean[a]
	}
	w.whiten(z)
	if sum := dense.Norm2(z); !math.IsNaN(sum) {
		return sum
	}
	return math.Inf(1)
}
