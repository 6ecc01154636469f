package kv18

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel/cells"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/boxes"
)

// findPlace takes the fullest bin of width r.width among those that pass the threshold.
//
// Source: [KV18] Section 2 of the restatement. Differs: Gaussian noise.
func (r *run) findPlace() (doubt string, err error) {
	grid := boxes.Grid{Frame: query.Affine{Center: []float64{0}, W: [][]float64{{1}}}, Side: []float64{r.width}, Offset: []float64{0}}
	cells, _, err := cells.Cells(r.Allotment, stepPlace, boxes.BoxKeys{Grids: []boxes.Grid{grid}}, math.Sqrt(placeShare*r.Mu2))
	if err != nil {
		return "", err
	}
	if len(cells) == 0 {
		return "no bin as wide as the scale holds enough rows", nil
	}
	best := cells[0]
	for _, c := range cells {
		if c.Count > best.Count {
			best = c
		}
	}
	if r.center = (best.Key[0] + .5) * r.width; !dense.Finite(r.center) {
		return "the rows lie where numbers end: record the column in another unit", nil
	}
	return "", nil
}
