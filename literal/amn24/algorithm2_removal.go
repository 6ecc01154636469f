package amn24

// A region is Omega: the pairs that are not vaguely close to one that was found. The zero region is
// all pairs.
//
// Source: [AMN24] Algorithm 2.
type region struct {
	Found  []pair
	Factor float64 // B: how far around a found pair nothing is sought any more
}

// contains reports that no found pair is vaguely close.
func (r region) contains(p pair) bool {
	for _, f := range r.Found {
		if vague(p, f, r.Factor) {
			return false
		}
	}
	return true
}

// without returns the region less what is vaguely close to p.
func (r region) without(p pair) region {
	r.Found = append(append([]pair(nil), r.Found...), p)
	return r
}
