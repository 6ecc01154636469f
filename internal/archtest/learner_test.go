package archtest

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// A learner is handed raw rows, so its packages have no variables to keep them in, and it runs on
// nothing but this module and the standard library.
func TestLearnersKeepNothing(t *testing.T) {
	seen := 0
	for _, f := range files(t) {
		if f.test || !under(f.folder, "learner") {
			continue
		}
		seen++
		for _, fault := range keeps(f) {
			t.Error(fault)
		}
	}
	if seen == 0 {
		t.Error("there is no learner: this test looks in the wrong place")
	}
}

// keeps are the package variables of a file, but for assertions (var _ = ..), goroutines, and
// imports of others.
func keeps(f *file) (faults []string) {
	for _, d := range f.tree.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			for _, name := range s.(*ast.ValueSpec).Names {
				if name.Name != "_" {
					faults = append(faults, f.at(name.Pos())+": a package variable of a learner could keep rows: make it a constant or a local")
				}
			}
		}
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			faults = append(faults, f.at(g.Pos())+": a goroutine of a learner could outlive it")
		}
		return true
	})
	for _, imported := range f.imports {
		if _, own := ours(imported); !own && strings.Contains(imported, ".") {
			faults = append(faults, f.name+" imports "+imported+": a learner knows the standard library only; arithmetic that others can replace would hand them rows")
		}
	}
	return faults
}

func TestKeeps(t *testing.T) {
	for text, wrong := range map[string]bool{
		"package p\n\nvar kept [][]float64\n":                      true,
		"package p\n\nvar _ = 1\n\nconst c = 2\n":                  false,
		"package p\n\nfunc f() { go f() }\n":                       true,
		"package p\n\nimport _ \"example.org/x\"\n":                true,
		"package p\n\nimport _ \"gonum.org/v1/gonum/mat\"\n":       true,
		"package p\n\nfunc f() { var x int; _ = x }\n":             false,
		"package p\n\nimport _ \"math\"\n\nvar (\n\ta, b int\n)\n": true,
	} {
		f, err := parse("learner/x/x.go", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := keeps(f); (got != nil) != wrong {
			t.Errorf("%q: %q, want a fault: %v", text, got, wrong)
		}
	}
}
