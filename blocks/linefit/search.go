package linefit

import (
	"math"
	"slices"
	"sort"
)

// Options of a search.
type Options struct {
	// Most is the largest number of components. Required.
	Most int
	// Spare is how many more there may be on the way: a false one must not take the place of a true one.
	Spare int
	// Penalty is what a component must take off the cost to be added. Required.
	Penalty float64
	// Exchange tries to exchange components even if those found explain the counts.
	Exchange bool
	// Start are components to begin with.
	Start []Component
}

// Utility constants of the search.
const (
	firstSteps  = 3
	quickSteps  = 8
	finalists   = 3 // of the candidates, after the first steps
	chanceSDs   = 1.0
	polishSteps = 30
	candidates  = 4 // places where rows are missing that are tried for a component
	mostRounds  = 3 // of exchanges
	tried       = 4 // components of which the exchange is tried, in a round
	better      = .5
)

// Search returns the components that explain the counts best, as far as adding, splitting and exchanging components one by one finds them,
// and the cost. Components are added as long as each takes more than the penalty off the cost.
func (d *Data) Search(o Options) ([]Component, float64) {
	cs, cost := d.Polish(o.Start, polishSteps)
	cs, cost = d.grow(cs, cost, o)
	for round := range mostRounds {
		if !o.Exchange && d.explained(cost) || round > 0 && d.explained(cost) {
			break
		}
		next, c := d.exchange(cs, cost, o)
		if c > cost-better {
			break
		}
		cs, cost = next, c
	}
	return d.drop(cs, cost, o)
}

// explained reports a cost that could be chance.
func (d *Data) explained(cost float64) bool {
	bins := float64(len(d.count))
	return cost < bins+chanceSDs*math.Sqrt(2*bins)
}

// grow adds components as long as one pays.
func (d *Data) grow(cs []Component, cost float64, o Options) ([]Component, float64) {
	for len(cs) < o.Most+o.Spare {
		next, c := d.best(cs)
		if next == nil || c > cost-o.Penalty {
			break
		}
		cs, cost = next, c
	}
	return cs, cost
}

// best adds the one component that takes most off the cost; nil if there is no candidate.
func (d *Data) best(cs []Component) (best []Component, least float64) {
	least = math.Inf(1)
	type start struct {
		cs   []Component
		cost float64
	}
	var starts []start
	for _, next := range append(d.missing(cs), d.splits(cs)...) {
		next, c := d.polish(next, d.near(next, next[len(next)-1]), firstSteps)
		starts = append(starts, start{next, c})
	}
	sort.SliceStable(starts, func(i, j int) bool { return starts[i].cost < starts[j].cost })
	for _, s := range starts[:min(finalists, len(starts))] {
		if next, c := d.polish(s.cs, d.near(s.cs, s.cs[len(s.cs)-1]), quickSteps); c < least {
			best, least = next, c
		}
	}
	if best == nil {
		return nil, least
	}
	return d.Polish(best, polishSteps)
}

// near are the components that share rows with c.
func (d *Data) near(cs []Component, c Component) (active []int) {
	const sds = 4
	for i, other := range cs {
		if gap := math.Abs((other.Origin - c.Origin) + (other.Offset - c.Offset)); gap <= sds*(other.SD+c.SD) {
			active = append(active, i)
		}
	}
	return active
}

// missing are cs with one more component, where the counts exceed what cs explain: at the clearest runs of bins.
func (d *Data) missing(cs []Component) (out [][]Component) {
	type run struct{ low, high, rows, z float64 }
	var runs []run
	expected := d.Expected(cs)
	for _, s := range d.sets {
		bins := len(s.edges) - 1
		if bins < 1 {
			continue
		}
		excess, variance := make([]float64, bins+1), make([]float64, bins+1)
		for i := range bins {
			b := s.first + 1 + i
			excess[i+1] = excess[i] + d.count[b] - expected[b]
			variance[i+1] = variance[i] + 1/d.weight[b]
		}
		for length := 1; length <= bins; length += max(1, length/3) {
			for from := 0; from+length <= bins; from++ {
				rows := excess[from+length] - excess[from]
				if v := variance[from+length] - variance[from]; rows > 0 && rows*rows > v {
					runs = append(runs, run{s.edges[from], s.edges[from+length], rows, rows / math.Sqrt(v)})
				}
			}
		}
	}
	sort.SliceStable(runs, func(i, j int) bool { return runs[i].z > runs[j].z })
	var taken []run
	for _, r := range runs {
		if len(taken) == candidates {
			break
		}
		if math.IsInf(r.high-r.low, 0) {
			continue
		}
		if slices.ContainsFunc(taken, func(t run) bool { return t.low < r.high && r.low < t.high && t.high-t.low < 8*(r.high-r.low) }) {
			continue
		}
		taken = append(taken, r)
		width := r.high - r.low
		c := Component{Rows: r.rows, Origin: r.low, Offset: width / 2, SD: width / 3}
		if d.known.SD > 0 {
			c.SD = d.known.SD
		}
		out = append(out, append(clone(cs), c))
	}
	return out
}

// splits are cs with one of them made two: side by side, or one inside the other.
func (d *Data) splits(cs []Component) (out [][]Component) {
	split := func(j int, a, b, narrow, wide, part float64) {
		next := append(clone(cs), cs[j])
		one, two := &next[j], &next[len(cs)]
		one.Offset, two.Offset = one.Offset+a*one.SD, two.Offset+b*two.SD
		one.Rows, two.Rows = one.Rows*(1-part), two.Rows*part
		if d.known.SD == 0 {
			one.SD, two.SD = one.SD*wide, two.SD*narrow
		}
		out = append(out, next)
	}
	for j := range cs {
		split(j, -.8, .8, .6, .6, .5)
		if d.known.SD == 0 {
			split(j, 0, 0, .3, 1.2, .4)
			split(j, -.3, 1, .4, .9, .3)
			split(j, .3, -1, .4, .9, .3)
		}
	}
	return out
}

// exchange removes each of the components that are worth least, one at a time, and adds the best instead.
func (d *Data) exchange(cs []Component, cost float64, o Options) ([]Component, float64) {
	type removal struct {
		rest []Component
		cost float64
	}
	var removals []removal
	for j, gone := range cs {
		rest := slices.Delete(clone(cs), j, j+1)
		rest, c := d.polish(rest, d.near(rest, gone), quickSteps)
		removals = append(removals, removal{rest, c})
	}
	sort.SliceStable(removals, func(i, j int) bool { return removals[i].cost < removals[j].cost })
	best, least := cs, cost
	o.Most, o.Spare, o.Penalty = len(cs), 0, 0
	for _, r := range removals[:min(tried, len(removals))] {
		if next, c := d.grow(r.rest, r.cost, o); c < least {
			best, least = next, c
		}
	}
	return best, least
}

// drop leaves out the components that are not worth the penalty, and those beyond the most, the least first.
func (d *Data) drop(cs []Component, cost float64, o Options) ([]Component, float64) {
	for len(cs) > 1 {
		best, least := cs, cost+o.Penalty
		if len(cs) > o.Most {
			least = math.Inf(1)
		}
		for j, gone := range cs {
			rest := slices.Delete(clone(cs), j, j+1)
			if rest, c := d.polish(rest, d.near(rest, gone), polishSteps); c < least {
				best, least = rest, c
			}
		}
		if len(best) == len(cs) {
			break
		}
		cs, cost = d.Polish(best, polishSteps)
	}
	return cs, cost
}
