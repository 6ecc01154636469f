package blocks

import (
	"math"
	"math/big"

	"github.com/gauze-dp/gauze/dense"
)

// A pair compares components; it holds the results and scratch space of the comparison, so that
// nothing is allocated. Each goroutine has its own.
type pair struct {
	d int
	// D x D: the lifted factor of one in the frame of the other, and the reverse
	forth, back []float64
	work        []float64 // D x D
	singles     []float64 // D
	labels      []int
	surplus     float64
}

func newPair(k, d int) *pair {
	n := (d + 1) * (d + 1)
	return &pair{d: d, forth: make([]float64, n), back: make([]float64, n), work: make([]float64, n), singles: make([]float64, d+1),
		labels: make([]int, k)}
}

// Relative sets out to L_x^-1 L_y and returns its squared norm, where L = sqrt(w) [[A, mean], [0,
// 1]] is the lifted factor of a component of root A: out = sqrt(w_y/w_x) [[A_x^-1 A_y, A_x^-1
// (mean_y - mean_x)], [0, 1]]. No lifted matrix P = L L' is ever formed, so means may be far longer
// than a component is wide.
func Relative(d int, out []float64, x, y *Factor) float64 {
	n := d + 1
	scale := math.Sqrt(y.weight / x.weight)
	total := scale * scale
	for i := 0; i < d; i++ {
		row, by := out[i*n:i*n+n], x.inverse[i*d:i*d+i+1]
		for j := 0; j <= i; j++ {
			s := 0.0
			for k := j; k <= i; k++ {
				s += by[k] * y.root[k*d+j]
			}
			row[j] = scale * s
			total += row[j] * row[j]
		}
		s := 0.0
		for k, v := range by {
			s += v * (y.mean[k] - x.mean[k])
		}
		row[d] = scale * s
		total += row[d] * row[d]
	}
	out[n*n-1] = scale
	return total
}

// relativeExactly returns the transposed result of Relative, each entry with an error of a few
// units in its last place whatever the condition of x's root.
func relativeExactly(x, y *Factor, d int) []float64 {
	const digits = 160 // the condition is at most 1e6
	n := d + 1
	out := make([]float64, n*n)
	scale := math.Sqrt(y.weight / x.weight)
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(digits).SetFloat64(v) }
	column, t := make([]*big.Float, d), number(0)
	for c := 0; c <= d; c++ {
		for i := 0; i < d; i++ {
			if c < d {
				column[i] = number(y.root[i*d+c])
			} else {
				column[i] = number(y.mean[i])
				column[i].Sub(column[i], number(x.mean[i]))
			}
			for k := 0; k < i; k++ {
				column[i].Sub(column[i], t.Mul(column[k], number(x.root[i*d+k])))
			}
			column[i].Quo(column[i], number(x.root[i*d+i]))
			v, _ := column[i].Float64()
			out[c*n+i] = scale * v
		}
	}
	out[n*n-1] = scale
	return out
}

// distance2 returns the sum of log^2 e over the eigenvalues e of P_x^-1 P_y, which are the squares
// of the singular values of forth = L_x^-1 L_y; NaN if something overflows.
func (p *pair) distance2() (total float64) {
	copy(p.work, p.forth)
	dense.Orthogonalize(p.work, p.d+1, p.singles)
	for _, s := range p.singles {
		total += square(2 * math.Log(s))
	}
	return total
}
