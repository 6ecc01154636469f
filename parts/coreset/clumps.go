package coreset

import (
	"math"
	"slices"
	"sort"

	"github.com/gauze-dp/gauze/learner/kmeans"
	"github.com/gauze-dp/gauze/parts"
)

// Clumps returns the assignments of the leaves to connected groups, one for every density above
// which leaves count that gives another number of groups: leaves that touch each other are
// connected, those below the density join the nearest group. Groups of fewer than least rows do not
// count. Separated components of any scale show as groups, with nothing to start from and nothing
// to converge to.
//
// Source: [KSSU19] Section C.4 of the restatement asks for an empty shell around every component;
// this is its plainest reading.
func (c *Coreset) Clumps(least float64) [][]int {
	near := c.Touching()
	densest := parts.Upto(len(c.Points))
	density := make([]float64, len(c.Points))
	for i, w := range c.Weights {
		density[i] = math.Log(w)
		for _, v := range c.Cells[i] {
			density[i] -= math.Log(v) / 2
		}
	}
	sort.SliceStable(densest, func(a, b int) bool { return density[densest[a]] > density[densest[b]] })
	var out [][]int
	seen := map[int]bool{}
	for _, part := range clumpParts {
		label := slices.Repeat([]int{below}, len(c.Points))
		mass := 0.0
		for _, i := range densest {
			if mass >= part*c.Total {
				break
			}
			mass += c.Weights[i]
			label[i] = open
		}
		if k := c.connect(label, near, least); k > 1 && !seen[k] {
			seen[k] = true
			c.joinNearest(label)
			out = append(out, label)
		}
	}
	return out
}

// clumpParts are the parts of the rows that the densest leaves hold which count. Utility constants.
var clumpParts = []float64{1, .97, .94, .9, .85, .8, .7, .6, .5}

// Labels of leaves that are in no group yet: below the density, or to be connected.
const (
	below = -1
	open  = -2
)

// connect numbers the groups of connected open leaves with at least that many rows from 0 on and
// returns their number.
func (c *Coreset) connect(label []int, near [][]int, least float64) (groups int) {
	for i := range label {
		if label[i] != open {
			continue
		}
		label[i] = groups
		group := []int{i}
		mass := 0.0
		for at := 0; at < len(group); at++ {
			mass += c.Weights[group[at]]
			for _, j := range near[group[at]] {
				if label[j] == open {
					label[j] = groups
					group = append(group, j)
				}
			}
		}
		if mass >= least {
			groups++
			continue
		}
		for _, j := range group {
			label[j] = below
		}
	}
	return groups
}

// joinNearest gives leaves without a group that of the nearest leaf with one.
func (c *Coreset) joinNearest(label []int) {
	given := append([]int(nil), label...)
	for i, l := range given {
		if l >= 0 {
			continue
		}
		best := math.Inf(1)
		for j, g := range given {
			if g < 0 {
				continue
			}
			if d := kmeans.Distance2(c.Points[i], c.Points[j]); d < best {
				best, label[i] = d, g
			}
		}
	}
}

// Touching lists the leaves that touch each leaf, corners included.
func (c *Coreset) Touching() [][]int {
	side := make([][]float64, len(c.Points))
	for i, v := range c.Cells {
		side[i] = make([]float64, c.Dim)
		for l, x := range v {
			side[i][l] = math.Sqrt(12 * x) // a cell of variance x
		}
	}
	near := make([][]int, len(c.Points))
	for i, p := range c.Points {
	others:
		for j := range i {
			for l, x := range p {
				if math.Abs(x-c.Points[j][l]) > 1.001*(side[i][l]+side[j][l])/2 {
					continue others
				}
			}
			near[i], near[j] = append(near[i], j), append(near[j], i)
		}
	}
	return near
}

// DropLonely drops leaves that touch no other leaf and hold fewer rows than sds noise sds: far from
// everything, one leaf of noise weighs as much as a component.
func (c *Coreset) DropLonely(sds float64) {
	keep := Coreset{Dim: c.Dim, SD: c.SD, OwnCells: c.OwnCells}
	for i, touching := range c.Touching() {
		if w := c.Weights[i]; w >= sds*c.SD || len(touching) > 0 {
			keep.Points, keep.Cells, keep.Weights = append(keep.Points, c.Points[i]), append(keep.Cells, c.Cells[i]), append(keep.Weights, w)
			keep.Total += w
		}
	}
	*c = keep
}
