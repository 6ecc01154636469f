// Package kmeans parts points by Lloyd's iteration from k-means++ centres: what learners and the
// fits to coresets start from. All choices are the caller's numbers in [0, 1).
package kmeans

import (
	"math"
)

// A Search is k-means on one set of points, and the memory that it works in.
type Search struct {
	// Part is the centre of every point, the first of those that are nearest.
	Part []int
	// Centers are k points.
	Centers [][]float64
	// Move puts every centre at the mean of its points, which New has it do by weighted sums.
	Move func()

	points [][]float64
	weight []float64
	// of every point: squared distance to the centres, and that times its weight
	near, mass []float64
	sums       [][]float64
	total      []float64
}

// New prepares the search for k parts. The points may change between its calls. Weights of nil are
// 1 each.
func New(points [][]float64, weight []float64, k int) *Search {
	d, n := len(points[0]), len(points)
	s := &Search{Part: make([]int, n), Centers: make([][]float64, k), points: points, weight: weight,
		near: make([]float64, n), sums: make([][]float64, k), total: make([]float64, k)}
	if s.mass = s.near; weight != nil {
		s.mass = make([]float64, n)
	}
	for j := range k {
		s.Centers[j], s.sums[j] = make([]float64, d), make([]float64, d)
	}
	s.Move = s.move
	return s
}

// Seed draws k-means++ centres: after the first each next one a point, with probability
// proportional to its squared distance to those drawn, times its weight.
func (s *Search) Seed(first int, uniform func() float64) {
	for i := range s.near {
		s.near[i] = math.Inf(1)
	}
	at := first
	for j, center := range s.Centers {
		if j > 0 {
			at = Pick(s.mass, uniform())
		}
		copy(center, s.points[at])
		if j == len(s.Centers)-1 {
			return
		}
		for i, x := range s.points {
			s.near[i] = min(s.near[i], Distance2(x, center))
		}
		for i, w := range s.weight {
			s.mass[i] = w * s.near[i]
		}
	}
}

// Pick returns the index that a number in [0, 1) falls on if each has a share like its mass; the
// last one if there is no mass.
func Pick(mass []float64, u float64) int {
	total := 0.0
	for _, m := range mass {
		total += m
	}
	at, left := len(mass)-1, u*total
	for i, m := range mass {
		if m > 0 {
			at = i
		}
		if left -= m; left < 0 {
			break
		}
	}
	return at
}

// Lloyd moves the centres to the means of their points and the points to the nearest centres, until
// no point changes its part or all steps are done, and returns the sum of the squared distances. A
// centre without points stays.
func (s *Search) Lloyd(steps int) (cost float64) {
	for step := range steps {
		var moved bool
		if cost, moved = s.Assign(); step > 0 && !moved || step == steps-1 {
			break
		}
		s.Move()
	}
	return cost
}

// Assign gives every point to the nearest centre, and says whether one changed its part.
func (s *Search) Assign() (cost float64, moved bool) {
	part, centers := s.Part[:len(s.points)], s.Centers
	for i, x := range s.points {
		at, least := nearest(x, centers)
		moved = moved || part[i] != at
		part[i] = at
		cost += least
	}
	return cost, moved
}

// nearest returns the first of the centres that are nearest to x.
func nearest(x []float64, centers [][]float64) (at int, least float64) {
	least = math.Inf(1)
	for j, c := range centers {
		if v := Distance2(x, c); v < least {
			at, least = j, v
		}
	}
	return at, least
}

// move takes the centres to the means of their points.
func (s *Search) move() {
	clear(s.total)
	for _, sum := range s.sums {
		clear(sum)
	}
	part, sums, total := s.Part, s.sums, s.total
	for i, x := range s.points {
		w, j := 1.0, part[i]
		if s.weight != nil {
			w = s.weight[i]
		}
		total[j] += w
		sum := sums[j]
		for c, v := range x {
			sum[c] += w * v
		}
	}
	for j, w := range s.total {
		for c, v := range s.sums[j] {
			if w > 0 {
				s.Centers[j][c] = v / w
			}
		}
	}
}

// Distance2 returns the squared Euclidean distance of x from as many entries of y.
func Distance2(x, y []float64) float64 {
	s := 0.0
	y = y[:len(x):len(y)]
	for i, v := range x {
		w := v - y[i]
		s += w * w
	}
	return s
}
