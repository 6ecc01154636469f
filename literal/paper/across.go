package paper

import "fmt"

// CountAcross returns how many mixtures Across lists for groups of these sizes.
func CountAcross(groups []int, k, units int) (count float64) {
	ways := make([]float64, max(0, min(k, units))+1) // to choose so many Gaussians, one of each group so far
	ways[0] = 1
	for _, size := range groups {
		more := make([]float64, len(ways))
		for s, w := range ways {
			for r := 1; s+r < len(ways); r++ {
				more[s+r] += w * binomial(size, r)
			}
		}
		ways = more
	}
	for s := 1; s < len(ways); s++ {
		count += ways[s] * binomial(units-1, s-1)
	}
	return count
}

// Across lists every mixture of at most k Gaussians, at least one of each group, whose weights are
// positive multiples of 1/units that sum to 1: each once. For one group it is every mixture of at
// most k of the Gaussians. An error that wraps ErrTooMany says that there are more than MostListed;
// there are none, and no list, if there are more groups than components or units.
//
// Source: [AMN24] Algorithm 1 (step 2); [AAL21] Algorithm 1 (step 4, with the net of the simplex of
// step 3).
// Differs: mixtures are listed by the set of their components, not by k-tuples, most of which say
// the same again; and those that leave out a group are not listed.
func Across(groups [][]Gaussian, k, units int) (*List, error) {
	var all []Gaussian
	var sizes, group []int // of every group; of every Gaussian
	for i, g := range groups {
		sizes, all = append(sizes, len(g)), append(all, g...)
		for range g {
			group = append(group, i)
		}
	}
	count := CountAcross(sizes, k, units)
	if !(count > 0) || k < 1 || units < 1 {
		return nil, fmt.Errorf("hypotheses: want components and units of weight for at least one Gaussian of each group, got %d, %d and groups of %d", k, units, sizes)
	}
	if !(count <= MostListed) {
		return nil, tooMany("mixtures", count)
	}
	a := &across{list: NewList(all, min(k, len(all), units)), group: group, groups: len(groups), units: units}
	a.more(0, -1, units)
	return a.list, a.err
}

// across is a mixture in the making.
type across struct {
	list          *List
	group         []int // of every Gaussian, not decreasing
	groups, units int
	index         []int
	share         []float64
	err           error
}

// more lists the mixtures that begin as they do, have so many units left to give, go on with
// Gaussians from first on, and have one of each group up to last.
func (a *across) more(first, last, left int) {
	if left == 0 {
		if a.err == nil && last == a.groups-1 {
			a.err = a.list.Add(a.index, a.share)
		}
		return
	}
	room := a.list.Parts - len(a.index)
	for g := first; g < len(a.group) && a.group[g] <= last+1 && room > 0; g++ {
		wanting := a.groups - 1 - a.group[g]
		if wanting >= min(room, left) {
			continue
		}
		least := 1
		if room == 1 || g == len(a.group)-1 {
			least = left // the last one takes what is left
		}
		for v := least; v <= left-wanting; v++ {
			a.index, a.share = append(a.index, g), append(a.share, float64(v)/float64(a.units))
			a.more(g+1, a.group[g], left-v)
			a.index, a.share = a.index[:len(a.index)-1], a.share[:len(a.share)-1]
		}
	}
}
