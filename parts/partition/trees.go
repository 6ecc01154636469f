package partition

import (
	"cmp"
	"slices"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// A set is the private coreset of one box, in some of its columns: coordinate i is (x[Columns[i]] -
// Center)/Scale of the box.
type set struct {
	Box     Box
	Columns []int
	Leaves  *coreset.Coreset
}

// Utility constants of the trees, guesses.
const (
	mostDims  = 3   // columns of a tree
	treeCells = 300 // a cell with less than this part of the rows is not split
	treeSDs   = 4.5 // half-width of a tree's box, in sds of the box's rows
	// levels of a tree in up to three columns: those of coreset.Levels.
	levels = 5
	// mixedGain: a column with less looks like one component's.
	mixedGain = .01
	leastDims = 2 // columns of a tree where none looks mixed
)

// TreeStep returns the step that Start may measure.
func TreeStep(step string, share float64) kernel.Step {
	return kernel.Step{Name: step, Query: query.PartsOf(query.GridCounts{}.Kind()), Share: share, Most: levels, Source: "KSSU19 Section C.3"}
}

// trees measures a tree of counts in every box that is wanted, all at once, in the columns that
// look least like those of one component. mu2 is the part of mu^2 that it may spend.
//
// Source: [KSSU19] Section C.3 of the restatement; all boxes at once by its Section A.3.
func trees(a *kernel.SubBudget, step string, found []Box, wanted func(Box) bool, rows, mu2 float64) ([]set, error) {
	var sets []set
	grown := make([]*coreset.Tree, len(found))
	for i, b := range found {
		s := set{Box: b, Columns: b.mixed()}
		if !wanted(b) { // a tree of no level
			s.Columns = s.Columns[:1]
			grown[i] = coreset.NewTree(s.frame(), []float64{1}, 1, 0, 0)
			continue
		}
		first, last := coreset.Levels(len(s.Columns), false)
		half := slices.Repeat([]float64{treeSDs}, len(s.Columns))
		grown[i] = coreset.NewTree(s.frame(), half, first, last, rows/treeCells)
		s.Leaves = grown[i].Coreset()
		sets = append(sets, s)
	}
	return sets, coreset.Grow(grown, func(queries []query.GridCounts) ([]kernel.Answer, error) {
		return parts.AskLeaves(a, step, partition(found), queries, parts.Mu(mu2/levels))
	})
}

// frame takes rows to the coordinates of the set.
func (s set) frame() query.Affine {
	f := query.Affine{Columns: s.Columns}
	for i, j := range s.Columns {
		f.Center = append(f.Center, s.Box.Center[j])
		w := make([]float64, len(s.Columns))
		w[i] = 1 / s.Box.Scale[j]
		f.W = append(f.W, w)
	}
	return f
}

// isMixed reports that some column of the box looks like more than one component's.
func (b Box) isMixed() bool {
	return slices.ContainsFunc(b.Gain, func(g float64) bool { return g > mixedGain })
}

// mixed returns the columns, in order, in which two components explain what was seen of the box
// better than one; where none is, some columns.
func (b Box) mixed() []int {
	columns := slices.DeleteFunc(parts.Upto(len(b.Center)), func(j int) bool { return b.Atom[j] || !(b.Scale[j] > 0) })
	if len(columns) == 0 {
		// some column was measured
		return []int{slices.IndexFunc(b.Scale, func(s float64) bool { return s > 0 })}
	}
	slices.SortStableFunc(columns, func(i, j int) int { return cmp.Compare(b.Gain[j], b.Gain[i]) })
	n := 0
	for n < min(len(columns), mostDims) && b.Gain[columns[n]] > mixedGain {
		n++
	}
	if n == 0 {
		n = min(len(columns), leastDims)
	}
	columns = columns[:n]
	slices.Sort(columns)
	return columns
}
