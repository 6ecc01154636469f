package knowncov

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parts/clip"
)

// law knows what looks would give on average: by sums over public points.
type law struct {
	d int
	z *mat.Dense // the points, each after a 1: rows of 1 + d numbers
}

// Points of the law: one for every row, within limits, and no more than pointWork allows. Utility
// constants, guesses.
const (
	pointWork   = 2e6
	leastPoints = 800.0
	mostPoints  = 20000.0
)

func newLaw(d int, rows float64) *law {
	most := math.Min(mostPoints, pointWork/float64(statistics(d)*(d+2)))
	half := int(math.Max(leastPoints, math.Min(most, rows))) / 2
	points := clip.NewPoints(d).Z
	half = min(half, len(points)/d)
	w := &law{d, mat.NewDense(2*half, 1+d, nil)}
	for i := range half {
		for k, sign := range [2]float64{1, -1} {
			row := w.z.RawRowView(2*i + k)
			row[0] = 1
			for j := range d {
				row[1+j] = sign * points[i*d+j]
			}
		}
	}
	return w
}

func (w *law) points() float64 { return float64(w.z.RawMatrix().Rows) }

// statistics is how many numbers a look has for each frame.
func statistics(d int) int { return 1 + d + d*(d+1)/2 }

// reach: no point of a part that lies farther than this beyond a frame's radius comes within it,
// but for a part of 1e-9.
func (w *law) reach() float64 { return math.Sqrt(float64(w.d)) + 6 }

// average is what look l gives on average for the parts, and, if slope, its derivative: 1 + d
// columns for each part, by rows and by at.
func (w *law) average(white *whitening, l *look, parts []part, slope bool) (mean []float64, jacobian *mat.Dense) {
	n := statistics(w.d)
	mean = make([]float64, n*len(l.centers))
	if slope {
		jacobian = mat.NewDense(len(mean), len(parts)*(1+w.d), nil)
	}
	for j, p := range parts {
		var frames []int
		var shifts [][]float64
		for i, c := range l.centers {
			s := white.between(c, p.base)
			for k := range s {
				s[k] += p.at[k]
			}
			if norm := math.Sqrt(dense.Norm2(s)); norm <= l.radius[i]+w.reach() { // false for NaN
				frames, shifts = append(frames, i), append(shifts, s)
			}
		}
		for a, stats := range w.statistics(l, frames, shifts) {
			i := frames[a]
			var g mat.Dense
			if slope {
				g.Mul(stats.T(), w.z)
			} else {
				g.Mul(stats.T(), w.z.Slice(0, w.z.RawMatrix().Rows, 0, 1))
			}
			per := 1 / w.points()
			for k := range n {
				mean[i*n+k] += p.rows * per * g.At(k, 0)
				if slope {
					row := jacobian.RawRowView(i*n + k)[j*(1+w.d):]
					row[0] = per * g.At(k, 0)
					for c := 1; c <= w.d; c++ { // the derivative of E T(z + s) by s is E T(z + s) z
						row[c] = p.rows * per * g.At(k, c)
					}
				}
			}
		}
	}
	return mean, jacobian
}

// statistics are those of every point of a part in the frames that it reaches, one matrix per frame
// with a row per point.
func (w *law) statistics(l *look, frames []int, shifts [][]float64) []*mat.Dense {
	m, d := w.z.RawMatrix().Rows, w.d
	out := make([]*mat.Dense, len(frames))
	for a := range frames {
		out[a] = mat.NewDense(m, statistics(d), nil)
	}
	y, score := make([]float64, len(frames)*d), make([]float64, len(frames))
	for t := range m {
		z := w.z.RawRowView(t)[1:]
		best := math.Inf(-1)
		for a, s := range shifts {
			n2 := 0.0
			for c, v := range z {
				v += s[c]
				y[a*d+c] = v
				n2 += v * v
			}
			score[a] = l.logWeight[frames[a]] - n2/2
			best = math.Max(best, score[a])
		}
		total := 0.0
		for a := range score {
			score[a] = math.Exp(score[a] - best)
			total += score[a]
		}
		for a, i := range frames {
			own := y[a*d : (a+1)*d]
			if share := score[a] / total; share > 1e-4 && dense.Norm2(own) <= l.radius[i]*l.radius[i] {
				fill(out[a].RawRowView(t), share, own)
			}
		}
	}
	return out
}

// fill writes share (1, y, y y^T).
func fill(row []float64, share float64, y []float64) {
	row[0] = share
	k := 1 + len(y)
	for i, v := range y {
		v *= share
		row[1+i] = v
		for _, u := range y[i:] {
			row[k] = v * u
			k++
		}
	}
}
