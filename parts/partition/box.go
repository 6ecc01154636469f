package partition

import (
	"cmp"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

// A Box is a product of intervals and what the histograms of the columns showed of the rows in it.
// All lists have one entry per column.
type Box struct {
	Low, High []float64
	// Center and Scale are mean and standard deviation of the rows seen in the box; Scale is 0 for
	// a column not yet seen.
	Center, Scale []float64
	Mass          float64 // noisy number of rows, as the last column's histogram showed it
	// Gain is how many nats a row more two components say of what was seen of the column than one.
	Gain []float64
	// Atom says that all rows have the value Center in the column; Scale is then pointSD of it.
	Atom []bool
	// Stale says that the column was seen in a larger box, which another column has cut since.
	Stale []bool
}

// whole returns the box that holds everything.
func whole(d int, rows float64) Box {
	return Box{Low: slices.Repeat([]float64{math.Inf(-1)}, d), High: slices.Repeat([]float64{math.Inf(1)}, d),
		Center: make([]float64, d), Scale: make([]float64, d), Mass: rows, Gain: make([]float64, d), Atom: make([]bool, d), Stale: make([]bool, d)}
}

// Held returns how many rows the boxes hold, about.
func Held(boxes []Box) float64 { return parts.Sum(boxes, func(b Box) float64 { return b.Mass }) }

func (b Box) clone() Box {
	b.Low, b.High, b.Center, b.Scale = slices.Clone(b.Low), slices.Clone(b.High), slices.Clone(b.Center), slices.Clone(b.Scale)
	b.Gain, b.Atom, b.Stale = slices.Clone(b.Gain), slices.Clone(b.Atom), slices.Clone(b.Stale)
	return b
}

// whole reports that no column has cut the box.
func (b Box) whole() bool {
	return !slices.ContainsFunc(b.Low, dense.Finite) && !slices.ContainsFunc(b.High, dense.Finite)
}

// partition has one leaf per box; where boxes overlap, as a narrow one in a wide one does, the
// first takes the row.
func partition(boxes []Box) query.Partition {
	var p query.Partition
	for _, b := range boxes {
		var r query.Region
		for j := range b.Low {
			if math.IsInf(b.Low[j], -1) && math.IsInf(b.High[j], 1) {
				continue
			}
			half := math.Max(b.High[j]/2-b.Low[j]/2, 0x1p-1000)
			r.Conditions = append(r.Conditions, query.Condition{
				Map: query.Affine{Columns: []int{j}, Center: []float64{b.Low[j]/2 + b.High[j]/2}, W: [][]float64{{1 / half}}}, Radius: 1})
		}
		p.Regions = append(p.Regions, r)
	}
	return p
}

// refine cuts every box along column j into its clusters, narrow ones first.
func refine(found []Box, clusters [][]cluster, j int) (next []Box) {
	for b, box := range found {
		cs := clusters[b]
		held := parts.Sum(cs, func(c cluster) float64 { return c.mass })
		if seen := box.Scale[j] > 0; seen && held < leastHeld*box.Mass {
			next = append(next, box)
			continue
		}
		for _, c := range cs {
			n := box.clone()
			for i := range n.Stale {
				n.Stale[i] = n.Stale[i] || len(cs) > 1
			}
			n.Stale[j] = false
			n.Mass, n.Low[j], n.High[j], n.Center[j], n.Scale[j], n.Gain[j], n.Atom[j] = c.mass, c.low, c.high, c.mean, c.sd, c.gain, c.atom
			next = append(next, n)
		}
	}
	if len(next) > mostBoxes {
		slices.SortStableFunc(next, func(x, y Box) int { return int(math.Copysign(1, y.Mass-x.Mass)) })
		next = next[:mostBoxes]
	}
	slices.SortStableFunc(next, func(x, y Box) int { return cmp.Compare(x.logVolume(), y.logVolume()) })
	return next
}

// logVolume orders boxes that overlap: of a row in two boxes, the smaller one is by far the denser.
func (b Box) logVolume() (sum float64) {
	for _, s := range b.Scale {
		if s > 0 {
			sum += math.Log(s)
		}
	}
	return sum
}

// leastHeld: a column that is measured again and shows clusters of less than this part of a box
// leaves it as it was. A utility constant, a guess.
const leastHeld = .5
