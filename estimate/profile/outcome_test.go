package profile

import (
	"math"
	"testing"
)

// TestShareOfOneBar: a bar that holds all cells, and by rounding a little more, has a share that a
// release may hold.
func TestShareOfOneBar(t *testing.T) {
	cells := 4242.7
	c := &column{cells: cells, cellsSD: 20, clear: 100, moments: moments{mean: 1, meanSD: .01, sd: 1, sdSD: .01}}
	c.list = []bin{{0, 2, math.Nextafter(cells, math.MaxFloat64), 20}}
	if p := c.profile(5000, 44); len(p.Histogram) != 1 || p.Histogram[0].Share > 1 {
		t.Errorf("%+v", p.Histogram)
	}
}
