package knowncov

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parts/component"
)

// law knows what looks would give on average: by sums over public points.
type law struct {
	d int
	z *mat.Dense // the points, each after a 1: rows of 1 + d numbers
	// used points, the first, are summed over.
	used int
}

// Points of the law: one for every row, within limits, and no more than pointWork allows. Utility
// constants, guesses.
const (
	pointWork   = 2e6
	leastPoints = 800.0
	mostPoints  = 20000.0
	// Looks whose frames many parts reach cost the product of the two: so much is spent on each,
	// but on fewestPoints at least.
	pairWork     = 6e5
	fewestPoints = 400.0
)

func newLaw(d int, rows float64) *law {
	most := math.Min(mostPoints, pointWork/float64(statistics(d)*(d+2)))
	half := int(math.Max(leastPoints, math.Min(most, rows))) / 2
	points := component.NewPoints(d).Z
	half = min(half, len(points)/d)
	w := &law{d: d, z: mat.NewDense(2*half, 1+d, nil)}
	for i := range half {
		for k, sign := range [2]float64{1, -1} {
			row := w.z.RawRowView(2*i + k)
			row[0] = 1
			for j := range d {
				row[1+j] = sign * points[i*d+j]
			}
		}
	}
	w.used = 2 * half
	return w
}

func (w *law) points() float64 { return float64(w.used) }

// limit uses fewer points for a look in which many parts reach many frames: pairWork allows.
func (w *law) limit(white *whitening, l *look, parts []part) {
	pairs := 0
	for _, p := range parts {
		frames, _ := w.reached(white, l, p)
		pairs += len(frames)
	}
	most := pairWork / float64(max(pairs, 1)*statistics(w.d))
	w.used = min(w.z.RawMatrix().Rows, 2*int(math.Max(fewestPoints, most)/2))
}

// statistics returns the number of statistics that a look has for each frame.
func statistics(d int) int { return 1 + d + d*(d+1)/2 }

// reach returns the distance beyond a frame's radius from which on no point of a part comes within
// it, except for 1e-9 of them.
func (w *law) reach() float64 { return math.Sqrt(float64(w.d)) + 6 }

// average returns the expected result of look l for the parts and, if slope is set, its derivative:
// 1 + d columns for each part, by rows and by at.
func (w *law) average(white *whitening, l *look, parts []part, slope bool) (mean []float64, jacobian *mat.Dense) {
	n, width := statistics(w.d), 1
	mean = make([]float64, n*len(l.centers))
	if slope {
		width = 1 + w.d
		jacobian = mat.NewDense(len(mean), len(parts)*width, nil)
	}
	per := 1 / w.points()
	for j, p := range parts {
		frames, shifts := w.reached(white, l, p)
		for a, sums := range w.sums(l, frames, shifts, width) {
			for k := range n {
				own, at := sums[k*width:(k+1)*width], frames[a]*n+k
				mean[at] += p.rows * per * own[0]
				if slope {
					row := jacobian.RawRowView(at)[j*width:]
					row[0] = per * own[0]
					// the derivative of E T(z + s) by s is E T(z + s) z
					for c := 1; c < width; c++ {
						row[c] = p.rows * per * own[c]
					}
				}
			}
		}
	}
	return mean, jacobian
}

// reached returns the frames that a part reaches, and its place in them.
func (w *law) reached(white *whitening, l *look, p part) (frames []int, shifts [][]float64) {
	for i, c := range l.centers {
		s := white.way(c, p)
		if norm := dense.Norm(s); norm <= l.radius[i]+w.reach() { // false for NaN
			frames, shifts = append(frames, i), append(shifts, s)
		}
	}
	return frames, shifts
}

// A share of a point below leastShare counts for nothing, and one of e^-nothing is not computed.
const leastShare, nothing = 1e-4, 14.0

// sums returns the sums of T(z + shift) (1, z), T the statistics, over the points z of a part,
// frame by frame; the first width numbers of (1, z).
func (w *law) sums(l *look, frames []int, shifts [][]float64, width int) [][]float64 {
	d, stats := w.d, make([]float64, statistics(w.d))
	out := make([][]float64, len(frames))
	for a := range frames {
		out[a] = make([]float64, len(stats)*width)
	}
	y, score := make([]float64, len(frames)*d), make([]float64, len(frames))
	for t := range w.used {
		z := w.z.RawRowView(t)
		best := math.Inf(-1)
		for a, s := range shifts {
			n2 := 0.0
			for c, v := range z[1:] {
				v += s[c]
				y[a*d+c] = v
				n2 += v * v
			}
			score[a] = l.logWeight[frames[a]] - n2/2
			best = math.Max(best, score[a])
		}
		total := 0.0
		for a, v := range score {
			if score[a] = 0; v > best-nothing {
				score[a] = math.Exp(v - best)
				total += score[a]
			}
		}
		for a, i := range frames {
			own := y[a*d : (a+1)*d]
			if share := score[a] / total; share > leastShare && dense.Norm2(own) <= l.radius[i]*l.radius[i] {
				fill(stats, share, own)
				for k, v := range stats {
					sums := out[a][k*width : (k+1)*width]
					for c := range sums {
						sums[c] += v * z[c]
					}
				}
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
