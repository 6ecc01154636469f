package piped

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/source"
)

// u32 writes numbers of 4 bytes.
func u32(to []byte, numbers ...int) []byte {
	for _, n := range numbers {
		to = binary.LittleEndian.AppendUint32(to, uint32(int32(n)))
	}
	return to
}

// begun is the beginning of a stream.
func begun(header string) []byte { return append(u32([]byte(Magic), len(header)), header...) }

const header = `[["float", "float64"], ["single", "float32"], ["words", "text"]]`

// written is a stream of two batches, of three rows and of one.
func written() []byte {
	out := begun(header)
	for _, batch := range []struct {
		floats  []float64
		singles []float32
		sizes   []int
		text    string
	}{{[]float64{.1, math.NaN(), math.Inf(1)}, []float32{.1, float32(math.NaN()), 1 << 24}, []int{1, -1, 4}, "7ward"}, {[]float64{-0.5}, []float32{2}, []int{0}, ""}} {
		out = u32(out, len(batch.floats))
		out, _ = binary.Append(out, binary.LittleEndian, batch.floats)
		out, _ = binary.Append(out, binary.LittleEndian, batch.singles)
		out = append(u32(out, batch.sizes...), batch.text...)
	}
	return u32(out, 0)
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
		for i := range k {
			if text := r.(source.Texts).Text(i); k[i] == source.NotNumber && text != "ward" {
				return nil, nil, nil, errors.New(text)
			}
		}
	}
}

func TestCells(t *testing.T) {
	values, kinds, words, err := read(written(), []int{2, 0, 1}, []int{2, 1, 0})
	if err != io.EOF {
		t.Fatal(err)
	}
	if want := [][]float64{{7, .1, .1}, {0, 0, 0}, {0, 0, 1 << 24}, {0, -.5, 2}}; !reflect.DeepEqual(values, want) {
		t.Errorf("got %v", values)
	}
	n, m := source.Number, source.Missing
	if want := [][]source.Kind{{n, n, n}, {m, m, m}, {source.NotNumber, source.NotFinite, n}, {m, n, n}}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("got %v", kinds)
	}
	if want := [][]string{{"7", "0.1", "0.1"}, {"", "", ""}, {"ward", "16777216", "+Inf"}, {"", "2", "-0.5"}}; !reflect.DeepEqual(words, want) {
		t.Errorf("got %q", words)
	}
	r, err := Of("stdin", io.NopCloser(bytes.NewReader(written())))
	if err != nil || !reflect.DeepEqual(r.Header(), []string{"float", "single", "words"}) {
		t.Fatalf("%v: %q", err, r.Header())
	}
	for i, kind := range source.TypesOf(r) {
		if kind.Numbers != (i < 2) || kind.Name == "" {
			t.Errorf("%s is %+v", r.Header()[i], kind)
		}
	}
}

// A stream that is cut off anywhere, also between two batches, is no table; nor is one with a
// header of something else, or with sizes that nothing fills, which take no memory.
func TestDamaged(t *testing.T) {
	whole := written()
	var fault *source.Error
	for size := range whole {
		if _, _, _, err := read(whole[:size], []int{0}, []int{2}); !errors.As(err, &fault) {
			t.Fatalf("the first %d bytes of %d: got %v", size, len(whole), err)
		}
	}
	for name, data := range map[string][]byte{
		"no list":      begun(`{}`),
		"nothing":      begun(`[]`),
		"another kind": u32(begun(`[["x", "int64"]]`), 0),
		"header":       u32([]byte(Magic), -1),
		"rows":         u32(begun(header), -1),
		"negative":     u32(begun(`[["w", "text"]]`), 1, -2, 0),
		"long text":    u32(begun(`[["w", "text"]]`), 2, math.MaxInt32, math.MaxInt32, 0),
	} {
		if _, _, _, err := read(data, nil, nil); !errors.As(err, &fault) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written())
	f.Fuzz(func(t *testing.T, data []byte) {
		var fault *source.Error
		if _, _, _, err := read(data, nil, nil); err != io.EOF && !errors.As(err, &fault) {
			t.Fatal(err)
		}
	})
}
