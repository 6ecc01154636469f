package fill

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
)

// builtins are the functions of every template but and and or, which stop early.
var builtins = map[string]func([]any) (any, error){
	"not":    func(args []any) (any, error) { return len(args) == 1 && !truth(reflect.ValueOf(args[0])), nil },
	"eq":     equal,
	"ne":     func(args []any) (any, error) { same, err := equal(args); return same == false, err },
	"lt":     func(args []any) (any, error) { c, err := compare(args); return c < 0, err },
	"le":     func(args []any) (any, error) { c, err := compare(args); return c <= 0, err },
	"gt":     func(args []any) (any, error) { c, err := compare(args); return c > 0, err },
	"ge":     func(args []any) (any, error) { c, err := compare(args); return c >= 0, err },
	"len":    length,
	"index":  index,
	"slice":  slice,
	"print":  func(args []any) (any, error) { return fmt.Sprint(args...), nil },
	"printf": func(args []any) (any, error) { return fmt.Sprintf(fmt.Sprint(args[0]), args[1:]...), nil },
}

// builtinNames tell the parser which functions there are.
var builtinNames = func() map[string]any {
	names := map[string]any{"and": true, "or": true}
	for _, name := range []string{"not", "eq", "ne", "lt", "le", "gt", "ge", "len", "index", "slice", "print", "printf"} {
		names[name] = true
	}
	return names
}()

// equal reports whether the first argument is one of the others.
func equal(args []any) (any, error) {
	for i := 1; i < len(args); i++ {
		if a, b := reflect.ValueOf(args[0]), reflect.ValueOf(args[i]); a.IsValid() && b.IsValid() && a.Kind() == reflect.Bool && b.Kind() == reflect.Bool {
			if a.Bool() == b.Bool() {
				return true, nil
			}
		} else if a.IsValid() && a.Type().Comparable() && b.IsValid() && a.Type() == b.Type() {
			if args[0] == args[i] {
				return true, nil
			}
		} else if c, err := compare([]any{args[0], args[i]}); err != nil || c == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// compare returns the order of two numbers, or of two texts.
func compare(args []any) (int, error) {
	if len(args) != 2 {
		return 0, errors.New("wanted two arguments")
	}
	a, b := indirect(reflect.ValueOf(args[0])), indirect(reflect.ValueOf(args[1]))
	if a.IsValid() && b.IsValid() && a.Kind() == reflect.String && b.Kind() == reflect.String {
		return cmp.Compare(a.String(), b.String()), nil
	}
	x, isNumber := numberOf(a)
	y, areNumbers := numberOf(b)
	if !isNumber || !areNumbers {
		return 0, fmt.Errorf("%v and %v cannot be compared", args[0], args[1])
	}
	return cmp.Compare(x, y), nil
}

// numberOf returns a number; integers up to 2^53 as they are.
func numberOf(v reflect.Value) (float64, bool) {
	switch {
	case !v.IsValid():
		return 0, false
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// length returns the length of a slice, a map or a text.
func length(args []any) (any, error) {
	v, err := listOf(args, 1)
	if err != nil {
		return nil, err
	}
	return v.Len(), nil
}

// index returns an element of a slice, or of a map the value at a key.
func index(args []any) (any, error) {
	v, err := listOf(args, 2)
	if err != nil {
		return nil, err
	}
	if v.Kind() == reflect.Map {
		found := v.MapIndex(reflect.ValueOf(args[1]))
		if !found.IsValid() {
			return reflect.Zero(v.Type().Elem()).Interface(), nil
		}
		return found.Interface(), nil
	}
	i, isInt := args[1].(int)
	if !isInt || i < 0 || i >= v.Len() {
		return nil, fmt.Errorf("%v is no index of %d elements", args[1], v.Len())
	}
	return v.Index(i).Interface(), nil
}

// slice returns a part of a slice or a text, to its end if no end is given.
func slice(args []any) (any, error) {
	v, err := listOf(args, 2)
	if err != nil {
		return nil, err
	}
	from, isInt := args[1].(int)
	to := v.Len()
	if len(args) > 2 {
		to, _ = args[2].(int)
	}
	if !isInt || from < 0 || to < from || to > v.Len() {
		return nil, fmt.Errorf("%v is no part of %d elements", args[1:], v.Len())
	}
	return v.Slice(from, to).Interface(), nil
}

// listOf returns the first of at least least arguments, if it has a length.
func listOf(args []any, least int) (reflect.Value, error) {
	if len(args) < least {
		return reflect.Value{}, fmt.Errorf("wanted %d arguments", least)
	}
	v := indirect(reflect.ValueOf(args[0]))
	if v.IsValid() {
		switch v.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map, reflect.String:
			return v, nil
		}
	}
	return reflect.Value{}, fmt.Errorf("%v has no length", args[0])
}
