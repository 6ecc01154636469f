package query

import (
	"fmt"
	"reflect"
)

// Own returns a deep copy of q if its type is one of this package's own structs, and so are the
// queries of Parts and Pairs and the scores of a Selection; an error otherwise.
//
// It is what keeps Sum, PairSum and Score closed. Their methods are handed raw rows and state their
// own sensitivity, so a type that implements them elsewhere, or one that embeds a query of this
// package and overrides a method, could keep the rows or understate the noise. The copy is what is
// validated, priced and run: changing a slice of q afterwards changes nothing.
func Own[Q any](q Q) (Q, error) {
	var none Q
	if any(q) == nil || !own(reflect.TypeOf(q)) {
		return none, fmt.Errorf("query: want one of the structs of package query, by value, got a %T", q)
	}
	var c copier
	copied := c.clone(reflect.ValueOf(q), false)
	if c.fault != nil {
		return none, c.fault
	}
	return copied.Interface().(Q), nil
}

func own(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == reflect.TypeFor[Count]().PkgPath()
}

// A copier copies deeply and remembers what it refused to copy.
type copier struct{ fault error }

// clone copies the slices below v, which holds nothing but numbers, structs, slices and, in Parts,
// Pairs and Selection, queries and scores. Those are looked at in the copy, which nobody else can
// change; they must be own, and those inside another are refused, which also ends the copying of
// Parts that hold themselves.
func (c *copier) clone(v reflect.Value, inside bool) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Interface:
		if e := out.Elem(); inside || !e.IsValid() || !own(e.Type()) {
			c.fault = fmt.Errorf("query: in Parts, Pairs and Selection: want structs of package query, by value, and none inside another, got a %T", out.Interface())
		} else {
			out.Set(c.clone(e, true))
		}
	case reflect.Struct:
		if p, ok := out.Interface().(Partition); ok && !p.bounded() {
			c.fault = errBounds
			break
		}
		for i := range v.NumField() {
			out.Field(i).Set(c.clone(v.Field(i), inside))
		}
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		if k := v.Type().Elem().Kind(); k != reflect.Slice && k != reflect.Struct && k != reflect.Interface {
			reflect.Copy(out, v)
			break
		}
		for i := range v.Len() {
			out.Index(i).Set(c.clone(v.Index(i), inside))
		}
	}
	return out
}
