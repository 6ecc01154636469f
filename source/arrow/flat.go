package arrow

import "encoding/binary"

// A flat is a FlatBuffer's table: where it begins in its buffer. What points outside of the buffer
// panics, which the reader takes for damage.
type flat struct {
	buffer []byte
	at     int
}

var order = binary.LittleEndian

// root returns the table that a buffer begins with.
func root(buffer []byte) flat { return flat{buffer, 0}.follow(0) }

// follow returns the table that an offset at a place leads to.
func (f flat) follow(place int) flat {
	return flat{f.buffer, place + int(order.Uint32(f.buffer[place:]))}
}

// field returns the place of a table's field, 0 if it has its default.
func (f flat) field(i int) int {
	index := f.at - int(int32(order.Uint32(f.buffer[f.at:])))
	if 4+2*i >= int(order.Uint16(f.buffer[index:])) {
		return 0
	}
	if offset := int(order.Uint16(f.buffer[index+4+2*i:])); offset > 0 {
		return f.at + offset
	}
	return 0
}

// number returns a field that is a whole number of so many bytes, signed.
func (f flat) number(i, bytes int, otherwise int64) int64 {
	place := f.field(i)
	if place == 0 {
		return otherwise
	}
	switch bytes {
	case 1:
		return int64(int8(f.buffer[place]))
	case 2:
		return int64(int16(order.Uint16(f.buffer[place:])))
	case 4:
		return int64(int32(order.Uint32(f.buffer[place:])))
	}
	return int64(order.Uint64(f.buffer[place:]))
}

// table returns a field that is a table.
func (f flat) table(i int) (flat, bool) {
	place := f.field(i)
	if place == 0 {
		return flat{}, false
	}
	return f.follow(place), true
}

// vector returns where a field's elements begin, and how many they are.
func (f flat) vector(i int) (at, n int) {
	place := f.field(i)
	if place == 0 {
		return 0, 0
	}
	v := f.follow(place)
	return v.at + 4, int(order.Uint32(f.buffer[v.at:]))
}

// text returns a field that is text.
func (f flat) text(i int) string {
	at, n := f.vector(i)
	return string(f.buffer[at : at+n])
}

// tables returns a field that is a list of tables.
func (f flat) tables(i int) (all []flat) {
	at, n := f.vector(i)
	for j := range n {
		all = append(all, f.follow(at+4*j))
	}
	return all
}

// pairs returns a field that is a list of pairs of whole numbers.
func (f flat) pairs(i int) (all [][2]int) {
	at, n := f.vector(i)
	for j := range n {
		p := f.buffer[at+16*j:]
		all = append(all, [2]int{int(order.Uint64(p)), int(order.Uint64(p[8:]))})
	}
	return all
}

// numbers returns a field that is a list of whole numbers of 8 bytes.
func (f flat) numbers(i int) (all []int) {
	at, n := f.vector(i)
	for j := range n {
		all = append(all, int(order.Uint64(f.buffer[at+8*j:])))
	}
	return all
}
