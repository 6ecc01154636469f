package arrow

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/gauze-dp/gauze/source"
)

// twinFields are columns of every type that can be fitted, of others that can be text, and of some
// that have to be skipped.
var twinFields = []arrow.Field{
	{Name: "i8", Type: arrow.PrimitiveTypes.Int8}, {Name: "i16", Type: arrow.PrimitiveTypes.Int16}, {Name: "i32", Type: arrow.PrimitiveTypes.Int32}, {Name: "i64", Type: arrow.PrimitiveTypes.Int64},
	{Name: "list", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String}))},
	{Name: "u8", Type: arrow.PrimitiveTypes.Uint8}, {Name: "u16", Type: arrow.PrimitiveTypes.Uint16}, {Name: "u32", Type: arrow.PrimitiveTypes.Uint32}, {Name: "u64", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "f16", Type: arrow.FixedWidthTypes.Float16}, {Name: "f32", Type: arrow.PrimitiveTypes.Float32}, {Name: "f64", Type: arrow.PrimitiveTypes.Float64},
	{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64)},
	{Name: "fixed list", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16)},
	{Name: "d128", Type: &arrow.Decimal128Type{Precision: 30, Scale: 3}}, {Name: "d256", Type: &arrow.Decimal256Type{Precision: 60, Scale: 0}},
	{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "large", Type: arrow.BinaryTypes.LargeString}, {Name: "view", Type: arrow.BinaryTypes.StringView}, {Name: "bytes", Type: arrow.BinaryTypes.Binary},
	{Name: "dictionary", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.String}},
	{Name: "null", Type: arrow.Null}, {Name: "bool", Type: arrow.FixedWidthTypes.Boolean},
	{Name: "date32", Type: arrow.FixedWidthTypes.Date32}, {Name: "date64", Type: arrow.FixedWidthTypes.Date64},
	{Name: "stamp", Type: &arrow.TimestampType{Unit: arrow.Microsecond}}, {Name: "zoned", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}},
}

// nested columns are skipped.
func nested(f arrow.Field) bool { return arrow.IsNested(f.Type.ID()) }

// twinBatch makes up rows.
func twinBatch(t *testing.T, r *rand.Rand, schema *arrow.Schema, rows int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for range rows {
		for j, f := range schema.Fields() {
			if r.IntN(5) == 0 {
				b.Field(j).AppendNull()
				continue
			}
			n := r.Int64()
			word := []string{"", "7", "-3.5", "x", "a text longer than twelve bytes", "NA"}[r.IntN(6)]
			switch b := b.Field(j).(type) {
			case *array.Int8Builder:
				b.Append(int8(n))
			case *array.Int16Builder:
				b.Append(int16(n))
			case *array.Int32Builder:
				b.Append(int32(n))
			case *array.Int64Builder:
				b.Append(n - math.MaxInt64/2)
			case *array.Uint8Builder:
				b.Append(uint8(n))
			case *array.Uint16Builder:
				b.Append(uint16(n))
			case *array.Uint32Builder:
				b.Append(uint32(n))
			case *array.Uint64Builder:
				b.Append(uint64(n) * 2)
			case *array.Float16Builder:
				b.Append(float16.FromBits(uint16(n) | 1<<10)) // numbers below 2^-14 the library reads wrongly
			case *array.Float32Builder:
				b.Append(math.Float32frombits(uint32(n)))
			case *array.Float64Builder:
				b.Append(math.Float64frombits(uint64(n) * 2))
			case *array.Decimal128Builder:
				b.Append(decimal128.FromI64(n - math.MaxInt64/2))
			case *array.Decimal256Builder:
				b.Append(decimal256.FromBigInt(new(big.Int).Mul(big.NewInt(n-math.MaxInt64/2), big.NewInt(n))))
			case *array.ListBuilder:
				b.Append(true)
				s := b.ValueBuilder().(*array.StructBuilder)
				s.Append(true)
				s.FieldBuilder(0).(*array.Int8Builder).Append(1)
				s.FieldBuilder(1).(*array.StringBuilder).Append(word)
			case *array.MapBuilder:
				b.Append(true)
				b.KeyBuilder().(*array.StringBuilder).Append(word)
				b.ItemBuilder().(*array.Float64Builder).Append(1)
			case *array.FixedSizeListBuilder:
				b.Append(true)
				b.ValueBuilder().(*array.Int16Builder).AppendValues([]int16{1, 2}, nil)
			case *array.StringBuilder:
				b.Append(word)
			case *array.LargeStringBuilder:
				b.Append(word)
			case *array.StringViewBuilder:
				b.Append(word)
			case *array.BinaryDictionaryBuilder:
				if err := b.AppendString(word); err != nil {
					t.Fatal(err)
				}
			case *array.BinaryBuilder:
				b.Append([]byte(word))
			case *array.BooleanBuilder:
				b.Append(n%2 == 0)
			case *array.Date32Builder:
				b.Append(arrow.Date32(n%100_000 - 50_000))
			case *array.Date64Builder:
				b.Append(arrow.Date64(86_400_000 * (n%100_000 - 50_000)))
			case *array.TimestampBuilder:
				b.Append(arrow.Timestamp(n % 2e9))
			case *array.NullBuilder:
				b.AppendNull()
			default:
				t.Fatalf("no cells for %s", f.Type)
			}
		}
	}
	return b.NewRecordBatch()
}

// TestTwin: cells and texts are those that the format's library reads, packed or not.
func TestTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	schema := arrow.NewSchema(twinFields, nil)
	for _, options := range [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}, {ipc.WithDictionaryDeltas(false)}} {
		var out bytes.Buffer
		w := ipc.NewWriter(&out, append(options, ipc.WithSchema(schema))...)
		var batches []arrow.RecordBatch
		for _, rows := range []int{70, 0, 1} {
			batches = append(batches, twinBatch(t, r, schema, rows))
			if err := w.Write(batches[len(batches)-1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var columns []int
		for j, f := range twinFields {
			if !nested(f) {
				columns = append(columns, j)
			}
		}
		in, err := Of("stdin", io.NopCloser(bytes.NewReader(out.Bytes())))
		if err != nil {
			t.Fatal(err)
		}
		in.Select(columns, columns)
		values, kinds, texts := make([]float64, len(columns)), make([]source.Kind, len(columns)), make([]string, len(columns))
		for _, b := range batches {
			for i := range int(b.NumRows()) {
				if err := in.Next(values, kinds, texts); err != nil {
					t.Fatal(err)
				}
				for at, j := range columns {
					want, kind := libraryCell(b.Column(j), i)
					if values[at] != want || kinds[at] != kind || texts[at] != libraryText(b.Column(j), i) {
						t.Fatalf("%s, row %d: got %v %v %q, the library has %v %v %q", twinFields[j].Name, i, values[at], kinds[at], texts[at], want, kind, libraryText(b.Column(j), i))
					}
				}
			}
		}
		if err := in.Next(values, kinds, texts); err != io.EOF {
			t.Fatalf("behind the last row: %v", err)
		}
	}
}

// TestHalf: numbers of 16 bits.
func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float64{0: 0, 1: 0x1p-24, 0x83ff: -1023 * 0x1p-24, 0x0400: 0x1p-14, 0x3c00: 1, 0xc500: -5, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1)} {
		if got := source.Half(bits); got != want {
			t.Errorf("%#x is %v, want %v", bits, got, want)
		}
	}
	if !math.IsNaN(source.Half(0x7c01)) {
		t.Error("what is no number is one")
	}
}

// FuzzStream: no stream panics, or is endless.
func FuzzStream(f *testing.F) {
	f.Add([]byte(Magic + "\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Of("stdin", io.NopCloser(bytes.NewReader(data)))
		if err != nil {
			return
		}
		values, kinds := make([]float64, len(r.Header())), make([]source.Kind, len(r.Header()))
		for range 1000 {
			if r.Next(values, kinds, nil) != nil {
				return
			}
		}
	})
}

// TestDamagedAnywhere: whatever byte is changed, nothing panics and no memory is taken for what a
// stream only says that it holds.
func TestDamagedAnywhere(t *testing.T) {
	whole := written(t)
	for i := range whole {
		for _, mask := range []byte{0x01, 0x80, 0xff} {
			damaged := bytes.Clone(whole)
			damaged[i] ^= mask
			_, _, _, err := read(damaged, []int{0}, nil)
			if err == nil {
				t.Fatalf("byte %d: the stream has no end", i)
			}
		}
	}
	giant := append(bytes.Clone([]byte(Magic)), 0xff, 0xff, 0xff, 0x7f)
	if allocated := testing.AllocsPerRun(1, func() { Of("stdin", io.NopCloser(bytes.NewReader(giant))) }); allocated > 100 {
		t.Errorf("%v allocations", allocated)
	}
}

// libraryCell returns a value as the number that CSV of the same table would have, by the library.
func libraryCell(a arrow.Array, i int) (float64, source.Kind) {
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL {
		return 0, source.Missing
	}
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return 1, source.Number
		}
		return 0, source.Number
	case *array.Float64:
		return source.Cell(a.Value(i))
	case *array.Float32:
		return source.Cell(source.Widen(a.Value(i)))
	case *array.Float16:
		return source.Cell(float64(a.Value(i).Float32()))
	case *array.Int64:
		return float64(a.Value(i)), source.Number
	case *array.Uint64:
		return float64(a.Value(i)), source.Number
	case *array.Decimal128:
		return source.ParseCell(a.Value(i).BigInt().String() + "e" + strconv.Itoa(-int(a.DataType().(arrow.DecimalType).GetScale())))
	case *array.Decimal256:
		return source.ParseCell(a.Value(i).BigInt().String() + "e" + strconv.Itoa(-int(a.DataType().(arrow.DecimalType).GetScale())))
	case *array.Dictionary:
		return libraryCell(a.Dictionary(), a.GetValueIndex(i))
	}
	return source.ParseCell(a.ValueStr(i))
}

// libraryText returns a value as people write it, by the library.
func libraryText(a arrow.Array, i int) string {
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL {
		return ""
	}
	switch a := a.(type) {
	case *array.Float64:
		return strconv.FormatFloat(a.Value(i), 'f', -1, 64)
	case *array.Float32:
		return strconv.FormatFloat(float64(a.Value(i)), 'f', -1, 32)
	case *array.Float16:
		return strconv.FormatFloat(float64(a.Value(i).Float32()), 'f', -1, 32)
	case *array.Dictionary:
		return libraryText(a.Dictionary(), a.GetValueIndex(i))
	case *array.Decimal128, *array.Decimal256:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		x, _ := new(big.Rat).SetString(fmt.Sprintf("%s", decimalOf(a, i)))
		return x.Quo(x, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))).FloatString(int(scale))
	}
	return a.ValueStr(i)
}

func decimalOf(a arrow.Array, i int) *big.Int {
	if a, ok := a.(*array.Decimal128); ok {
		return a.Value(i).BigInt()
	}
	return a.(*array.Decimal256).Value(i).BigInt()
}
