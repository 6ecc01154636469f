package parquet

import (
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gauze-dp/gauze/source"
)

// A leaf is a column of the header.
type leaf struct {
	name     string
	chunk    int // its index among the columns of a group
	physical format.Type
	size     int  // of a value in bytes, where it is fixed
	optional bool // has levels that say which cells exist
	nested   bool
	holds    source.Type
	means    meaning
	scale    int           // of decimals
	unit     time.Duration // of times
}

// A meaning says what the stored values stand for.
type meaning uint8

const (
	plain    meaning = iota // themselves
	unsigned                // whole numbers without a sign
	decimal                 // whole numbers of 10^-scale
	half                    // floats of 16 bits
	day                     // days since 1970
	clock                   // since midnight
	instant                 // since 1970
	uuid
)

const nestedHint = "write its parts as columns of their own, one value to a row"

// leavesOf lists the columns below the schema's root, which is its first element.
func leavesOf(schema []format.SchemaElement) ([]leaf, error) {
	if len(schema) == 0 {
		return nil, errDamaged
	}
	var leaves []leaf
	chunk := 0
	for at := 1; at < len(schema); {
		e := &schema[at]
		l := leaf{name: e.Name, chunk: chunk, physical: e.Type.V, size: int(e.TypeLength.V), optional: e.RepetitionType.V == format.Optional}
		elements, chunks := below(schema[at:])
		at, chunk = at+elements, chunk+chunks
		if l.nested = e.NumChildren.V > 0 || e.RepetitionType.V == format.Repeated; l.nested {
			l.holds = source.Type{Name: "nested values", Hint: nestedHint}
		} else {
			l.interpret(e)
		}
		leaves = append(leaves, l)
	}
	return leaves, nil
}

// below counts the elements of the tree that begins with the first of schema, and its leaves.
func below(schema []format.SchemaElement) (elements, leaves int) {
	elements = 1
	children := int(schema[0].NumChildren.V)
	if children == 0 {
		return 1, 1
	}
	for range children {
		e, l := below(schema[elements:])
		elements, leaves = elements+e, leaves+l
	}
	return elements, leaves
}

// interpret finds what the column's values mean, by its new annotation or its old one.
func (l *leaf) interpret(e *format.SchemaElement) {
	units := map[string]time.Duration{"MILLIS": time.Millisecond, "MICROS": time.Microsecond, "NANOS": time.Nanosecond}
	switch t := e.LogicalType.Value.(type) {
	case *format.DecimalType:
		l.means, l.scale = decimal, int(t.Scale)
	case *format.IntType:
		if !t.IsSigned {
			l.means = unsigned
		}
	case *format.Float16Type:
		l.means = half
	case *format.DateType:
		l.means = day
	case *format.TimeType:
		l.means, l.unit = clock, units[t.Unit.String()]
	case *format.TimestampType:
		l.means, l.unit = instant, units[t.Unit.String()]
	case *format.UUIDType:
		l.means = uuid
	case nil:
		l.interpretOld(e)
	}
	l.holds = l.typed()
}

func (l *leaf) interpretOld(e *format.SchemaElement) {
	if !e.ConvertedType.Valid {
		return
	}
	switch e.ConvertedType.V {
	case deprecated.Decimal:
		l.means, l.scale = decimal, int(e.Scale.V)
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		l.means = unsigned
	case deprecated.Date:
		l.means = day
	case deprecated.TimeMillis:
		l.means, l.unit = clock, time.Millisecond
	case deprecated.TimeMicros:
		l.means, l.unit = clock, time.Microsecond
	case deprecated.TimestampMillis:
		l.means, l.unit = instant, time.Millisecond
	case deprecated.TimestampMicros:
		l.means, l.unit = instant, time.Microsecond
	}
}

// typed returns the type of a column, with a hint at how to make it numeric if it cannot be fitted.
func (l *leaf) typed() source.Type {
	switch {
	case l.means == day:
		return source.Type{Name: "dates", Hint: "write it as a number, such as days since 1970 or an age"}
	case l.means == instant || l.physical == format.Int96:
		return source.Type{Name: "points in time", Hint: "write it as a number, such as seconds since 1970"}
	case l.means == clock:
		return source.Type{Name: "times of day", Hint: "write it as a number, such as seconds since midnight"}
	case l.means == decimal:
		return source.Type{Numbers: true, Name: "decimals"}
	case l.means == half, l.physical == format.Float, l.physical == format.Double:
		return source.Type{Numbers: true, Name: "floating-point numbers"}
	case l.physical == format.Int32, l.physical == format.Int64:
		return source.Type{Numbers: true, Name: "whole numbers"}
	case l.physical == format.Boolean:
		return source.Type{Truth: true, Name: "truth values", Hint: "leave its kind out, or say yes-no"}
	}
	return source.Type{Name: "text"}
}
