package amn24

// A Region is Omega: the pairs that are not vaguely close to one that was found. The zero Region is
// all pairs.
//
// Source: [AMN24] Algorithm 2.
type Region struct {
	Found  []Pair
	Factor float64 // B: how far around a found pair nothing is sought any more
}

// Contains reports that no found pair is vaguely close.
func (r Region) Contains(p Pair) bool {
	for _, f := range r.Found {
		if Vague(p, f, r.Factor) {
			return false
		}
	}
	return true
}

// Without is the region less what is vaguely close to p.
func (r Region) Without(p Pair) Region {
	r.Found = append(append([]Pair(nil), r.Found...), p)
	return r
}
