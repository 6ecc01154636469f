package papers

import (
	"cmp"
	"math"
	"slices"
)

// A tree holds points in nested boxes, so that it can bound the distances of many of them at once.
// Only one goroutine at a time may use it.
type tree struct {
	columns [][]float64 // the points' coordinates; points of the same box are adjacent
	boxes   []box       // box i is split into 2i+1 and 2i+2
	squares []float64   // of the radii, increasing
	place   []int       // index in squares of the square of every radius
	between []int64     // for Within: points between one square and the next
}

// A box bounds some of the points: low[i] <= y[i] <= high[i] for all of them.
type box struct{ low, high []float64 }

// bucket is the largest number of points in a box that is not split. A utility constant: it takes
// the least time for some thousands of points in three dimensions.
const bucket = 64

// newTree returns a tree of finite points, q coordinates each, row-major, for the given radii,
// numbers of at least 0.
func newTree(points []float64, q int, radii []float64) *tree {
	t := &tree{columns: make([][]float64, q), between: make([]int64, len(radii)+1)}
	for _, r := range radii {
		t.squares = append(t.squares, r*r)
	}
	slices.Sort(t.squares)
	for _, r := range radii {
		at, _ := slices.BinarySearch(t.squares, r*r)
		t.place = append(t.place, at)
	}
	var order []int
	for i := range len(points) / q {
		order = append(order, i)
	}
	t.grow(points, order, 0)
	for c := range q {
		for _, i := range order {
			t.columns[c] = append(t.columns[c], points[i*q+c])
		}
	}
	return t
}

// grow puts the points of the given indices into boxes, split at the median of the longest side,
// and reorders order by box.
func (t *tree) grow(points []float64, order []int, at int) {
	if len(order) == 0 {
		return
	}
	q, long := len(t.columns), 0
	first := points[order[0]*q : (order[0]+1)*q]
	b := box{slices.Clone(first), slices.Clone(first)}
	for c := range q {
		for _, i := range order {
			b.low[c], b.high[c] = min(b.low[c], points[i*q+c]), max(b.high[c], points[i*q+c])
		}
		if b.high[c]-b.low[c] > b.high[long]-b.low[long] {
			long = c
		}
	}
	t.boxes = append(t.boxes, make([]box, max(0, at+1-len(t.boxes)))...)
	t.boxes[at] = b
	if half := len(order) / 2; len(order) > bucket {
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(points[i*q+long], points[j*q+long]) })
		t.grow(points, order[:half], 2*at+1)
		t.grow(points, order[half:], 2*at+2)
	}
}

// Within sets counts[r], for every radius, to the number of points y with squared(x, y) at most the
// radius squared.
//
// The counts are those of a scan over single points. For a point y of a box, with y' the point of
// the box nearest to x in every coordinate and y* the farthest, |x_i - y'_i| <= |x_i - y_i| <= |x_i
// - y*_i|. Rounding never reverses an order, not in differences, nor in squares, nor in sums in the
// same order of coordinates: so the rounded squared(x, y) lies between squared(x, y') and
// squared(x, y*), and if no radius is between these two, all of the box is within the same radii.
func (t *tree) Within(x []float64, counts []int64) {
	clear(t.between)
	if n := len(t.columns[0]); n > 0 {
		t.count(0, 0, n, x, 0, len(t.squares))
	}
	for b := 1; b < len(t.between); b++ {
		t.between[b] += t.between[b-1]
	}
	for r, b := range t.place {
		counts[r] = t.between[b]
	}
}

// count adds the points first to last of a box to between: each at the first square that is not
// smaller than its squared distance. The squares before from are known to be too small for all of
// them, and the one at to is known to suffice.
func (t *tree) count(at, first, last int, x []float64, from, to int) {
	least, most := t.boxes[at].squared(x)
	low, _ := slices.BinarySearch(t.squares[from:to], least)
	high, _ := slices.BinarySearch(t.squares[from:to], most)
	from, to = from+low, from+high
	if from == to {
		t.between[from] += int64(last - first)
		return
	}
	if half := (last - first) / 2; last-first > bucket {
		t.count(2*at+1, first, first+half, x, from, to)
		t.count(2*at+2, first+half, last, x, from, to)
		return
	}
	var sums [bucket]float64 // as squared, for all points side by side
	for c, v := range x {
		for l, y := range t.columns[c][first:last] {
			diff := v - y
			sums[l] += float64(diff * diff)
		}
	}
	t.between[from] += int64(last - first)
	// The sign of square - s is that of the comparison, exactly: a square below most is finite, and
	// no s is NaN, as the points are finite. A branch here could not be predicted.
	for k := from; k < to; k++ {
		beyond := int64(0)
		for _, s := range sums[:last-first] {
			beyond += int64(math.Float64bits(t.squares[k]-s) >> 63)
		}
		t.between[k], t.between[k+1] = t.between[k]-beyond, t.between[k+1]+beyond
	}
}

// squared returns bounds on squared(x, y) over the points y of the box.
func (b *box) squared(x []float64) (least, most float64) {
	for i, v := range x {
		up, down := b.high[i]-v, v-b.low[i]
		near, far := max(0, -up, -down), max(up, down)
		least += float64(near * near)
		most += float64(far * far)
	}
	return least, most
}

// squared returns |x-y|^2 for finite x and y, the same for (y, x), and +Inf where it overflows. It
// depends on nothing else: no fused multiply-add.
func squared(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		diff := v - y[i]
		s += float64(diff * diff)
	}
	return s
}
