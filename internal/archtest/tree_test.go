package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/gauze-dp/gauze"
)

// A file is one Go file of the module.
type file struct {
	name   string // from the root, with slashes
	folder string // the same without the last part; "" for the root
	test   bool   // _test.go
	main   bool   // package main
	text   string
	tree   *ast.File
	set    *token.FileSet
	// ours without the module's path: "kernel/privacy", and "." for the root package
	imports []string
}

// at is the place of a node, for failures.
func (f *file) at(p token.Pos) string { return f.name + ":" + strconv.Itoa(f.set.Position(p).Line) }

// files are all Go files of the repository; no test changes them.
func files(t *testing.T) []*file {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d Go files were found below %s: this test looks in the wrong place", len(all), root)
	}
	return all
}

// parsed parses every Go file, once.
var parsed = sync.OnceValues(func() (all []*file, err error) {
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != root && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		from, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f, err := parse(filepath.ToSlash(from), string(text))
		all = append(all, f)
		return err
	})
	return all, err
})

func parse(name, text string) (*file, error) {
	f := &file{name: name, folder: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), text: text, set: token.NewFileSet()}
	if f.folder == "." {
		f.folder = ""
	}
	tree, err := parser.ParseFile(f.set, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	f.tree, f.main = tree, tree.Name.Name == "main"
	for _, spec := range tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		f.imports = append(f.imports, imported)
	}
	return f, nil
}

// ours is an import's folder in this module.
func ours(imported string) (folder string, yes bool) {
	if imported == module {
		return "", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// under reports that a folder or import path is one of those or lies below one; "." is the root
// folder alone.
func under(name string, folders ...string) bool {
	for _, f := range folders {
		if name == f || strings.HasPrefix(name, f+"/") || f == "." && name == "" {
			return true
		}
	}
	return false
}

// localName is the name by which a file knows an import, or "" if it does not import it.
func (f *file) localName(imported, byDefault string) string {
	for _, spec := range f.tree.Imports {
		if spec.Path.Value != strconv.Quote(imported) {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return byDefault
	}
	return ""
}

// selectors calls see for every x.Name in the file where x is the package known as local.
func (f *file) selectors(local string, see func(name string, at token.Pos)) {
	if local == "" {
		return
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == local && x.Obj == nil {
				see(s.Sel.Name, s.Pos())
			}
		}
		return true
	})
}
