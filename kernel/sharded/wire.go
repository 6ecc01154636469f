package sharded

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"

	"github.com/gauze-dp/gauze/kernel/query"
)

// put writes a plain value, and get reads it.
func put(s Store, name string, v any) error {
	text, _, err := seal(v)
	if err != nil {
		return err
	}
	return s.Write(name, text)
}

func get(s Store, name string, into any) error {
	text, err := s.Read(name)
	if err != nil {
		return err
	}
	_, err = unseal(text, into)
	return err
}

// seal returns the text of a plain value and, after it, a checksum, which shows whether it was
// damaged.
func seal(v any) (text []byte, sum hash, err error) {
	text, err = encode(v)
	sum.text(text)
	return binary.LittleEndian.AppendUint64(text, uint64(sum)), sum, err
}

// unseal reads what seal has written.
func unseal(text []byte, into any) (sum hash, err error) {
	const size = 8
	if len(text) < size {
		return 0, errText
	}
	text, end := text[:len(text)-size], text[len(text)-size:]
	if sum.text(text); binary.LittleEndian.Uint64(end) != uint64(sum) {
		return 0, errText
	}
	return sum, decode(text, into)
}

// The reasons why a stored text cannot be read: constants, because the text may hold sums of rows.
var (
	errKind = errors.New("sharded: not a question for workers")
	errText = errors.New("sharded: what was written is damaged")
)

// asked are the structs that may stand in an interface of a stored value: the questions of default
// methods about rows, pairs of rows and partial rows, and the scans that an engine answers some of
// them by, all of the kernel's own types. The order is part of the format; all workers of a fit
// have the same version of it.
var asked = []reflect.Type{
	reflect.TypeFor[query.Count](), reflect.TypeFor[query.Counts](), reflect.TypeFor[query.ClippedMoments](),
	reflect.TypeFor[query.Directions](), reflect.TypeFor[query.GridCounts](), reflect.TypeFor[query.LogRatio](),
	reflect.TypeFor[query.Parts](), reflect.TypeFor[query.Ranks](), reflect.TypeFor[query.Partial](),
	reflect.TypeFor[query.PairOctaves](), reflect.TypeFor[query.Summed](), reflect.TypeFor[query.Placing](),
	reflect.TypeFor[query.BoxKeys](),
}

// encode writes a plain value: numbers bit for bit, slices with nil told from empty, the fields of
// structs in order. A value that is not plain, or of a type not in asked, is an error.
//
// Equal values have equal texts, and decode returns what was written.
func encode(v any) ([]byte, error) { return write(nil, reflect.ValueOf(v)) }

func write(text []byte, v reflect.Value) (_ []byte, err error) {
	switch v.Kind() {
	case reflect.Bool:
		b := byte(0)
		if v.Bool() {
			b = 1
		}
		return append(text, b), nil
	case reflect.Int, reflect.Int64, reflect.Int32:
		return binary.AppendVarint(text, v.Int()), nil
	case reflect.Uint64, reflect.Uint32, reflect.Uint8:
		return binary.AppendUvarint(text, v.Uint()), nil
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(text, math.Float64bits(v.Float())), nil
	case reflect.Slice:
		if v.IsNil() {
			return append(text, 0), nil
		}
		text = binary.AppendUvarint(text, uint64(v.Len())+1)
		switch long := v.Interface().(type) { // the slices that are as long as a table
		case []float64:
			text = slices.Grow(text, 8*len(long))
			for _, x := range long {
				text = binary.LittleEndian.AppendUint64(text, math.Float64bits(x))
			}
			return text, nil
		case []int64: // their length says nothing of sums
			for _, x := range long {
				text = binary.LittleEndian.AppendUint64(text, uint64(x))
			}
			return text, nil
		case []int32:
			text = slices.Grow(text, len(long)) // few bytes per leaf
			for _, x := range long {
				text = binary.AppendVarint(text, int64(x))
			}
			return text, nil
		}
		for i := 0; i < v.Len() && err == nil; i++ {
			text, err = write(text, v.Index(i))
		}
		return text, err
	case reflect.Struct:
		for i := 0; i < v.NumField() && err == nil; i++ {
			if !v.Type().Field(i).IsExported() {
				return nil, errKind
			}
			text, err = write(text, v.Field(i))
		}
		return text, err
	case reflect.Interface:
		for i, t := range asked {
			if !v.IsNil() && v.Elem().Type() == t {
				return write(binary.AppendUvarint(text, uint64(i)), v.Elem())
			}
		}
	}
	return nil, errKind
}

// decode reads what encode wrote of a value of the same type, into a pointer, to the last byte.
func decode(text []byte, into any) (err error) {
	r := reader{text}
	defer func() {
		if recover() != nil {
			err = errText
		}
	}()
	r.read(reflect.ValueOf(into).Elem())
	if len(r.text) > 0 {
		return errText
	}
	return nil
}

// A reader panics at a text that encode cannot have written.
type reader struct{ text []byte }

func (r *reader) take(n int) (taken []byte) {
	if n <= 0 || n > len(r.text) {
		panic(errText)
	}
	taken, r.text = r.text[:n], r.text[n:]
	return taken
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.text)
	r.take(n)
	return v
}

func (r *reader) read(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.take(1)[0] == 1)
	case reflect.Int, reflect.Int64, reflect.Int32:
		n, size := binary.Varint(r.text)
		r.take(size)
		v.SetInt(n)
	case reflect.Uint64, reflect.Uint32, reflect.Uint8:
		v.SetUint(r.uint())
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(r.take(8))))
	case reflect.Slice:
		n := r.uint()
		if n == 0 {
			return
		}
		if n--; n > uint64(len(r.text)) { // every element has at least one byte
			panic(errText)
		}
		v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
		switch long := v.Interface().(type) {
		case []float64:
			for i := range long {
				long[i] = math.Float64frombits(binary.LittleEndian.Uint64(r.take(8)))
			}
			return
		case []int64:
			for i := range long {
				long[i] = int64(binary.LittleEndian.Uint64(r.take(8)))
			}
			return
		case []int32:
			for i := range long {
				x, size := binary.Varint(r.text)
				r.take(size)
				long[i] = int32(x)
			}
			return
		}
		for i := range int(n) {
			r.read(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.read(v.Field(i))
		}
	case reflect.Interface:
		own := reflect.New(asked[r.uint()]).Elem()
		r.read(own)
		v.Set(own)
	default:
		panic(errKind)
	}
}

// hash detects accidental differences between texts and between pieces of rows. It is no secret and
// protects none: it is stored beside its text.
type hash uint64

const prime = 1099511628211 // of FNV-1a

func (h *hash) numbers(values []float64) {
	own := *h
	for _, v := range values {
		own = (own ^ hash(math.Float64bits(v))) * prime
		own ^= own >> 32
	}
	*h = own
}

func (h *hash) text(text []byte) {
	own := *h
	for ; len(text) >= 8; text = text[8:] {
		own = (own ^ hash(binary.LittleEndian.Uint64(text))) * prime
		own ^= own >> 32
	}
	for _, b := range text {
		own = (own ^ hash(b)) * prime
	}
	*h = own
}
