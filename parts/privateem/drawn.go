package privateem

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/component"
)

// Rows that are drawn lie in blocks of width, one lane each, a lane for every coordinate. What is
// done with a block, and exponentials, exist twice: here, in Go, which says what they compute, and
// in assembly, which takes four lanes at a time where path is set. Squares are the same bits in
// both, exponentials differ in the last.
const width = 16

type lanes [width]float64

var path bool

// drawn are rows in working coordinates: of block b the lanes [b*d, (b+1)*d).
type drawn []lanes

// squareGo returns |w (x - mean)|^2 of a block's rows, w being the last rows of a lower triangle.
// It takes four rows at a time, whose sums do not wait for each other.
func squareGo(out *lanes, x []lanes, w []float64, stride, rows int, mean []float64, off []lanes) {
	for s := 0; s < width; s += 4 {
		for j, m := range mean {
			for r := s; r < s+4; r++ {
				off[j][r] = x[j][r] - m
			}
		}
		t0, t1, t2, t3 := 0.0, 0.0, 0.0, 0.0
		for i := range rows {
			z0, z1, z2, z3 := 0.0, 0.0, 0.0, 0.0
			for j, v := range w[i*stride:][:len(mean)-rows+i+1] {
				o := off[j][s:][:4]
				z0, z1, z2, z3 = z0+v*o[0], z1+v*o[1], z2+v*o[2], z3+v*o[3]
			}
			t0, t1, t2, t3 = t0+z0*z0, t1+z1*z1, t2+z2*z2, t3+z3*z3
		}
		copy(out[s:], []float64{t0, t1, t2, t3})
	}
}

// expGo replaces every v by e^v, limited to normal numbers of float64.
func expGo(v *lanes) {
	for r, x := range v {
		v[r] = math.Exp(math.Max(-mostExp, math.Min(x, mostExp)))
	}
}

// mostExp is how far exp goes.
const mostExp = 708

// away2 returns |w (x - mean)|^2 of every row: see squareGo.
func (x drawn) away2(w *mat.Dense, mean []float64) []float64 {
	d, m := len(mean), w.RawMatrix()
	out, off := make([]float64, len(x)/d*width), make([]lanes, d)
	if scales := symmetric.Scales(w); scales != nil {
		for i, v := range x {
			to := out[i/d*width:][:width]
			for r, c := range v {
				z := scales[i%d] * (c - mean[i%d])
				to[r] += z * z
			}
		}
		return out
	}
	for b := 0; b < len(x)/d; b++ {
		square((*lanes)(out[b*width:]), x[b*d:][:d], m.Data, m.Stride, m.Rows, mean, off)
	}
	return out
}

// draw returns rows of the mixture, without the background, in working coordinates; n is a multiple
// of width.
func (r *Rounds) draw(rng Random, n int) drawn {
	d := r.Space.Dim()
	var ls []*mat.Dense
	for _, c := range r.Components {
		l, _, _ := symmetric.Factor(c.Cov)
		ls = append(ls, l)
	}
	x, z := make(drawn, n/width*d), make([]float64, d)
	for t := range n {
		u, j := rng.Float64(), 0
		for j < len(r.Components)-1 && u >= r.Components[j].Weight {
			u -= r.Components[j].Weight
			j++
		}
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		for i, m := range r.Components[j].Mean {
			x[t/width*d+i][t%width] = m + floats.Dot(ls[j].RawRowView(i)[:i+1], z[:i+1])
		}
	}
	return x
}

// logDensities returns ln w N(x), less the constant d/2 ln 2 pi, of every row.
func (x drawn) logDensities(c component.Gaussian) []float64 {
	_, inv, logDet := symmetric.Factor(c.Cov)
	top, out := math.Log(math.Max(c.Weight, 1e-12))-logDet/2, x.away2(inv, c.Mean)
	for t, away := range out {
		out[t] = top - away/2
	}
	return out
}

// relative turns logarithms into exponentials, of what they are more than base.
func relative(logs, base []float64) []float64 {
	floats.Sub(logs, base)
	for t := 0; t < len(logs); t += width {
		exp((*lanes)(logs[t:]))
	}
	return logs
}

// share turns the logarithms logs[j][t] for all j into parts of their sum of exponentials, and
// returns its logarithm, of all t.
func share(logs [][]float64) []float64 {
	best, total := make([]float64, len(logs[0])), make([]float64, len(logs[0]))
	for t := range best {
		best[t] = math.Inf(-1)
		for _, l := range logs {
			best[t] = max(best[t], l[t])
		}
	}
	for _, l := range logs {
		floats.Add(total, relative(l, best))
	}
	for _, l := range logs {
		floats.Div(l, total)
	}
	for t, sum := range total {
		best[t] += math.Log(sum)
	}
	return best
}
