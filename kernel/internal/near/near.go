// Package near counts the points within distances of a point, with the same result as comparing
// them one by one.
package near

import "slices"

// A Tree holds points in nested boxes, so that the distances of many of them are bounded at once.
type Tree struct {
	columns [][]float64 // the points' coordinates, those of the points of a box next to each other
	boxes   []box
	squares []float64 // ends of the intervals that distances are counted in, squared and increasing
}

// A box is where some of the points are: low[i] <= y[i] <= high[i] for all of them.
type box struct {
	first, last int // which points
	other       int // the second of the two boxes it is cut into, after the first; 0 for none
	low, high   []float64
}

// bucket is the most points of a box that is not cut, unless they are equal: less would cost more
// boxes than it saves points.
const bucket = 64

// New makes a tree of finite points, q coordinates each, row-major; squares are at least one
// number, increasing.
func New(points []float64, q int, squares []float64) *Tree {
	order := make([]int, len(points)/q)
	for i := range order {
		order[i] = i
	}
	t := &Tree{columns: make([][]float64, q), squares: squares}
	for c := range t.columns {
		t.columns[c] = make([]float64, len(order))
	}
	if len(order) > 0 {
		t.grow(points, order, 0)
	}
	for c, column := range t.columns {
		for l, i := range order {
			column[l] = points[i*q+c]
		}
	}
	return t
}

// grow puts the points of the given numbers into boxes, cut at the median of the longest side, and
// leaves order as that of the boxes; first is how many points are before them.
func (t *Tree) grow(points []float64, order []int, first int) {
	q := len(t.columns)
	row := func(i int) []float64 { return points[i*q : (i+1)*q] }
	b := box{first: first, last: first + len(order), low: slices.Clone(row(order[0])), high: slices.Clone(row(order[0]))}
	long := 0
	for i := range q {
		for _, l := range order {
			b.low[i], b.high[i] = min(b.low[i], row(l)[i]), max(b.high[i], row(l)[i])
		}
		if b.high[i]-b.low[i] > b.high[long]-b.low[long] {
			long = i
		}
	}
	at := len(t.boxes)
	t.boxes = append(t.boxes, b)
	if len(order) <= bucket || b.low[long] == b.high[long] {
		return
	}
	slices.SortFunc(order, func(l, m int) int {
		switch x, y := row(l)[long], row(m)[long]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	half := len(order) / 2
	t.grow(points, order[:half], first)
	t.boxes[at].other = len(t.boxes)
	t.grow(points, order[half:], first+half)
}

// Within adds to counts[b], one for each of squares, the number of points whose Squared distance to
// x is at most squares[b] and more than squares[b-1]. Points beyond the last are not counted.
//
// What is counted is what Squared says of every point by itself. For a point y of a box, with y'
// the point of the box nearest to x in every coordinate and y* the farthest, |x_i - y'_i| <= |x_i -
// y_i| <= |x_i - y*_i|, and rounding never turns an order around, not in differences, nor in
// squares, nor in sums in the same order of coordinates: so the rounded Squared(x, y) lies between
// Squared(x, y') and Squared(x, y*), and if one interval holds these two, it holds all of the box.
func (t *Tree) Within(x []float64, counts []int64) {
	if len(t.boxes) > 0 {
		t.within(0, x, counts, 0, len(t.squares))
	}
}

// within is Within for the points of a box, whose intervals are known to be from to to.
func (t *Tree) within(at int, x []float64, counts []int64, from, to int) {
	b := &t.boxes[at]
	least, most := b.squared(x)
	from += interval(t.squares[from:to], least)
	to = from + interval(t.squares[from:to], most)
	switch {
	case from == len(t.squares):
	case from == to:
		counts[from] += int64(b.last - b.first)
	case b.other > 0:
		t.within(at+1, x, counts, from, to)
		t.within(b.other, x, counts, from, to)
	default:
		t.scan(b.first, b.last, x, counts, from, to)
	}
}

// interval is the first i with v <= squares[i], their number if there is none.
func interval(squares []float64, v float64) int {
	i, _ := slices.BinarySearch(squares, v)
	return i
}

// scan compares x with the points from first to last, in the order of coordinates that Squared has.
func (t *Tree) scan(first, last int, x []float64, counts []int64, from, to int) {
	var sums [bucket]float64
	for c, v := range x {
		for l, y := range t.columns[c][first:last] {
			diff := v - y
			sums[l] += float64(diff * diff)
		}
	}
	for _, s := range sums[:last-first] {
		k := from
		for k < to && t.squares[k] < s {
			k++
		}
		if k < len(counts) {
			counts[k]++
		}
	}
}

// squared bounds Squared of x and a point of the box.
func (b *box) squared(x []float64) (least, most float64) {
	for i, v := range x {
		up, down := b.high[i]-v, v-b.low[i]
		near, far := max(0, -up, -down), max(up, down)
		least += float64(near * near)
		most += float64(far * far)
	}
	return least, most
}

// Squared is |x-y|^2 for finite x and y, the same for (y, x) and +Inf where it overflows. It
// depends on nothing else: no fused multiply-add.
func Squared(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		diff := v - y[i]
		s += float64(diff * diff)
	}
	return s
}
