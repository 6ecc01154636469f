package query

import (
	"reflect"
	"strings"
)

// CopyOf returns a deep copy of v. The type of v must be a struct, passed by value, of a package at
// or below folder; its fields may be numbers, slices, arrays, structs, and interfaces that hold
// such structs (but no interface inside another). Otherwise CopyOf returns the error that refuse
// makes of the value at fault: v itself or, if inside is true, a value within it.
//
// The rule keeps out the code of other packages. A type that embeds one of ours and overrides a
// method belongs to another package; a generic one could bring another package's code along; a
// function, a pointer, a channel or a map could keep rows. The caller checks and runs the copy, so
// later changes of v have no effect. A struct that could contain itself has a method Bounded, whose
// error ends the copying.
func CopyOf[T any](v T, folder string, refuse func(got any, inside bool) error) (own T, err error) {
	if !ours(v, folder) {
		return own, refuse(v, false)
	}
	c := copier{folder: folder, refuse: refuse}
	copied := c.copy(reflect.ValueOf(v), false)
	if c.fault != nil {
		return own, c.fault
	}
	return copied.Interface().(T), nil
}

func ours(v any, folder string) bool {
	t := reflect.TypeOf(v)
	return t != nil && t.Kind() == reflect.Struct && !strings.Contains(t.Name(), "[") &&
		(t.PkgPath() == folder || strings.HasPrefix(t.PkgPath(), folder+"/"))
}

type copier struct {
	folder string
	refuse func(got any, inside bool) error
	fault  error
}

// copy returns a copy of v; inside says that v stands in an interface. What it inspects is the
// copy, which no other goroutine can change.
func (c *copier) copy(v reflect.Value, inside bool) reflect.Value {
	if number(v.Kind()) {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Interface:
		if inside || !ours(out.Interface(), c.folder) {
			c.fault = c.refuse(out.Interface(), true)
			break
		}
		out.Set(c.copy(out.Elem(), true))
	case reflect.Struct:
		if b, ok := out.Interface().(interface{ Bounded() error }); ok && c.fault == nil {
			c.fault = b.Bounded()
		}
		for i := 0; i < v.NumField() && c.fault == nil; i++ {
			if f := out.Field(i); !number(f.Kind()) {
				if !f.CanSet() { // not exported
					c.fault = c.refuse(out.Interface(), inside)
					break
				}
				f.Set(c.copy(f, inside))
			}
		}
	case reflect.Array, reflect.Slice:
		if v.Kind() == reflect.Slice && !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			reflect.Copy(out, v)
		}
		for i := 0; i < out.Len() && !number(v.Type().Elem().Kind()) && c.fault == nil; i++ {
			out.Index(i).Set(c.copy(out.Index(i), inside))
		}
	default:
		c.fault = c.refuse(out.Interface(), inside)
	}
	return out
}

func number(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Float64 && k != reflect.Uintptr
}
