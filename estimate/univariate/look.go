package univariate

import (
	"math"

	"github.com/gauze-dp/gauze/parts/fit1d"
)

// look measures edges that look closer, if that leaves enough for the shapes.
func (f *fit) look(edges []float64, share float64) error {
	if f.looks == mostLooks || f.Left() < (share+f.tuning.ReserveShare)*f.Mu2 {
		return nil
	}
	f.looks++
	h, err := f.histogram(stepLooks, edges, f.Mu(share))
	if err == nil {
		f.all = append(f.all, h)
	}
	return err
}

// zoom fits, and looks closer, as long as some component is narrower than the bins.
func (f *fit) refine() (doubt string, err error) {
	for {
		if doubt, err := f.search(false); err != nil || doubt != "" {
			return doubt, err
		}
		d := f.data()
		least := math.Inf(1)
		for _, c := range f.found {
			if !d.Resolved(c) && !d.Atom(c) && c.Rows > f.tuning.LeastSDs*f.sigma(f.tuning.RefineShare) {
				least = math.Min(least, c.Rows)
			}
		}
		if math.IsInf(least, 1) {
			return "", nil
		}
		before := f.looks
		if is, err := f.grid(d); err != nil || is {
			if err != nil {
				return "", err
			}
			continue
		}
		if outside := f.outside(d); len(outside) > 0 {
			err = f.hunt(outside)
		} else {
			err = f.look(d.Edges(f.found, f.sigma(f.tuning.RefineShare)), f.share(least, f.tuning.RefineSDs, f.tuning.RefineShare))
		}
		if err != nil || f.looks == before {
			return "", err
		}
	}
}

// lattice tests whether values are recorded in an undeclared unit, if components are narrower than
// the bins: repeated values show no gaps, and look like many narrow components. If it finds a unit
// with more values than components can represent, it goes on as if it had been declared.
func (f *fit) grid(d *fit1d.Data) (is bool, err error) {
	if f.Grids[0].Unit > 0 {
		return false, nil
	}
	low, high, rows := math.Inf(1), math.Inf(-1), 0.0
	for _, c := range f.found {
		if from, to := d.Bin(c); c.Rows > f.tuning.GridPart*f.Rows && d.Seen(c) {
			low = math.Min(low, math.Max(from, c.Mean()-f.tuning.GridReach*c.SD))
			high = math.Max(high, math.Min(to, c.Mean()+f.tuning.GridReach*c.SD))
			rows += c.Rows
		}
	}
	share := f.share(rows, f.tuning.GridSDs, f.tuning.RefineShare)
	on, ok := fit1d.StretchWithin(f.all, low, high, f.sigma(share))
	points := fit1d.RoundNumbers(on.Low, on.High, combPoints)
	if !ok || points == nil || math.Abs(math.Log(on.High-on.Low)-math.Log(f.combed)) < f.tuning.GridApart {
		if u := f.multiples(d); u > 0 {
			f.recorded(fit1d.Grid{Unit: u}, d)
			return true, nil
		}
		return false, nil
	}
	before := f.looks
	f.combed = on.High - on.Low
	if err := f.look(fit1d.PointEdges(points), share); err != nil || f.looks == before {
		return false, err
	}
	h := f.all[len(f.all)-1]
	counts := fit1d.PointCounts(points, h.Edges, h.Counts)
	values := 0
	for _, c := range counts {
		if c > f.tuning.LeastSDs*h.Sigma {
			values++
		}
	}
	if l, ok := fit1d.InferGrid(points, counts, h.Sigma, on.Rows, on.About); ok && values > f.few() {
		f.recorded(l, d)
		return true, nil
	}
	f.all = f.all[:len(f.all)-1] // too many bins
	return false, nil
}

// few returns how many values components can represent one by one.
func (f *fit) few() int {
	if k := f.Problem.Components; k > 0 {
		return max(leastNarrow-1, k)
	}
	return min(fewValues, f.Most())
}

// multiples returns the unit in which the values seem to be recorded, though none is declared: at
// least three components too narrow to be resolved lie at multiples of it as far as their bins
// tell, which is unlikely by chance. 0 if there is none.
func (f *fit) multiples(d *fit1d.Data) float64 {
	for _, u := range units {
		values, off := map[float64]bool{}, false
		for _, c := range f.found {
			low, high := d.Bin(c)
			if d.Resolved(c) || math.Abs(c.Mean()) > u*0x1p50 {
				continue
			}
			values[math.Ceil(low/u)] = true
			off = off || high-low > u*gridBin || math.Ceil(low/u)*u > high
		}
		if len(values) > f.few() && !off {
			return u
		}
	}
	return 0
}

// recorded goes on as if the lattice had been declared, with one component for those that stood for
// its values.
func (f *fit) recorded(l fit1d.Grid, d *fit1d.Data) {
	var narrow, wide []fit1d.Component
	for _, c := range f.found {
		switch {
		case !d.Resolved(c) || c.SD < l.Unit:
			narrow = append(narrow, c)
		case d.Seen(c):
			wide = append(wide, c)
		}
	}
	one := fit1d.Component{Rows: fit1d.RowsOf(narrow)}
	one.Origin, one.SD = fit1d.MeanSD(narrow)
	f.found = wide
	if one.SD > 0 {
		f.found = append(f.found, one)
	}
	f.Grids[0], f.known.Least = l, l.Unit/math.Sqrt(12)
	f.RecordedIn(l, 0)
	for i, h := range f.all {
		f.all[i] = h.Recorded(l)
	}
}

// units are those that values are likely recorded in.
var units = []float64{1000, 100, 10, 5, 1, .5, .1, .01, .001}

// Utility constants of units, guesses.
const (
	gridBin     = 1. / 16 // of a unit: bins that are no wider tell whether there is a multiple in them
	leastNarrow = 3
	fewValues   = 6 // if the number of components is open
	combPoints  = 4096
)

// A hole is a part of the line where no component was found, though it holds about rows rows. An
// end may be infinite; then unit is the least distance from the other end that is distinguished.
type hole struct{ low, high, unit, rows float64 }

// outside returns the parts of the line beyond all edges, if the mean of some component lies there:
// it may be a wide one around the others.
func (f *fit) outside(d *fit1d.Data) []hole {
	rows, unit := 0.0, 0.0
	for _, c := range f.found {
		if low, high := d.Bin(c); math.IsInf(high-low, 1) {
			rows = math.Max(rows, c.Rows)
		} else {
			unit = math.Max(unit, c.SD)
		}
	}
	if rows == 0 {
		return nil
	}
	first, last := math.Inf(1), math.Inf(-1)
	for _, h := range f.all {
		if n := len(h.Edges); n > 0 {
			first, last = math.Min(first, h.Edges[0]), math.Max(last, h.Edges[n-1])
		}
	}
	return []hole{{math.Inf(-1), first, unit, rows}, {last, math.Inf(1), unit, rows}}
}

// holes returns the bins of the last histogram that no component reaches, if they hold more than
// noise.
func (f *fit) holes() (holes []hole) {
	h := f.all[len(f.all)-1]
	expected := f.data().Expected(f.found)
	expected = expected[len(expected)-len(h.Counts):]
	seen := math.Max(f.tuning.HoleSDs*h.Sigma, f.tuning.LeastSDs*f.sigma(f.tuning.RefineShare))
	for b, count := range h.Counts {
		if count-expected[b] < seen || expected[b] > f.tuning.HolePart*count {
			continue
		}
		next := hole{math.Inf(-1), math.Inf(1), 0, count}
		if b > 0 {
			next.low = h.Edges[b-1]
		}
		if b < len(h.Edges) {
			next.high = h.Edges[b]
		}
		for _, c := range f.found {
			next.unit = math.Max(next.unit, c.SD)
		}
		holes = append(holes, next)
	}
	return holes
}

// hunt measures where in the holes rows are: in bins of one width, or by powers of two if there is
// no end. Finer histograms then do the rest. So a component that the gaps did not show is found
// without a threshold.
func (f *fit) hunt(holes []hole) error {
	edges := f.data().Edges(f.found, f.sigma(f.tuning.RefineShare))
	share := 0.0
	for _, h := range holes {
		edges = fit1d.JoinEdges(edges, fit1d.HoleEdges(h.low, h.high, h.unit))
		sds := f.tuning.SearchSDs
		if math.IsInf(h.high-h.low, 1) {
			sds = f.tuning.WideSDs
		}
		share = math.Max(share, f.share(h.rows, sds, f.tuning.RefineShare))
	}
	return f.look(edges, share)
}

// forget merges the bins of large histograms that lie far from all components.
func (f *fit) forget(d *fit1d.Data) {
	var near []fit1d.Leaf
	for _, c := range f.found {
		reach := nearSDs * c.SD
		if low, high := d.Bin(c); !math.IsInf(high-low, 0) {
			reach = math.Max(reach, high-low)
		}
		near = append(near, fit1d.Leaf{Low: c.Mean() - reach, High: c.Mean() + reach})
	}
	for i, h := range f.all {
		if len(h.Edges) > largeBins {
			f.all[i] = h.Around(near)
		}
	}
}

// Utility constants of looking closer, guesses.
const (
	nearSDs   = 3 // see forget; a leaf's surroundings add its width on both sides
	largeBins = 64
)
