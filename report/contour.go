package report

import (
	"math"
	"sort"
)

// A grid holds a density at evenly spaced points of a rectangle. Its outermost points are zero, so
// that every level line closes.
type grid struct {
	nx, ny int
	x, y   axis
	z      []float64 // nx ny, row by row
}

func (g grid) at(i, j int) float64 { return g.z[j*g.nx+i] }
func (g grid) px(i float64) float64 {
	return g.x.lo + (g.x.hi-g.x.lo)*i/float64(g.nx-1)
}
func (g grid) py(j float64) float64 {
	return g.y.lo + (g.y.hi-g.y.lo)*j/float64(g.ny-1)
}

// newGrid evaluates the parts' mixture over columns a and b. Every part is widened by one step of
// the grid, so that one without spread in a direction shows as a thin line and not as nothing.
func newGrid(parts []part, a, b int, x, y axis, n int) grid {
	g := grid{nx: n, ny: n, x: x, y: y, z: make([]float64, n*n)}
	stepX, stepY := (x.hi-x.lo)/float64(n-1), (y.hi-y.lo)/float64(n-1)
	for _, q := range parts {
		su, sv := q.sd[a]/x.unit, q.sd[b]/y.unit
		cov := q.correlation(a, b) * su * sv
		su, sv = math.Hypot(su, stepX), math.Hypot(sv, stepY)
		r := cov / su / sv
		rest := math.Sqrt(1 - r*r)
		scale := q.weight / q.inside(a) / q.inside(b) / (2 * math.Pi * su * sv * rest)
		mu, mv := x.u(q.mean[a]), y.u(q.mean[b])
		for j := 1; j < n-1; j++ {
			zv := (g.py(float64(j)) - mv) / sv
			for i := 1; i < n-1; i++ {
				zu := ((g.px(float64(i))-mu)/su - r*zv) / rest
				g.z[j*n+i] += scale * math.Exp(-(zu*zu+zv*zv)/2)
			}
		}
	}
	return g
}

// levels returns the densities above which the given shares of the grid's mass lie.
func (g grid) levels(shares []float64) []float64 {
	sorted := append([]float64(nil), g.z...)
	sort.Sort(sort.Reverse(sort.Float64Slice(sorted)))
	total := 0.0
	for _, v := range sorted {
		total += v
	}
	out := make([]float64, len(shares))
	for s, share := range shares {
		sum := 0.0
		for _, v := range sorted {
			if sum += v; sum >= share*total {
				out[s] = v
				break
			}
		}
	}
	return out
}

// rings returns the closed level lines of g, the higher ground always on the same side, so that
// filling them all at once leaves holes where the ground is lower. It walks through the grid's
// squares (marching squares; the two saddles are decided by the mean of the corners).
func (g grid) rings(level float64) [][]point {
	next := make(map[int]int)
	var starts []int
	for j := 0; j+1 < g.ny; j++ {
		for i := 0; i+1 < g.nx; i++ {
			for _, s := range g.segments(i, j, level) {
				next[s[0]] = s[1]
				starts = append(starts, s[0])
			}
		}
	}
	var out [][]point
	for _, start := range starts {
		var ring []point
		for e, ok := start, true; ok; {
			to, found := next[e]
			if !found {
				break
			}
			delete(next, e)
			ring = append(ring, g.crossing(e, level))
			e = to
		}
		if len(ring) > 2 {
			out = append(out, ring)
		}
	}
	return out
}

// Edges of the grid have numbers: 2 (point) for the one to the right of a point, 2 (point)+1 for
// the one above it.
func (g grid) edges(i, j int) (bottom, right, top, left int) {
	p := j*g.nx + i
	return 2 * p, 2*(p+1) + 1, 2 * (p + g.nx), 2*p + 1
}

// segments of the level line in the square above and to the right of point (i, j), each from edge
// to edge with the higher ground on its left.
func (g grid) segments(i, j int, level float64) [][2]int {
	corner := [4]float64{g.at(i, j), g.at(i+1, j), g.at(i+1, j+1), g.at(i, j+1)}
	state, mean := 0, 0.0
	for b, v := range corner {
		if v >= level {
			state |= 1 << b
		}
		mean += v / 4
	}
	if state == 0 || state == 15 {
		return nil
	}
	bottom, right, top, left := g.edges(i, j)
	switch state {
	case 5:
		if mean >= level {
			return [][2]int{{bottom, right}, {top, left}}
		}
		return [][2]int{{bottom, left}, {top, right}}
	case 10:
		if mean >= level {
			return [][2]int{{left, bottom}, {right, top}}
		}
		return [][2]int{{right, bottom}, {left, top}}
	}
	// Counter-clockwise, the line leaves through the side where high turns to low and enters where
	// low turns to high.
	sides := [4]int{bottom, right, top, left}
	var from, to int
	for b := range 4 {
		here, there := state>>b&1, state>>((b+1)%4)&1
		switch {
		case here == 1 && there == 0:
			from = sides[b]
		case here == 0 && there == 1:
			to = sides[b]
		}
	}
	return [][2]int{{from, to}}
}

// crossing is where the level line crosses an edge.
func (g grid) crossing(edge int, level float64) point {
	p := edge / 2
	i, j := p%g.nx, p/g.nx
	q := p + 1
	if edge%2 == 1 {
		q = p + g.nx
	}
	t := 0.5
	if d := g.z[q] - g.z[p]; d != 0 {
		t = math.Max(0, math.Min(1, (level-g.z[p])/d))
	}
	if edge%2 == 1 {
		return point{X: g.px(float64(i)), Y: g.py(float64(j) + t)}
	}
	return point{X: g.px(float64(i) + t), Y: g.py(float64(j))}
}
