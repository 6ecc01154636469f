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

// A schema whose fields lie deeper in each other, or whose decimals have more digits behind the
// point, is damaged: no program writes it, and it would take the stack, or years.
const mostDepth, mostScale = 64, 1000

// fieldsOf reads fields of a schema.
func fieldsOf(tables []flat) (all []*field) {
	left := 0
	if len(tables) > 0 {
		left = len(tables[0].buffer) / 8 // fields that share no bytes take more
	}
	for _, f := range tables {
		all = append(all, fieldOf(f, 0, &left))
	}
	return all
}

// fieldOf reads a field at some depth; left is how many more there may be.
func fieldOf(f flat, depth int, left *int) *field {
	if *left--; *left < 0 || depth > mostDepth {
		panic(errDamaged)
	}
	out := &field{name: f.text(0), kind: int(uint8(f.number(2, 1, 0)))}
	t, _ := f.table(3)
	switch out.kind {
	case typeInt:
		out.number(t)
	case typeFloat:
		out.bits = 16 << t.number(0, 2, 0)
	case typeDecimal:
		if out.scale, out.bits = int(t.number(1, 4, 0)), int(t.number(2, 4, 128)); max(out.scale, -out.scale) > mostScale {
			panic(errDamaged)
		}
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
		out.children = append(out.children, fieldOf(child, depth+1, left))
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
		return source.Type{Truth: true, Name: "truth values", Hint: "leave its kind out, or say yes-no"}
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
