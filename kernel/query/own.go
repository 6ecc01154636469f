package query

import (
	"fmt"
	"reflect"
)

// Own returns a deep copy of q if its type is one of this package's own structs, and an error for any other type.
//
// It is what keeps Sum and PairSum closed. Their methods are handed raw rows and state their own sensitivity, so a type that
// implements them elsewhere, or one that embeds a query of this package and overrides a method, could keep the rows or
// understate the noise. The copy is what is validated, priced and run: changing a slice of q afterwards changes nothing.
func Own[Q any](q Q) (Q, error) {
	t := reflect.TypeOf(q)
	if t == nil || t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[Count]().PkgPath() {
		var none Q
		return none, fmt.Errorf("query: want one of the structs of package query, by value, got a %T", q)
	}
	return clone(reflect.ValueOf(q)).Interface().(Q), nil
}

// clone copies the slices below v, which holds nothing but numbers, structs and slices.
func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			c.Field(i).Set(clone(v.Field(i)))
		}
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		if k := v.Type().Elem().Kind(); k != reflect.Slice && k != reflect.Struct {
			reflect.Copy(c, v)
			break
		}
		for i := range v.Len() {
			c.Index(i).Set(clone(v.Index(i)))
		}
	}
	return c
}
