package fit1d

import (
	"context"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/parts"
)

// Options of a search.
type Options struct {
	// Most is the largest number of components. Required.
	Most int
	// Extra is how many more there may be on the way: a false one must not take the place of a true
	// one.
	Extra int
	// Penalty is what a component must take off the cost to be added. Required.
	Penalty float64
	// Beyond is how many more components there may be in the end, each at a penalty of
	// BeyondPenalty: they describe rows that the first Most leave out.
	Beyond        int
	BeyondPenalty float64
	// Exchange tries to exchange components even if those found explain the counts.
	Exchange bool
	// Quick never does: components are only added and dropped.
	Quick bool
	// Start are components to begin with.
	Start []Component
}

// Utility constants of the search, guesses.
const (
	firstSteps = 3
	quickSteps = 8
	finalists  = 3 // of the candidates, after the first steps
	// where a new component shares rows with more than this, the first steps move it and the one
	// it was split from, because a step of many costs the square of their number
	mostMoved   = 6
	chanceSDs   = 1.0
	polishSteps = 30
	candidates  = 4 // places where rows are missing that are tried for a component
	mostRounds  = 3 // of exchanges
	// a run of bins is tried if its squared sds are more than chanceLog log(bins) - chanceLess: 2.3
	// sds of 60 bins, 4.5 of 4000
	chanceLog, chanceLess = 3.5, 9.0
	tried                 = 4 // components of which the exchange is tried, in a round
	better                = .5
)

// Search returns the components that explain the counts best, as far as adding, splitting and
// exchanging components one by one finds them, and the cost. Components are added as long as each
// takes more than the penalty off the cost. Its error is ctx's.
func (d *Data) Search(ctx context.Context, o Options) ([]Component, float64, error) {
	cs, cost := d.polish(ctx, o.Start, parts.Upto(len(o.Start)), polishSteps)
	cs, cost = d.grow(ctx, cs, cost, o)
	for round := range mostRounds {
		if o.Quick || !o.Exchange && d.explained(cost) || round > 0 && d.explained(cost) {
			break
		}
		next, c := d.exchange(ctx, cs, cost, o)
		if c > cost-better {
			break
		}
		cs, cost = next, c
	}
	cs, cost = d.drop(ctx, cs, cost, o)
	return cs, cost, ctx.Err()
}

// explained reports a cost that could be chance.
func (d *Data) explained(cost float64) bool {
	bins := float64(len(d.count))
	return cost < bins+chanceSDs*math.Sqrt(2*bins)
}

// grow adds components as long as one pays.
func (d *Data) grow(ctx context.Context, cs []Component, cost float64, o Options) ([]Component, float64) {
	for len(cs) < o.Most+max(o.Extra, o.Beyond) {
		worth := o.Penalty
		if len(cs) >= o.Most+o.Extra {
			worth = o.BeyondPenalty
		}
		if cost < worth { // no cost is below zero
			break
		}
		next, c := d.best(ctx, cs)
		if next == nil || c > cost-worth {
			break
		}
		cs, cost = next, c
	}
	return cs, cost
}

// An attempt is a fit that may be gone on from.
type attempt struct {
	cs   []Component
	cost float64
	gone Component // what was left out, if anything
}

// without returns, for each of the components, a fit of the others after the first steps.
func (d *Data) without(ctx context.Context, cs []Component) (out []attempt) {
	for j, gone := range cs {
		rest := slices.Delete(slices.Clone(cs), j, j+1)
		rest, c := d.polish(ctx, rest, d.near(rest, gone), firstSteps)
		out = append(out, attempt{cs: rest, cost: c, gone: gone})
	}
	return out
}

// cheapest returns the n attempts of least cost.
func cheapest(attempts []attempt, n int) []attempt {
	sort.SliceStable(attempts, func(i, j int) bool { return attempts[i].cost < attempts[j].cost })
	return attempts[:min(n, len(attempts))]
}

// best adds the one component that takes most off the cost; nil if there is no candidate.
func (d *Data) best(ctx context.Context, cs []Component) (best []Component, least float64) {
	least = math.Inf(1)
	var starts []attempt
	for _, next := range slices.Concat(d.missing(cs), d.splits(cs), d.around(cs)) {
		active := d.near(next, next[len(next)-1])
		if len(active) > mostMoved {
			active = changed(cs, next)
		}
		next, c := d.polish(ctx, next, active, firstSteps)
		starts = append(starts, attempt{cs: next, cost: c})
	}
	for _, s := range cheapest(starts, finalists) {
		if next, c := d.polish(ctx, s.cs, d.near(s.cs, s.cs[len(s.cs)-1]), quickSteps); c < least {
			best, least = next, c
		}
	}
	if best == nil {
		return nil, least
	}
	return d.polish(ctx, best, parts.Upto(len(best)), polishSteps)
}

// changed returns the indices at which next differs from cs.
func changed(cs, next []Component) (active []int) {
	for i := range next {
		if i >= len(cs) || next[i] != cs[i] {
			active = append(active, i)
		}
	}
	return active
}

// near returns the components that share rows with c.
func (d *Data) near(cs []Component, c Component) (active []int) {
	const sds = 4
	return slices.DeleteFunc(parts.Upto(len(cs)), func(i int) bool {
		return !(math.Abs((cs[i].Origin-c.Origin)+(cs[i].Offset-c.Offset)) <= sds*(cs[i].SD+c.SD))
	})
}

// missing returns cs with one more component, where the counts exceed what cs explain: at the
// clearest runs of bins.
func (d *Data) missing(cs []Component) (out [][]Component) {
	sums := d.excess(cs)
	var taken []run
	for len(taken) < candidates {
		r := d.clearest(sums, taken)
		if r.z == 0 {
			break
		}
		taken = append(taken, r)
		width := r.high - r.low
		c := Component{Rows: r.rows, Origin: r.low, Offset: width / 2, SD: width / 3}
		if d.known.SD > 0 {
			c.SD = d.known.SD
		}
		out = append(out, append(slices.Clone(cs), c))
	}
	return out
}

// A run of bins holds about rows more than it should, z times as many as chance and noise allow.
type run struct{ low, high, rows, z float64 }

// taken reports a run of which a part is in t, unless it is a much narrower part: a component may
// stand on a wide one.
func (t run) taken(low, high float64) bool {
	const much = 8
	return t.low < high && low < t.high && t.high-t.low < much*(high-low)
}

// excess returns the partial sums over each set's bounded bins: of the counts that cs do not
// explain, and of the variances.
func (d *Data) excess(cs []Component) (sums [][][2]float64) {
	expected := d.Expected(cs)
	for _, s := range d.sets {
		own := make([][2]float64, max(1, len(s.edges)))
		for i := 1; i < len(s.edges); i++ {
			b := s.first + i
			own[i] = [2]float64{own[i-1][0] + d.count[b] - expected[b], own[i-1][1] + 1/d.weight[b]}
		}
		sums = append(sums, own)
	}
	return sums
}

// clearest returns the run of largest z among those not taken yet; z is 0 if none is above chance.
func (d *Data) clearest(sums [][][2]float64, taken []run) (best run) {
	z2 := 1.0
	for i, s := range d.sets {
		own := sums[i]
		z2 = math.Max(z2, chanceLog*math.Log(float64(len(own)))-chanceLess)
		for length := 1; length < len(own); length += max(1, length/3) {
			for from := 0; from+length < len(own); from++ {
				rows := own[from+length][0] - own[from][0]
				variance := own[from+length][1] - own[from][1]
				if !(rows > 0 && rows*rows > z2*variance) {
					continue
				}
				low, high := s.edges[from], s.edges[from+length]
				if math.IsInf(high-low, 0) || slices.ContainsFunc(taken, func(t run) bool { return t.taken(low, high) }) {
					continue
				}
				z2 = rows * rows / variance
				best = run{low, high, rows, math.Sqrt(z2)}
			}
		}
	}
	return best
}

// splits returns cs with one of them made two: side by side, or one inside the other.
func (d *Data) splits(cs []Component) (out [][]Component) {
	split := func(j int, a, b, narrow, wide, part float64) {
		next := append(slices.Clone(cs), cs[j])
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

// around returns cs with a wide component around one of them, at the scale that explains most
// of what is missing: its rows may lie on both sides, as no run of bins does.
func (d *Data) around(cs []Component) (out [][]Component) {
	if d.known.SD > 0 {
		return nil
	}
	const growth, scales = 4, 60
	residual := d.Expected(cs)
	floats.SubTo(residual, d.count, residual)
	var t terms
	for _, c := range cs {
		var best Component
		least := aroundSDs
		for range scales {
			if c.SD *= growth; c.SD > d.widest() {
				break
			}
			d.fill(&t, c)
			dot, norm := 0.0, 0.0
			for _, s := range t.spans {
				for i, p := range t.p[s.at : s.at+s.to-s.from] {
					w := d.weight[s.from+i]
					dot += w * p * residual[s.from+i]
					norm += w * p * p
				}
			}
			if z := dot / math.Sqrt(norm); z > least {
				least, best = z, c
				best.Rows = dot / norm
			}
		}
		if best.SD > 0 {
			out = append(out, append(slices.Clone(cs), best))
		}
	}
	return out
}

// aroundSDs is what a wide component must explain, in noise sds, to be tried. A utility constant, a
// guess.
const aroundSDs = 3.0

// exchange removes each of the components that gain least, one at a time, and adds the best
// instead.
func (d *Data) exchange(ctx context.Context, cs []Component, cost float64, o Options) ([]Component, float64) {
	best, least := cs, cost
	o.Most, o.Extra, o.Penalty, o.Beyond = len(cs), 0, 0, 0
	for _, r := range cheapest(d.without(ctx, cs), tried) {
		if next, c := d.grow(ctx, r.cs, r.cost, o); c < least {
			best, least = next, c
		}
	}
	return best, least
}

// drop drops the components that gain less than the penalty, and those beyond the most, the least
// first.
func (d *Data) drop(ctx context.Context, cs []Component, cost float64, o Options) ([]Component, float64) {
	for len(cs) > 1 {
		best, least := cs, cost+o.Penalty
		if len(cs) > o.Most {
			least = cost + o.BeyondPenalty
		}
		if len(cs) > o.Most+o.Beyond {
			least = math.Inf(1)
		}
		for _, r := range cheapest(d.without(ctx, cs), finalists) {
			if rest, c := d.polish(ctx, r.cs, d.near(r.cs, r.gone), quickSteps); c < least {
				best, least = rest, c
			}
		}
		if len(best) == len(cs) {
			break
		}
		cs, cost = d.polish(ctx, best, parts.Upto(len(best)), polishSteps)
	}
	return cs, cost
}
