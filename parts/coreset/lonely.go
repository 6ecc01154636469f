package coreset

import "math"

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
