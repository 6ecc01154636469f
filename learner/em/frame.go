package em

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner"
)

// A Whitening takes whitened rows back: x = at + root z, with a lower triangular root. What EM does
// to the rows z depends on their inner products only, and whitened rows of an affine image are
// those of the rows themselves, rotated. So the mixture found moves with the rows under every
// invertible affine map, up to rounding.
type Whitening struct {
	At   []float64
	Root []float64 // d x d
}

// Utility constants of the frame.
const (
	// flat is the least diagonal entry of the Cholesky factor of correlations: below, the rows lie
	// in a hyperplane as far as float64 can tell.
	flat = 1e-8
	// central is the share of the rows that the frame is made from if rows are trimmed, in
	// centralRounds rounds.
	central       = .95
	centralRounds = 3
)

// errFlat is the error of rows that lie in a hyperplane, or are too far apart for float64.
const errFlat learner.Error = "em: the rows have no covariance of full rank"

// Whiten returns the rows, flat, in coordinates in which their mean is 0 and their covariance the
// identity; if trim is positive, the mean and the covariance of the central rows.
func Whiten(rows [][]float64, trim float64) (z []float64, f *Whitening, err error) {
	d := len(rows[0])
	f = &Whitening{At: slices.Clone(rows[0]), Root: make([]float64, d*d)}
	z = make([]float64, 0, len(rows)*d)
	for _, r := range rows {
		for j, v := range r {
			z = append(z, v-rows[0][j])
		}
	}
	for j := range d {
		big := 0.0
		for i := j; i < len(z); i += d {
			big = max(big, math.Abs(z[i]))
		}
		_, exponent := math.Frexp(big)
		if big == 0 || !dense.Finite(big) || exponent < -1000 {
			return nil, nil, errFlat
		}
		f.Root[j*d+j] = math.Ldexp(1, exponent)
		for i := j; i < len(z); i += d {
			z[i] = math.Ldexp(z[i], -exponent)
		}
	}
	for range 2 { // the second time takes away what rounding left of large correlations
		if !f.whiten(z, math.Inf(1)) {
			return nil, nil, errFlat
		}
	}
	if trim > 0 {
		for range centralRounds {
			if !f.whiten(z, quantile(norms(z, d), math.Min(central, 1-trim))) {
				return nil, nil, errFlat
			}
		}
	}
	return z, f, nil
}

// norms returns the squared lengths of the rows.
func norms(z []float64, d int) []float64 {
	out := make([]float64, 0, len(z)/d)
	for i := 0; i < len(z); i += d {
		out = append(out, dense.Dot(z[i:i+d], z[i:i+d]))
	}
	return out
}

// quantile returns the value that the given share of the values does not exceed.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(max(int(math.Ceil(share*float64(len(sorted))))-1, 0), len(sorted)-1)]
}

// whiten moves z to the mean and the covariance of the rows whose squared length is at most that,
// and f with it; false if they have none.
func (f *Whitening) whiten(z []float64, most float64) bool {
	d, n := len(f.At), 0.0
	mean, l := make([]float64, d), make([]float64, d*d)
	keep := make([]bool, len(z)/d)
	for i := range keep {
		r := z[i*d : i*d+d]
		if keep[i] = !(dense.Dot(r, r) > most); keep[i] {
			n++
			for j, v := range r {
				mean[j] += (v - mean[j]) / n
			}
		}
	}
	y := make([]float64, d)
	for i, kept := range keep {
		for j := range y {
			z[i*d+j] -= mean[j]
		}
		if kept {
			AddSquare(l, z[i*d:i*d+d], d, 1/n)
		}
	}
	for j := range y {
		y[j] = flat * math.Sqrt(l[j*d+j])
	}
	inv := make([]float64, len(l))
	if !dense.Cholesky(l, d) || !dense.InvertLower(inv, l, d) {
		return false
	}
	for j := range y {
		if !(l[j*d+j] > y[j]) {
			return false
		}
	}
	turn(z, inv, d, z)
	f.At = f.back(mean)
	f.Root = f.times(l)
	return true
}

// turn writes a lower triangle times every row; to may be z.
func turn(to, l []float64, d int, z []float64) {
	for i := 0; i < len(z); i += d {
		for j := d - 1; j >= 0; j-- {
			to[i+j] = dense.Dot(l[j*d:j*d+j+1], z[i:i+j+1])
		}
	}
}

// back returns x of z.
func (f *Whitening) back(z []float64) []float64 {
	d, x := len(z), slices.Clone(f.At)
	for i := range x {
		x[i] += dense.Dot(f.Root[i*d:i*d+i+1], z[:i+1])
	}
	return x
}

// times returns the root times a lower triangle.
func (f *Whitening) times(l []float64) []float64 {
	d := len(f.At)
	out := make([]float64, d*d)
	for i := range d {
		for c := range i + 1 {
			for j := range c + 1 {
				out[i*d+j] += f.Root[i*d+c] * l[c*d+j]
			}
		}
	}
	return out
}
