package coreset

import (
	"fmt"
	"math"
)

// mostCoordinates is what a coreset's points have at most, as those of all trees do: they are
// filled up with zeros and go through loops of fixed length.
const mostCoordinates = 4

type vector = [mostCoordinates]float64

// blocked returns the leaves in blocks, filled up with zeros; the last leaf fills up what is left
// of its block, its weight divided. It panics if there are too many coordinates.
func (c *Coreset) blocked() []block {
	if c.Dim > mostCoordinates {
		panic(fmt.Sprintf("coreset: want points of at most %d coordinates, got %d", mostCoordinates, c.Dim))
	}
	n, out := len(c.Points), make([]block, (len(c.Points)+width-1)/width)
	for i := range len(out) * width {
		to, r, from := &out[i/width], i%width, min(i, n-1)
		for l, x := range c.Points[from] {
			to.at[l][r], to.cell[l][r] = x, c.Cells[from][l]
		}
		if to.weight[r] = c.Weights[from]; from == n-1 {
			to.weight[r] /= float64(len(out)*width - from)
		}
	}
	return out
}

// expect adds up the points by their shares and, if asked, the log-likelihood of the coreset; a
// leaf counts as its centre.
func (e *em) expect(score bool) {
	e.prepare()
	var loglik lanes
	clear(e.lanes)
	for at := 0; at < len(e.p.blocks); at += panel {
		x := e.p.blocks[at:min(at+panel, len(e.p.blocks))]
		shares(e.share, &e.scale, x, e.parts, &loglik, e.p.q > 2, score)
		for j := range e.parts {
			gather(&e.lanes[j], &e.share[j], &e.scale, x, &e.parts[j])
		}
	}
	for j := range e.sums {
		for c := range e.sums[j] {
			e.sums[j][c] = e.lanes[j][c].sum()
		}
	}
	if score {
		e.loglik = loglik.sum()
	}
}

func (l *lanes) sum() (all float64) {
	for _, v := range l {
		all += v
	}
	return all
}

// moments writes the mean of the points, and the upper triangle of the sum of g (x - mean)(x -
// mean)^T, and returns their mass. from is that of add, near the mean: then little cancels.
func (s *sums) moments(from *vector, mean, scatter []float64) (mass float64) {
	mass, at, outer, q := s[0], s[1:], s[9:], len(mean)
	clear(scatter)
	for a := range mean {
		off := at[a] / (mass + massFloor)
		mean[a] = from[a] + off
		for b := a; b < q; b++ {
			scatter[a*q+b] = outer[b-a] - off*at[b]
		}
		outer = outer[mostCoordinates-a:]
		scatter[a*q+a] = math.Max(0, scatter[a*q+a])
	}
	return mass
}
