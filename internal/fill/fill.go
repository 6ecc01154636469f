// Package fill executes templates without the standard library's text/template and html/template,
// which look methods up by name: a program that links them keeps every exported method of every
// type, a sixth of what this program would weigh.
//
// The language is theirs, and so is its parser. Fields of structs, keys of maps and functions can
// be named, methods cannot: a name that is no field is looked up among the functions, which get the
// value, so that {{.Dim}} is the function Dim of what stands there.
package fill

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"text/template/parse"
)

// Funcs are the functions that templates can name, beside and, or, not, eq, ne, lt, le, gt, ge,
// len, index, slice, print and printf. A function returns one value, or a value and an error.
type Funcs map[string]any

// Raw is text that HTML templates write as it stands: constants of the program, never data.
type Raw string

// A Set holds templates that can call each other by name.
type Set struct {
	trees map[string]*parse.Tree
	funcs map[string]reflect.Value
	// For HTML, how each action is written, and the name of that.
	says   map[*parse.ActionNode]escaper
	places map[*parse.ActionNode]string
}

// Text returns one template, and those that it defines.
func Text(name, source string, funcs Funcs) *Set {
	s := newSet(funcs)
	s.add(name, source, funcs)
	return s
}

// Files returns the templates in the files that a pattern names, each by the last part of its path.
// They are a part of the program, so that one that cannot be parsed is a panic.
func Files(files fs.FS, pattern string, funcs Funcs) *Set {
	s := newSet(funcs)
	names, err := fs.Glob(files, pattern)
	if err != nil || len(names) == 0 {
		panic(fmt.Sprintf("fill: no templates at %s: %v", pattern, err))
	}
	for _, name := range names {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		s.add(base(name), string(source), funcs)
	}
	return s
}

// HTML returns templates as Files does. What they write from data is escaped for where it stands:
// in text, in a quoted attribute, in an address. A template that writes data anywhere else is a
// panic.
func HTML(files fs.FS, pattern string, funcs Funcs) *Set {
	s := Files(files, pattern, funcs)
	s.says, s.places = map[*parse.ActionNode]escaper{}, map[*parse.ActionNode]string{}
	if err := s.escape(); err != nil {
		panic(err)
	}
	return s
}

// newSet returns a set without templates.
func newSet(funcs Funcs) *Set {
	s := &Set{trees: map[string]*parse.Tree{}, funcs: map[string]reflect.Value{}}
	for name, f := range funcs {
		s.funcs[name] = reflect.ValueOf(f)
	}
	return s
}

// add parses one file.
func (s *Set) add(name, source string, funcs Funcs) {
	trees, err := parse.Parse(name, source, "", "", funcs, builtinNames)
	if err != nil {
		panic(err)
	}
	maps.Copy(s.trees, trees)
}

// base returns the last part of a path.
func base(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// Execute writes the template of that name, filled with data. Nothing is written where it fails.
func (s *Set) Execute(w io.Writer, name string, data any) (err error) {
	var out bytes.Buffer
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f
		}
	}()
	s.run(&out, name, reflect.ValueOf(data))
	_, err = w.Write(out.Bytes())
	return err
}

// A failure is what is wrong with a template, or with what fills it.
type failure struct{ text string }

// Error implements error.
func (f failure) Error() string { return "fill: " + f.text }

// A filling is one template at work.
type filling struct {
	*Set
	out  *bytes.Buffer
	name string
	vars []variable
}

type variable struct {
	name  string
	value reflect.Value
}

// run executes a template.
func (s *Set) run(out *bytes.Buffer, name string, dot reflect.Value) {
	tree := s.trees[name]
	if tree == nil {
		panic(failure{fmt.Sprintf("there is no template %q", name)})
	}
	f := &filling{s, out, name, []variable{{"$", dot}}}
	f.walk(dot, tree.Root)
}

// fail ends the filling.
func (f *filling) fail(at parse.Node, format string, args ...any) {
	panic(failure{fmt.Sprintf("%s: %s: %s", f.name, at, fmt.Sprintf(format, args...))})
}

// walk executes a node.
func (f *filling) walk(dot reflect.Value, node parse.Node) {
	switch n := node.(type) {
	case *parse.ListNode:
		for _, one := range n.Nodes {
			f.walk(dot, one)
		}
	case *parse.TextNode:
		f.out.Write(n.Text)
	case *parse.CommentNode:
	case *parse.ActionNode:
		v := f.pipe(dot, n.Pipe)
		if len(n.Pipe.Decl) == 0 {
			f.write(n, v)
		}
	case *parse.IfNode:
		f.branch(dot, &n.BranchNode, false)
	case *parse.WithNode:
		f.branch(dot, &n.BranchNode, true)
	case *parse.RangeNode:
		f.loop(dot, n)
	case *parse.TemplateNode:
		var with reflect.Value
		if n.Pipe != nil {
			with = f.pipe(dot, n.Pipe)
		}
		f.run(f.out, n.Name, with)
	default:
		f.fail(node, "unknown kind of node")
	}
}

// branch executes an if, or a with.
func (f *filling) branch(dot reflect.Value, n *parse.BranchNode, with bool) {
	mark := len(f.vars)
	v := f.pipe(dot, n.Pipe)
	switch {
	case !truth(v):
		if n.ElseList != nil {
			f.walk(dot, n.ElseList)
		}
	case with:
		f.walk(v, n.List)
	default:
		f.walk(dot, n.List)
	}
	f.vars = f.vars[:mark]
}

// loop executes a range over a slice, or an array.
func (f *filling) loop(dot reflect.Value, n *parse.RangeNode) {
	mark := len(f.vars)
	v := indirect(f.pipe(dot, n.Pipe))
	f.vars = f.vars[:mark]
	count := 0
	if v.IsValid() {
		if k := v.Kind(); k != reflect.Slice && k != reflect.Array {
			f.fail(n.Pipe, "range over %s", v.Type())
		}
		count = v.Len()
	}
	for i := range count {
		one := v.Index(i)
		switch decl := n.Pipe.Decl; len(decl) {
		case 1:
			f.vars = append(f.vars, variable{decl[0].Ident[0], one})
		case 2:
			f.vars = append(f.vars, variable{decl[0].Ident[0], reflect.ValueOf(i)}, variable{decl[1].Ident[0], one})
		}
		f.walk(one, n.List)
		f.vars = f.vars[:mark]
	}
	if count == 0 && n.ElseList != nil {
		f.walk(dot, n.ElseList)
	}
}

// write writes a value.
func (f *filling) write(n *parse.ActionNode, v reflect.Value) {
	text := shown(v)
	if f.says == nil {
		f.out.WriteString(text)
		return
	}
	_, raw := value(v).(Raw)
	safe, err := f.says[n](text, raw)
	if err != nil {
		f.fail(n, "%v", err)
	}
	f.out.WriteString(safe)
}
