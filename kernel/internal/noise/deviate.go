package noise

// deviate is a real number, uniform on [0, 1], whose binary digits are drawn only
// when a decision depends on them.
//
// Its value is 0.head tail[0] tail[1] …, in base 2⁶⁴; digits after those are not
// yet drawn. Whatever has been decided so far has read drawn digits only, hence,
// given all of it, the digits to come are still independent and uniform: this is
// what makes it right to use one deviate in several decisions.
type deviate struct {
	head uint64
	tail []uint64 // nil but for one deviate in about 2⁶⁴/σ
}

func newDeviate(src Source) deviate { return deviate{head: src.Uint64()} }

// digit returns tail[i], drawing it and those before it if need be.
func (u *deviate) digit(src Source, i int) uint64 {
	for len(u.tail) <= i {
		u.tail = append(u.tail, src.Uint64())
	}
	return u.tail[i]
}

// less reports whether u < v. Exact: it compares digit by digit, and two equal
// numbers, for which it would not end, have probability 0.
func (u *deviate) less(src Source, v *deviate) bool {
	if u.head != v.head {
		return u.head < v.head
	}
	for i := 0; ; i++ {
		if a, b := u.digit(src, i), v.digit(src, i); a != b {
			return a < b
		}
	}
}
