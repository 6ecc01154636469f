package knowncov

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

// Utility constants of the boxes, in standard deviations, guesses.
const (
	// edgeLoss is E max(Z, 0): a side of length s cuts off 2 edgeLoss/s of a component on average
	// over where it lies.
	edgeLoss = .4
	// mostTogether is the number of coordinates that one histogram counts.
	mostTogether = 8
	// spareStarts are kept in addition to the requested components, or to twice those that are
	// allowed.
	spareStarts = 4
)

// side of a box in d coordinates.
func (t Tuning) side(d int) float64 {
	return math.Max(t.LeastSide, t.SidePerCoordinate*float64(min(d, mostTogether)))
}

// blocksOf cuts the coordinates into runs of nearly equal length, at most mostTogether.
func blocksOf(d int) (blocks [][]int) {
	n, all := (d+mostTogether-1)/mostTogether, parts.Upto(d)
	for b := range n {
		blocks = append(blocks, all[b*d/n:(b+1)*d/n])
	}
	return blocks
}

// A site is where rows were found: in the first len(z) whitened coordinates, counted from the
// origin.
type site struct {
	z    []float64
	rows float64
}

// locate finds the starts. Boxes are cut in z = inv x, about the origin: what float64 keeps of a
// row it keeps of z, up to the condition of the known covariance, and from the first look on every
// frame is centred on its component.
//
// The coordinates of the known covariance's triangular root depend on the columns before them
// alone, so later blocks are counted within the sites of earlier ones, a row in the nearest one's:
// the noise grows as the root of the number of blocks.
func (f *fit) locate() ([]part, error) {
	sites := []site{{}}
	blocks := blocksOf(f.Problem.Columns)
	for b, block := range blocks {
		q, s, step := query.BoxKeys{Joint: true}, f.tuning.side(len(block)), stepBoxes
		if b > 0 {
			q.Partition, step = f.nearest(sites), stepWithin
		}
		grid := query.Grid{Map: f.white.coordinates(block[0], block[len(block)-1]+1)}
		for i := range block {
			grid.Side, grid.Offset = append(grid.Side, s), append(grid.Offset, s*offset(i))
		}
		q.Grids = slices.Repeat([]query.Grid{grid}, len(sites))
		found, _, err := kernel.StabilityHistogram(f.SubBudget, step, q, f.Mu(f.tuning.boxPart(f.Problem.Columns)/float64(len(blocks))))
		if err != nil {
			return nil, err
		}
		if sites = f.heaviest(within(sites, found, grid)); len(sites) == 0 {
			break
		}
	}
	return parts.Map(sites, func(at site) part {
		return part{base: f.white.point(at.z), at: make([]float64, f.Problem.Columns), rows: at.rows}
	}), nil
}

// offset of the grid in coordinate i, in sides: fixed and public, and no simple fraction, because
// means often are.
func offset(i int) float64 {
	_, frac := math.Modf(float64(i+1) * math.Phi)
	return frac
}

// nearest sorts rows to the nearest of the sites in the coordinates found so far.
func (f *fit) nearest(sites []site) (p query.Partition) {
	for _, at := range sites {
		n := len(at.z)
		frame := f.white.coordinates(0, n)
		frame.Center = f.white.point(at.z)[:n]
		p.Components = append(p.Components, query.Component{Map: frame, Radius: f.tuning.firstRadius(n, f.tuning.side(n))})
	}
	return p
}

// within joins the boxes of every leaf to sites: the fullest box takes its neighbours, corners
// included, then the fullest that is left.
func within(leaves []site, found []kernel.HistogramCell, g query.Grid) (out []site) {
	slices.SortStableFunc(found, func(a, b kernel.HistogramCell) int { return cmp.Compare(b.Count, a.Count) })
	taken := make([]bool, len(found))
	for i, c := range found {
		if taken[i] {
			continue
		}
		total, sum := 0.0, make([]float64, len(g.Side))
		for j := i; j < len(found); j++ {
			if n := found[j]; !taken[j] && n.Leaf == c.Leaf && near(n.Key, c.Key) {
				taken[j] = true
				total += n.Count
				for l, k := range n.Key {
					sum[l] += n.Count * (k - c.Key[l])
				}
			}
		}
		at := site{z: slices.Clone(leaves[c.Leaf].z), rows: total}
		for l, k := range c.Key {
			at.z = append(at.z, g.Offset[l]+(k+.5+sum[l]/total)*g.Side[l])
		}
		out = append(out, at)
	}
	return out
}

func near(a, b []float64) bool { return floats.Distance(a, b, math.Inf(1)) <= 1 }

// heaviest keeps the sites with most rows, as many as could be of use, of those that are numbers in
// the columns' units.
func (f *fit) heaviest(sites []site) []site {
	most := spareStarts + f.Problem.Components
	if f.Problem.Components == 0 {
		most = 2 * max(f.Problem.MaxComponents, 1)
	}
	sites = slices.DeleteFunc(sites, func(at site) bool { return !dense.AllFinite(f.white.point(at.z)) })
	slices.SortStableFunc(sites, func(a, b site) int { return cmp.Compare(b.rows, a.rows) })
	return sites[:min(len(sites), most)]
}
