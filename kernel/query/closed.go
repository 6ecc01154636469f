package query

import (
	"reflect"
	"strings"
)

// CopyOf returns a deep copy of v if v is a struct of a package at or below folder, by value, made
// of numbers, of slices, arrays and structs, and of interfaces that hold such structs (but none
// inside another); otherwise what refuse makes of what is not, which may be v itself or lie inside.
//
// A type of another package that embeds one of ours and overrides a method is of the other package;
// a generic one could bring code of another package along; a function, a pointer, a channel or a
// map could keep rows. The copy is what is to be checked and run: changing v afterwards changes
// nothing. A struct that could hold itself has a method Bounded, whose error ends the copying.
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

// copy copies v, which stands inside an interface or not. Looked at is the copy, which nobody else
// can change.
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
