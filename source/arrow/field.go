package arrow

import "github.com/gauze-dp/gauze/source"

// Types of columns, by the numbers that the format gives them.
const (
	typeNull = iota + 1
	typeInt
	typeFloat
	typeBinary
	typeText
	typeBool
	typeDecimal
	typeDate
	typeTime
	typeStamp
	typeInterval
	typeList
	typeStruct
	typeUnion
	typeFixed
	typeFixedList
	typeMap
	typeDuration
	typeLargeBinary
	typeLargeText
	typeLargeList
	typeRuns
	typeBinaryView
	typeTextView
	typeListView
	typeLargeListView
)

// A field is a column of the schema, or of what a column is made of.
type field struct {
	name     string
	kind     int
	bits     int // of a number
	unsigned bool
	scale    int  // of a decimal
	unit     int  // of a date or a time
	zoned    bool // a point in time is in UTC
	sparse   bool // of a union
	children []*field
	// For a column whose cells are numbers of a dictionary's: which, and what those numbers are.
	index      *field
	dictionary int
}

// fieldOf reads a field of a schema.
func fieldOf(f flat) *field {
	out := &field{name: f.text(0), kind: int(uint8(f.number(2, 1, 0)))}
	t, _ := f.table(3)
	switch out.kind {
	case typeInt:
		out.number(t)
	case typeFloat:
		out.bits = 16 << t.number(0, 2, 0)
	case typeDecimal:
		out.scale, out.bits = int(t.number(1, 4, 0)), int(t.number(2, 4, 128))
	case typeDate:
		out.unit = int(t.number(0, 2, 1))
		out.bits = 32 * (1 + out.unit)
	case typeTime:
		out.unit, out.bits = int(t.number(0, 2, 1)), int(t.number(1, 4, 32))
	case typeStamp:
		out.unit, out.bits, out.zoned = int(t.number(0, 2, 0)), 64, t.field(1) > 0 && t.text(1) != ""
	case typeDuration:
		out.unit, out.bits = int(t.number(0, 2, 1)), 64
	case typeUnion:
		out.sparse = t.number(0, 2, 0) == 0
	}
	if d, found := f.table(4); found {
		out.dictionary, out.index = int(d.number(0, 8, 0)), &field{kind: typeInt, bits: 32}
		if t, stated := d.table(1); stated {
			out.index.number(t)
		}
	}
	for _, child := range f.tables(5) {
		out.children = append(out.children, fieldOf(child))
	}
	return out
}

// number reads the type of whole numbers.
func (f *field) number(t flat) {
	f.bits, f.unsigned = int(t.number(0, 4, 0)), t.number(1, 1, 0) == 0
}

// typeOf returns the type of a column, with a hint at how to make it numeric if it cannot be
// fitted.
func typeOf(f *field) source.Type {
	switch f.kind {
	case typeNull:
		return source.Type{Numbers: true, Name: "missing cells"}
	case typeInt:
		return source.Type{Numbers: true, Name: "whole numbers"}
	case typeFloat:
		return source.Type{Numbers: true, Name: "floating-point numbers"}
	case typeDecimal:
		return source.Type{Numbers: true, Name: "decimals"}
	case typeBool:
		return source.Type{Name: "truth values", Hint: "write it as a column of 0 and 1"}
	case typeDate:
		return source.Type{Name: "dates", Hint: "write it as a number, such as days since 1970 or an age"}
	case typeStamp:
		return source.Type{Name: "points in time", Hint: "write it as a number, such as seconds since 1970"}
	case typeTime:
		return source.Type{Name: "times of day", Hint: "write it as a number, such as seconds since midnight"}
	case typeText, typeLargeText, typeTextView:
		return source.Type{Name: "text"}
	}
	return source.Type{Name: "values that are neither numbers nor text", Hint: "write its parts as columns of their own, one value to a row"}
}
