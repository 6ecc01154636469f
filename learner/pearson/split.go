package pearson

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/dense"
)

// Utility constants of the split at a valley.
const (
	valleyBins = 40
	// largest height of a valley, in units of the lower of the two peaks beside it
	valleyDepth = .6
	valleySide  = .05 // of the rows, at least, on either side
	valleyRows  = 4000
	rangeCut    = .005 // of the rows beyond either end of the histogram
)

// A node is some of the rows, in a frame of their own, with what has been learned of them.
type node struct {
	t       table
	f       frame // to the frame of the node above
	us      [][]float64
	tried   bool // whether it has been split
	parts   [2]*node
	learned map[int][]gauss // by number of components; nil if there are none
	solved  bool
	two     []gauss // by moments, in the node's own frame; nil if there are none
}

// pair returns that of the node's rows; nil if there is none.
func (n *node) pair() []gauss {
	if !n.solved {
		n.solved = true
		if m, ok := pair(n.t, n.us); ok {
			n.two = m
		}
	}
	return n.two
}

// newNode whitens rows; false if they do not span all columns.
func newNode(rows [][]float64, rng *rand.Rand) (*node, bool) {
	if len(rows) < 2 || len(rows) <= len(rows[0]) {
		return nil, false
	}
	t, f, ok := whiten(rows)
	if !ok {
		return nil, false
	}
	return &node{t: t, f: f, us: directions(t, rng), learned: map[int][]gauss{}}, true
}

// learn returns the mixture of k components of the node's rows, in the frame of the node above; nil
// if there is none. One component has mean and covariance of the rows; two are also solved for by
// moments; more, and two as well, are those of the node's parts, all k1 + k2 = k, of which the
// likeliest is kept.
//
// Source: [PPE] Section C3 of the restatement.
// Differs: not the hierarchical clustering of [MV10], which cuts along directions in which a
// component that was learned is thin.
func (n *node) learn(k int, rng *rand.Rand) []gauss {
	if m, ok := n.learned[k]; ok {
		return m
	}
	best := n.best(k, 0, rng)
	for a := range best {
		best[a] = n.f.outward(best[a])
	}
	n.learned[k] = best
	return best
}

// best returns learn's result in the node's own frame, with that many steps of matching.
func (n *node) best(k, steps int, rng *rand.Rand) []gauss {
	if k == 1 {
		g, ok := n.t.gaussian()
		if !ok {
			return nil
		}
		return []gauss{g}
	}
	var best []gauss
	value := math.Inf(-1)
	try := func(m []gauss) {
		if !sound(m, n.t) {
			return
		}
		if m, v := match(n.t, m, steps); v > value {
			best, value = m, v
		}
	}
	if k == 2 {
		if m := n.pair(); m != nil {
			try(m)
		}
	}
	if !n.split(rng) {
		return best
	}
	left := float64(n.parts[0].t.n) / float64(n.t.n)
	for k1 := 1; k1 < k; k1++ {
		a, b := n.parts[0].learn(k1, rng), n.parts[1].learn(k-k1, rng)
		if a == nil || b == nil {
			continue
		}
		var both []gauss
		for _, g := range a {
			both = append(both, gauss{g.weight * left, g.mean, g.root})
		}
		for _, g := range b {
			both = append(both, gauss{g.weight * (1 - left), g.mean, g.root})
		}
		try(both)
	}
	return best
}

// outward takes a component to the frame above.
func (f frame) outward(g gauss) gauss {
	c := f.components([]gauss{g})[0]
	return gauss{g.weight, c.Mean, triangular(c.Root)}
}

// split makes the node's parts: at the deepest valley, or, where there is none, by the posterior of
// two components.
//
// Source: [PPE] Section C3 of the restatement.
// Differs: the split by two components, without which pancakes stay together.
func (n *node) split(rng *rand.Rand) bool {
	if n.tried {
		return n.parts[0] != nil
	}
	n.tried = true
	side, ok := n.valley(rng)
	if !ok {
		m := n.pair()
		if m == nil {
			return false
		}
		v := view(m, n.t.d)
		side = func(x []float64) bool { v.at(x); return v.share[1] > v.share[0] }
	}
	var rows [2][][]float64
	for i := range n.t.n {
		part := 0
		if side(n.t.row(i)) {
			part = 1
		}
		rows[part] = append(rows[part], n.t.row(i))
	}
	a, okA := newNode(rows[0], rng)
	b, okB := newNode(rows[1], rng)
	if !okA || !okB {
		return false
	}
	n.parts = [2]*node{a, b}
	return true
}

// valley finds the deepest one over random directions, and over the columns of the frame, and says
// on which side of it a row lies.
func (n *node) valley(rng *rand.Rand) (func(x []float64) bool, bool) {
	us := slices.Clone(n.us)
	for range directionsPer * n.t.d {
		us = append(us, unit(rng, n.t.d))
	}
	for j := range n.t.d {
		u := make([]float64, n.t.d)
		u[j] = 1
		us = append(us, u)
	}
	few := n.t.thin(valleyRows)
	least, at, along := valleyDepth, 0., []float64(nil)
	for _, u := range us {
		if depth, y := deepest(few.project(u).x); depth < least {
			least, at, along = depth, y, u
		}
	}
	return func(x []float64) bool { return dense.Dot(along, x) > at }, along != nil
}

// deepest valley of the values' smoothed histogram: its height over that of the lower peak, and
// where it is.
func deepest(y []float64) (depth, at float64) {
	slices.Sort(y)
	n := len(y)
	cut := int(rangeCut * float64(n))
	low, high := y[cut], y[n-1-cut]
	bins := min(valleyBins, max(8, int(1.5*math.Sqrt(float64(n)))))
	width := (high - low) / float64(bins)
	if !(width > 0) {
		return 1, 0
	}
	counts := make([]float64, bins)
	for _, v := range y {
		counts[min(bins-1, max(0, int((v-low)/width)))]++
	}
	smooth(counts)
	smooth(counts)
	right := make([]float64, bins+1)
	for b := bins - 1; b >= 0; b-- {
		right[b] = math.Max(right[b+1], counts[b])
	}
	depth, left, below := 1., 0., 0.
	for b, c := range counts {
		if below >= valleySide*float64(n) && below <= (1-valleySide)*float64(n) {
			if v := (c + 1) / (math.Min(left, right[b]) + 1); v < depth {
				depth, at = v, low+width*(float64(b)+.5)
			}
		}
		left, below = math.Max(left, c), below+c
	}
	return depth, at
}

func smooth(c []float64) {
	before := c[0]
	for i, v := range c {
		after := v
		if i+1 < len(c) {
			after = c[i+1]
		}
		c[i] = (before + 2*v + after) / 4
		before = v
	}
}
