package columns

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// withinRankNoise is the rows over the rank noise of FindCenters' comparisons: all of its first
// ones decide between far places. A guess.
const withinRankNoise = 9

// FindCenters searches the median of every column of u, whose scales are by SpreadByPairs or public
// facts, to within its scale, unless it is known, by noisy comparisons of ranks for all columns at
// once: the sign, then distances that grow from comparison to comparison until one is beyond the
// median, then halves. Columns near to 0, in their scale, cost a handful of comparisons, and none
// costs more than MeasureUnits's. It spends at most mu2 of mu^2; centres that are not reached by
// then stay in the middle of what is left. rows is public or released.
//
// Source: [TYLERPRESS] Section 1.
func (u *Units) FindCenters(a *kernel.SubBudget, prefix string, rows, mu2 float64) error {
	d := len(u.Center)
	mu := math.Max(withinRankNoise*math.Sqrt(float64(d))*perColumn(a.Session().Relation())/math.Max(rows, 1), math.Sqrt(mu2/centerQueries))
	search := make([]interval, d)
	if u.settled == nil {
		u.settled = make([]bool, d)
	}
	for j := range search {
		search[j] = interval{low: -math.MaxFloat64, high: math.MaxFloat64, unit: u.Scale[j], done: u.settled[j]}
	}
	for spent := mu * mu; spent <= mu2*(1+1e-9); spent += mu * mu {
		edges := make([]float64, d)
		open := false
		for j := range search {
			edges[j] = search[j].next()
			open = open || !search[j].done
		}
		if !open {
			break
		}
		answer, err := a.Sum(CentersStep.Of(prefix), query.Counts{Edges: query.Each(edges), As: query.Balance}, mu)
		if err != nil {
			return err
		}
		for j, count := range answer.Values {
			search[j].narrow(edges[j], count)
		}
	}
	for j, s := range search {
		if !u.settled[j] {
			u.Center[j] = s.middle()
		}
	}
	return nil
}

// An interval (low, high] holds a median, as far as the comparisons were right.
type interval struct {
	low, high, unit float64
	// the last distance from 0 that was tried, in units, squared for the next
	leap float64
	done bool
}

// next returns the place to compare with next, NaN if the interval is as short as the unit.
func (i *interval) next() float64 {
	switch open := i.low == -math.MaxFloat64 || i.high == math.MaxFloat64; {
	case i.done:
		return math.NaN()
	case i.low == -math.MaxFloat64 && i.high == math.MaxFloat64:
		return 0
	case open:
		i.leap = math.Max(4, i.leap*i.leap)
		at := math.Min(i.unit*i.leap, math.MaxFloat64/2)
		if i.high == math.MaxFloat64 && at > i.low {
			return at
		}
		if i.low == -math.MaxFloat64 && -at < i.high {
			return -at
		}
	}
	at := i.middle()
	if i.high-i.low <= i.unit || at <= i.low || at >= i.high {
		i.done = true
		return math.NaN()
	}
	return at
}

// middle returns the geometric mean of ends of one sign that differ in size, of the distance to 0
// counted from the unit on; else the mean.
func (i *interval) middle() float64 {
	low, high, sign := i.low, i.high, 1.0
	if high <= 0 {
		low, high, sign = -high, -low, -1
	}
	if low >= 0 && high > 16*math.Max(low, i.unit) {
		return sign * math.Sqrt(math.Max(low, i.unit)) * math.Sqrt(high)
	}
	return i.low/2 + i.high/2
}

// narrow keeps the side that the signed count, rows up to the threshold less rows beyond, says.
func (i *interval) narrow(threshold, signed float64) {
	switch {
	case math.IsNaN(threshold):
	case signed >= 0:
		i.high = threshold
	default:
		i.low = threshold
	}
}
