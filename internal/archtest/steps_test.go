package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// The name of a step is spelled once in a package: a plan and its measurements share a constant or
// a row of a table, so that neither can be changed without the other.
func TestStepNames(t *testing.T) {
	steps, places := map[[2]string]bool{}, map[[2]string][]string{}
	for _, f := range files(t) {
		if f.test || !under(f.folder, "estimate", "literal", "parts") || under(f.folder, "estimate/estimatetest") {
			continue
		}
		for _, name := range stepNames(f.tree) {
			steps[[2]string{f.folder, name.Value}] = true
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				at := [2]string{f.folder, l.Value}
				places[at] = append(places[at], f.at(l.Pos()))
			}
			return true
		})
	}
	if len(steps) < 60 {
		t.Errorf("only %d names of steps were found: the pattern is broken", len(steps))
	}
	for step := range steps {
		if len(places[step]) > 1 {
			t.Errorf("the step %s is spelled in %s: give it one constant or one row of a table", step[1], strings.Join(places[step], ", "))
		}
	}
}

// stepNames are the literals of the names of steps: the field of a composite literal that has
// Query and Share too, and constants whose names begin with step.
func stepNames(tree *ast.File) (names []*ast.BasicLit) {
	within := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				names = append(names, l)
			}
			return true
		})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			fields := map[string]ast.Expr{}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if key, ok := kv.Key.(*ast.Ident); ok {
						fields[key.Name] = kv.Value
					}
				}
			}
			if fields["Name"] != nil && fields["Query"] != nil && fields["Share"] != nil {
				within(fields["Name"])
			}
		case *ast.ValueSpec:
			if slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return strings.HasPrefix(strings.ToLower(id.Name), "step") }) {
				for _, v := range n.Values {
					if l, ok := v.(*ast.BasicLit); ok && l.Kind == token.STRING {
						names = append(names, l)
					}
				}
			}
		}
		return true
	})
	return names
}
