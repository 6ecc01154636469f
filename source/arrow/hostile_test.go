package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// one writes a stream of one column.
func one(t *testing.T, f arrow.Field, fill func(array.Builder)) []byte {
	t.Helper()
	var out bytes.Buffer
	schema := arrow.NewSchema([]arrow.Field{f}, nil)
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	fill(b.Field(0))
	if err := errors.Join(w.Write(b.NewRecordBatch()), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestUnsignedEntries: a dictionary whose cells are unsigned numbers has its upper half.
func TestUnsignedEntries(t *testing.T) {
	for index, n := range map[arrow.DataType]int{arrow.PrimitiveTypes.Uint8: 256, arrow.PrimitiveTypes.Uint16: 40_000, arrow.PrimitiveTypes.Int16: 300} {
		data := one(t, arrow.Field{Name: "w", Type: &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}}, func(b array.Builder) {
			for i := range n {
				if err := b.(*array.BinaryDictionaryBuilder).AppendString(strconv.Itoa(i)); err != nil {
					t.Fatal(err)
				}
			}
		})
		_, _, words, err := read(data, nil, []int{0})
		if err != io.EOF || len(words) != n || words[n-1][0] != strconv.Itoa(n-1) {
			t.Errorf("%v: %d of %d words, %v", index, len(words), n, err)
		}
	}
}

// TestScales: a decimal of an absurd scale is damage, and takes no time and memory to write out.
func TestScales(t *testing.T) {
	for scale, ok := range map[int32]bool{-20: true, 38: true, 1 << 30: false, -1 << 30: false} {
		data := one(t, arrow.Field{Name: "d", Type: &arrow.Decimal128Type{Precision: 38, Scale: scale}}, func(b array.Builder) {
			b.(*array.Decimal128Builder).Append(decimal128.FromI64(7))
		})
		if _, _, _, err := read(data, []int{0}, []int{0}); (err == io.EOF) != ok {
			t.Errorf("scale %d: %v", scale, err)
		}
	}
}

// tower returns a field with so many levels of fields below it, each of n children, which are all
// the same.
func tower(levels, n int) flat {
	var b []byte
	u32 := func(v int) { b = binary.LittleEndian.AppendUint32(b, uint32(v)) }
	for _, v := range []uint16{16, 8, 0, 0, 0, 0, 0, 4} { // of fields: the sixth part is 4 bytes in
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	first := len(b)
	for level := range levels + 1 {
		if level == levels {
			n = 0
		}
		u32(len(b))
		u32(4)
		u32(n)
		for i := range n {
			u32(4 * (n - i)) // the next level
		}
	}
	return flat{b, first}
}

// TestTowers: a schema whose fields share their children, or lie deep in each other, is damage, and
// takes neither time nor the stack.
func TestTowers(t *testing.T) {
	for _, c := range []struct {
		levels, n int
		ok        bool
	}{{3, 1, true}, {20, 1, true}, {60, 10, false}, {3_000_000, 1, false}} {
		var all []*field
		err := guarded(func() error {
			all = fieldsOf([]flat{tower(c.levels, c.n)})
			return nil
		})
		if (err == nil) != c.ok || c.ok && all[0].children == nil {
			t.Errorf("%d levels of %d children: %v", c.levels, c.n, err)
		}
	}
}
