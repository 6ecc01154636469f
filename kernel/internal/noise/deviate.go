package noise

// Deviate is a real number, uniform on [0, 1], whose binary digits are drawn only
// when a decision depends on them.
//
// Its value is 0.Head tail[0] tail[1] .., in base 2^64; digits after those are not
// yet drawn. Whatever has been decided so far has read drawn digits only, hence,
// given all of it, the digits to come are still independent and uniform: this is
// what makes it right to use one deviate in several decisions.
type Deviate struct {
	Head uint64
	tail []uint64 // nil except for one deviate in about 2^64/sigma
}

// newDeviate returns a deviate with 64 digits drawn.
func newDeviate(src Source) Deviate { return Deviate{Head: src.Uint64()} }

// Digit returns tail[i], drawing it and those before it if need be.
func (u *Deviate) Digit(src Source, i int) uint64 {
	for len(u.tail) <= i {
		u.tail = append(u.tail, src.Uint64())
	}
	return u.tail[i]
}

// Less reports whether u < v. Exact: it compares digit by digit, and two equal
// numbers, for which it would not end, have probability 0.
func (u *Deviate) Less(src Source, v *Deviate) bool {
	if u.Head != v.Head {
		return u.Head < v.Head
	}
	for i := 0; ; i++ {
		if a, b := u.Digit(src, i), v.Digit(src, i); a != b {
			return a < b
		}
	}
}
