package boxes

import (
	"slices"

	"github.com/gauze-dp/gauze/blocks/coreset"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Set is the private coreset of one box, in some of its columns: coordinate i is (x[Columns[i]] - Center)/Scale of the box.
type Set struct {
	Box     Box
	Columns []int
	Leaves  *coreset.Coreset
}

// Utility constants of the trees.
const (
	mostDims   = 3   // columns of a tree
	treeCells  = 300 // a cell with less than this part of the rows is not split
	treeSDs    = 4.5 // half-width of a tree's box, in sds of the box's rows
	mostLevels = 6
)

// TreeStep is the step that Trees may measure.
func TreeStep(step string, share float64) kernel.Step {
	return kernel.Step{Name: step, Query: query.PartsOf(query.CellCounts{}.Kind()), Share: share, Most: mostLevels, Source: "KSSU19 Section C.3"}
}

// Trees measures a tree of counts in every box, all at once, in the columns that look least like those of one component. mu2 is the part of mu^2
// that it may spend.
//
// Source: [KSSU19] Section C.3 of the restatement; all boxes at once by its Section A.3.
func Trees(a *kernel.Allotment, step string, found []Box, rows, mu2 float64) ([]Set, error) {
	dims := min(a.Session().Columns(), mostDims)
	first, last := coreset.Levels(dims, false)
	half := slices.Repeat([]float64{treeSDs}, dims)
	sets := make([]Set, len(found))
	trees := make([]*coreset.Tree, len(found))
	for i, b := range found {
		sets[i] = Set{Box: b, Columns: b.mixed(dims)}
		trees[i] = coreset.NewTree(sets[i].frame(), half, first, last, rows/treeCells)
	}
	mu := root(mu2 / float64(last-first+1))
	parts := query.Parts{Partition: Partition(found), Queries: make([]query.Sum, len(found))}
	for {
		open := 0
		for i, t := range trees {
			c, ok := t.Next()
			if ok {
				open++
			} else {
				c = query.CellCounts{Frame: sets[i].frame(), HalfWidth: half, Level: 1, Parents: []uint64{}}
			}
			parts.Queries[i] = c
		}
		if open == 0 {
			break
		}
		ans, err := a.Sum(step, parts, mu)
		if err != nil {
			return nil, err
		}
		values, sigmas := parts.Split(ans.Values, ans.Sigma)
		for i, t := range trees {
			if _, ok := t.Next(); ok {
				t.Take(values[i], sigmas[i])
			}
		}
	}
	for i, t := range trees {
		sets[i].Leaves = t.Coreset()
	}
	return sets, nil
}

// frame takes rows to the coordinates of the set.
func (s Set) frame() query.Affine {
	f := query.Affine{Columns: s.Columns}
	for i, j := range s.Columns {
		f.Center = append(f.Center, s.Box.Center[j])
		w := make([]float64, len(s.Columns))
		w[i] = 1 / s.Box.Scale[j]
		f.W = append(f.W, w)
	}
	return f
}

// mixed are the n columns, in order, in which two components explain what was seen of the box best against one.
func (b Box) mixed(n int) []int {
	columns := make([]int, len(b.Center))
	for j := range columns {
		columns[j] = j
	}
	slices.SortStableFunc(columns, func(i, j int) int { return sign(b.Gain[j] - b.Gain[i]) })
	columns = columns[:n]
	slices.Sort(columns)
	return columns
}
