package fill

import (
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"
)

// pipe evaluates a pipeline, and sets what it declares.
func (f *filling) pipe(dot reflect.Value, p *parse.PipeNode) (v reflect.Value) {
	for i, cmd := range p.Cmds {
		var last []reflect.Value
		if i > 0 {
			last = []reflect.Value{v}
		}
		v = f.command(dot, cmd, last)
	}
	for _, decl := range p.Decl {
		if !p.IsAssign {
			f.vars = append(f.vars, variable{decl.Ident[0], v})
			continue
		}
		f.variable(decl).value = v
	}
	return v
}

// variable returns the innermost variable of a name.
func (f *filling) variable(n *parse.VariableNode) *variable {
	for i := len(f.vars) - 1; i >= 0; i-- {
		if f.vars[i].name == n.Ident[0] {
			return &f.vars[i]
		}
	}
	f.fail(n, "no such variable")
	return nil
}

// command evaluates a function with its arguments, or a single operand.
func (f *filling) command(dot reflect.Value, cmd *parse.CommandNode, last []reflect.Value) reflect.Value {
	name, isCall := cmd.Args[0].(*parse.IdentifierNode)
	if !isCall {
		if len(cmd.Args) > 1 || len(last) > 0 {
			f.fail(cmd, "only functions have arguments")
		}
		return f.operand(dot, cmd.Args[0])
	}
	if name.Ident == "and" || name.Ident == "or" {
		var v reflect.Value
		for _, arg := range cmd.Args[1:] {
			if v = f.operand(dot, arg); truth(v) == (name.Ident == "or") {
				break
			}
		}
		return v
	}
	args := make([]reflect.Value, 0, len(cmd.Args))
	for _, arg := range cmd.Args[1:] {
		args = append(args, f.operand(dot, arg))
	}
	return f.call(name, name.Ident, append(args, last...))
}

// operand evaluates one operand.
func (f *filling) operand(dot reflect.Value, node parse.Node) reflect.Value {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return f.fields(n, dot, n.Ident)
	case *parse.VariableNode:
		return f.fields(n, f.variable(n).value, n.Ident[1:])
	case *parse.ChainNode:
		return f.fields(n, f.operand(dot, n.Node), n.Field)
	case *parse.PipeNode:
		return f.pipe(dot, n)
	case *parse.IdentifierNode:
		return f.call(n, n.Ident, nil)
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.BoolNode:
		return reflect.ValueOf(n.True)
	case *parse.NumberNode:
		if n.IsInt && !strings.ContainsAny(n.Text, ".eE") {
			return reflect.ValueOf(int(n.Int64))
		}
		return reflect.ValueOf(n.Float64)
	}
	f.fail(node, "unknown kind of operand")
	return reflect.Value{}
}

// fields follows names from a value.
func (f *filling) fields(at parse.Node, v reflect.Value, names []string) reflect.Value {
	for _, name := range names {
		in := indirect(v)
		if in.IsValid() && in.Kind() == reflect.Struct {
			if field, found := in.Type().FieldByName(name); found && field.IsExported() {
				v = in.FieldByIndex(field.Index)
				continue
			}
		}
		if in.IsValid() && in.Kind() == reflect.Map {
			v = in.MapIndex(reflect.ValueOf(name))
			continue
		}
		if _, found := f.funcs[name]; !found || !in.IsValid() {
			f.fail(at, "%s has no %s", kindOf(v), name)
		}
		v = f.call(at, name, []reflect.Value{v})
	}
	return v
}

func kindOf(v reflect.Value) string {
	if !v.IsValid() {
		return "nothing"
	}
	return v.Type().String()
}

// call calls a function.
func (f *filling) call(at parse.Node, name string, args []reflect.Value) reflect.Value {
	if builtin := builtins[name]; builtin != nil {
		plain := make([]any, len(args))
		for i, arg := range args {
			plain[i] = value(arg)
		}
		v, err := builtin(plain)
		if err != nil {
			f.fail(at, "%s: %v", name, err)
		}
		return reflect.ValueOf(v)
	}
	fn := f.funcs[name]
	if !fn.IsValid() {
		f.fail(at, "no function %s", name)
	}
	t := fn.Type()
	if n := t.NumIn(); len(args) != n && !(t.IsVariadic() && len(args) >= n-1) {
		f.fail(at, "%s: wanted %d arguments, got %d", name, n, len(args))
	}
	for i := range args {
		want := t.In(min(i, t.NumIn()-1))
		if t.IsVariadic() && i >= t.NumIn()-1 {
			want = want.Elem()
		}
		args[i] = f.fit(at, name, args[i], want)
	}
	out := fn.Call(args)
	if len(out) == 2 {
		if err, failed := out[1].Interface().(error); failed {
			f.fail(at, "%s: %v", name, err)
		}
	}
	return out[0]
}

// fit returns a value as an argument of a type: itself, what it points to, its address, the number
// that it is, or what it embeds.
func (f *filling) fit(at parse.Node, name string, v reflect.Value, want reflect.Type) reflect.Value {
	if v.IsValid() && v.Kind() == reflect.Interface && !v.Type().AssignableTo(want) {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		return reflect.Zero(want)
	case v.Type().AssignableTo(want):
		return v
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().AssignableTo(want):
		return v.Elem()
	case v.CanAddr() && reflect.PointerTo(v.Type()).AssignableTo(want):
		return v.Addr()
	case v.CanInt() && want.Kind() == reflect.Float64:
		return v.Convert(want)
	}
	if in := indirect(v); in.IsValid() && in.Kind() == reflect.Struct {
		for i := range in.NumField() {
			if in.Type().Field(i).Anonymous && in.Field(i).Type().AssignableTo(want) {
				return in.Field(i)
			}
		}
	}
	f.fail(at, "%s: wanted %s, got %s", name, want, v.Type())
	return v
}

// indirect returns what pointers and interfaces lead to; no value for nil.
func indirect(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	return v
}

// value returns a value as Go has it.
func value(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	return v.Interface()
}

// truth reports whether a value is not empty.
func truth(v reflect.Value) bool {
	if v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return false
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}

// shown returns a value as it is written: what says how it is written itself says so.
func shown(v reflect.Value) string {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		switch value(v).(type) {
		case error, fmt.Stringer:
			return fmt.Sprint(value(v))
		}
		v = v.Elem()
	}
	if !v.IsValid() {
		return ""
	}
	return fmt.Sprint(value(v))
}
