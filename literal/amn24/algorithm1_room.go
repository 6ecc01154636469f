package amn24

import "fmt"

// crude is what the first part of an algorithm found.
type crude struct {
	pairs  []pair
	fewer  func() []pair // one for each component, if they are many; nil: they are
	factor float64       // G: each is within it of the component that it is about
}

// room returns B, by groups of Gaussians that are about the same component: one group around all
// pairs if K is then within the guard, else one around each of the fewer, and what there is to say
// about that. bases is nil if there is no room; public facts tell if that can be (see roomFor).
func (c Constants) room(found crude, k int) (bases [][]pair, zeta float64, said string) {
	if bases, zeta = c.spacing([][]pair{found.pairs}, found.factor, k); bases != nil || c.Coarsest == 0 {
		return bases, zeta, ""
	}
	kept, what := found.pairs, "all of them"
	if found.fewer != nil {
		kept = found.fewer()
		what = fmt.Sprintf("%d of them, which explain the released gaps best", len(kept))
	}
	var each [][]pair
	for _, p := range kept {
		each = append(each, []pair{p})
	}
	bases, zeta = c.spacing(each, found.factor, k)
	return bases, zeta, fmt.Sprintf("there are more than %d mixtures around any of them, so those were listed that have a component near each of %s", c.MostHypotheses, what)
}

// roomFor reports that K has room for the nets around each of up to k pairs, and for the moves of
// any mixture. zeta is the coarsest net that it takes.
func (c Constants) roomFor(unit pair, factor float64, k int) (zeta float64, ok bool) {
	var groups [][]pair
	for range k {
		groups = append(groups, []pair{unit})
		bases, at := c.spacing(groups, factor, k)
		if zeta = max(zeta, at); bases == nil {
			return zeta, false
		}
	}
	return zeta, c.movable(len(unit.Mean), k)
}
