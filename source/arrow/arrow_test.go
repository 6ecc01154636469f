package arrow

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/gauze-dp/gauze/source"
)

var fields = []arrow.Field{
	{Name: "float", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "single", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
	{Name: "whole", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "money", Type: &arrow.Decimal128Type{Precision: 38, Scale: 2}, Nullable: true},
	{Name: "words", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
	{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
	{Name: "truth", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
}

// written is a stream of two batches: three rows, the second without a cell, and one row.
func written(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	schema := arrow.NewSchema(fields, nil)
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	for _, rows := range []int{3, 1} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range rows {
			if i == 1 {
				for j := range fields {
					b.Field(j).AppendNull()
				}
				continue
			}
			b.Field(0).(*array.Float64Builder).Append([]float64{.1, 0, math.Inf(1)}[i])
			b.Field(1).(*array.Float32Builder).Append(.1)
			b.Field(2).(*array.Int64Builder).Append(1<<53 + 1)
			b.Field(3).(*array.Decimal128Builder).Append(decimal128.FromI64(-1234))
			if err := b.Field(4).(*array.BinaryDictionaryBuilder).AppendString([]string{"7", "", "x"}[i]); err != nil {
				t.Fatal(err)
			}
			b.Field(5).(*array.Date32Builder).Append(1)
			b.Field(6).(*array.BooleanBuilder).Append(true)
		}
		if err := w.Write(b.NewRecordBatch()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read reads all rows of some columns.
func read(data []byte, columns, labels []int) (values [][]float64, kinds [][]source.Kind, words [][]string, err error) {
	r, err := Of("stdin", io.NopCloser(bytes.NewReader(data)))
	if err != nil {
		return nil, nil, nil, err
	}
	defer r.Close()
	r.Select(columns, labels)
	for {
		v, k, l := make([]float64, len(columns)), make([]source.Kind, len(columns)), make([]string, len(labels))
		if err := r.Next(v, k, l); err != nil {
			return values, kinds, words, err
		}
		values, kinds, words = append(values, v), append(kinds, k), append(words, l)
	}
}

func TestCells(t *testing.T) {
	values, kinds, words, err := read(written(t), []int{2, 0, 1, 3, 4}, []int{4, 5, 2, 0})
	if err != io.EOF {
		t.Fatal(err)
	}
	full, none := []float64{1 << 53, .1, .1, -12.34, 7}, make([]float64, 5)
	m, n := source.Missing, source.Number
	if want := [][]float64{full, none, {1 << 53, 0, .1, -12.34, 0}, full}; !reflect.DeepEqual(values, want) {
		t.Errorf("got %v", values)
	}
	if want := [][]source.Kind{{n, n, n, n, n}, {m, m, m, m, m}, {n, source.NotFinite, n, n, source.NotNumber}, {n, n, n, n, n}}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("got %v", kinds)
	}
	first := []string{"7", "1970-01-02", "9007199254740993", "0.1"}
	if want := [][]string{first, {"", "", "", ""}, {"x", "1970-01-02", "9007199254740993", "+Inf"}, first}; !reflect.DeepEqual(words, want) {
		t.Errorf("got %q", words)
	}
}

func TestTypes(t *testing.T) {
	r, err := Of("stdin", io.NopCloser(bytes.NewReader(written(t))))
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range source.TypesOf(r) {
		if numbers, hint := i < 4, i > 4; kind.Numbers != numbers || (kind.Hint != "") != hint || kind.Name == "" {
			t.Errorf("%s is %+v", r.Header()[i], kind)
		}
	}
}

// A stream that is cut off anywhere, also between two batches, is no table. Cells that were changed
// are others, or an error: nothing panics.
func TestDamaged(t *testing.T) {
	whole := written(t)
	var fault *source.Error
	for size := range whole {
		if _, _, _, err := read(whole[:size], []int{0}, []int{4}); !errors.As(err, &fault) {
			t.Fatalf("the first %d bytes of %d: got %v", size, len(whole), err)
		}
	}
	const cells = 100 // bytes, fewer than the last batch has of them
	for i := len(whole) - len(end) - cells; i < len(whole)-len(end); i++ {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x55
		if _, _, _, err := read(damaged, []int{0, 3}, []int{4}); err != io.EOF && !errors.As(err, &fault) {
			t.Fatalf("byte %d: got %v", i, err)
		}
	}
}

// end is the end of every stream.
const end = Magic + "\x00\x00\x00\x00"
