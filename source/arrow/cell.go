package arrow

import (
	"math/big"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/gauze-dp/gauze/source"
)

// typeOf returns the type of a column, with a hint at how to make it numeric if it cannot be
// fitted.
func typeOf(t arrow.DataType) source.Type {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return typeOf(d.ValueType)
	}
	switch id := t.ID(); {
	case id == arrow.NULL:
		return source.Type{Numbers: true, Name: "missing cells"}
	case arrow.IsInteger(id):
		return source.Type{Numbers: true, Name: "whole numbers"}
	case arrow.IsFloating(id):
		return source.Type{Numbers: true, Name: "floating-point numbers"}
	case arrow.IsDecimal(id):
		return source.Type{Numbers: true, Name: "decimals"}
	case id == arrow.BOOL:
		return source.Type{Name: "truth values", Hint: "write it as a column of 0 and 1"}
	case id == arrow.DATE32, id == arrow.DATE64:
		return source.Type{Name: "dates", Hint: "write it as a number, such as days since 1970 or an age"}
	case id == arrow.TIMESTAMP:
		return source.Type{Name: "points in time", Hint: "write it as a number, such as seconds since 1970"}
	case id == arrow.TIME32, id == arrow.TIME64:
		return source.Type{Name: "times of day", Hint: "write it as a number, such as seconds since midnight"}
	case id == arrow.STRING, id == arrow.LARGE_STRING, id == arrow.STRING_VIEW:
		return source.Type{Name: "text"}
	}
	return source.Type{Name: "values of the type " + t.Name(), Hint: "write its parts as columns of their own, one value to a row"}
}

// cell returns a value as the number that CSV of the same table would have.
func cell(a arrow.Array, i int) (float64, source.Kind) {
	if a.IsNull(i) {
		return 0, source.Missing
	}
	switch a := a.(type) {
	case *array.Float64:
		return source.Cell(a.Value(i))
	case *array.Float32:
		return source.Cell(source.Widen(a.Value(i)))
	case *array.Float16:
		return source.Cell(float64(a.Value(i).Float32()))
	case *array.Int64:
		return float64(a.Value(i)), source.Number
	case *array.Int32:
		return float64(a.Value(i)), source.Number
	case *array.Int16:
		return float64(a.Value(i)), source.Number
	case *array.Int8:
		return float64(a.Value(i)), source.Number
	case *array.Uint64:
		return float64(a.Value(i)), source.Number
	case *array.Uint32:
		return float64(a.Value(i)), source.Number
	case *array.Uint16:
		return float64(a.Value(i)), source.Number
	case *array.Uint8:
		return float64(a.Value(i)), source.Number
	case *array.Decimal128:
		return scaled(a.Value(i).BigInt(), a.DataType())
	case *array.Decimal256:
		return scaled(a.Value(i).BigInt(), a.DataType())
	case *array.Dictionary:
		return cell(a.Dictionary(), a.GetValueIndex(i))
	}
	return source.ParseCell(a.ValueStr(i))
}

// scaled returns a whole number of 10^-scale, rounded once, as its decimal text is.
func scaled(u *big.Int, t arrow.DataType) (float64, source.Kind) {
	return source.ParseCell(u.String() + "e" + strconv.Itoa(-int(t.(arrow.DecimalType).GetScale())))
}

// text returns a value as people write it, "" if it is missing: persons and groups are
// distinguished by it.
func text(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return ""
	}
	switch a := a.(type) {
	case *array.Float64:
		return strconv.FormatFloat(a.Value(i), 'f', -1, 64)
	case *array.Float32:
		return strconv.FormatFloat(float64(a.Value(i)), 'f', -1, 32)
	case *array.Dictionary:
		return text(a.Dictionary(), a.GetValueIndex(i))
	}
	return a.ValueStr(i)
}
