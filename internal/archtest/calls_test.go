package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// A library's answer is a function of its arguments and of the kernel's noise: it never prints,
// exits, reads the clock or the environment.
func TestLibrariesDoNotReachOutside(t *testing.T) {
	never := map[string][]string{
		"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		"time": {"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc"},
		"os":   {"Exit", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Args", "Stdin", "Stdout", "Stderr", "Getwd", "Chdir", "Setenv"},
	}
	for _, f := range files(t) {
		if f.test || f.main || strings.HasSuffix(f.name, "cmd/gauze/shell/progress.go") || under(f.folder, "internal/stattest", "estimate/estimatetest", "experiments") {
			continue
		}
		for imported, names := range never {
			f.selectors(f.localName(imported, imported), func(name string, at token.Pos) {
				for _, n := range names {
					if n == name {
						t.Errorf("%s: %s.%s in a library: leave it to cmd, or take it as an argument", f.at(at), imported, name)
					}
				}
			})
		}
	}
}

// seededOnly are the names of math/rand/v2 that say which generator is meant. All others draw from
// the global one.
var seededOnly = map[string]bool{"New": true, "NewPCG": true, "Rand": true, "PCG": true, "Source": true, "NewZipf": true, "Zipf": true}

// Randomness outside the kernel has a public seed (starts of EM) or a generator that the caller
// brings (sampling a model): then a released number is a function of released numbers.
func TestNoGlobalRandomness(t *testing.T) {
	for _, f := range files(t) {
		if f.test {
			continue
		}
		// unseeded rows of a public model; seeded noise for tests
		chacha := under(f.folder, "cmd", "kernel/internal/noise")
		f.selectors(f.localName("math/rand/v2", "rand"), func(name string, at token.Pos) {
			if !seededOnly[name] && !(chacha && (name == "NewChaCha8" || name == "ChaCha8")) {
				t.Errorf("%s: rand.%s: wanted a generator made by rand.New(rand.NewPCG(..)) from a public seed", f.at(at), name)
			}
		})
	}
}

// Nothing replaces the source of entropy of the process, not even a test: others run beside it.
func TestEntropyIsNotReplaced(t *testing.T) {
	for _, f := range files(t) {
		local := f.localName("crypto/rand", "rand")
		if local == "" {
			continue
		}
		replaced := func(e ast.Expr) bool {
			s, ok := e.(*ast.SelectorExpr)
			if !ok {
				return false
			}
			x, ok := s.X.(*ast.Ident)
			return ok && x.Name == local && s.Sel.Name == "Reader"
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					if replaced(left) {
						t.Errorf("%s: crypto/rand.Reader is assigned: every draw after it would be predictable", f.at(n.Pos()))
					}
				}
			case *ast.UnaryExpr:
				if n.Op == token.AND && replaced(n.X) {
					t.Errorf("%s: the address of crypto/rand.Reader is taken", f.at(n.Pos()))
				}
			}
			return true
		})
	}
}

// What controls noise, or opens a session, needs a testing.TB in hand: what hands out a session, a
// draw or a hook. Tables, learners and an engine that counts anybody can make; a table that is
// observed (kerneltest.Observed) the audit alone, since nothing else may import the package.
func TestTestDoorsNeedATest(t *testing.T) {
	doors := map[string]int{}
	for _, f := range files(t) {
		if f.test || !under(f.folder, "kernel/kerneltest") {
			continue
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() {
				continue
			}
			door := controls(fn)
			if door == "" {
				continue
			}
			doors[door]++
			if !firstIsTB(fn) {
				t.Errorf("%s: kerneltest.%s: wanted a testing.TB as the first argument, so that nothing but a test can call it", f.at(fn.Pos()), fn.Name.Name)
			}
			if !asksForTests(fn) {
				t.Errorf("%s: kerneltest.%s: wanted a call of forTests, since any program can write &testing.T{}", f.at(fn.Pos()), fn.Name.Name)
			}
		}
	}
	for _, door := range append(slices.Clone(controlling), "factor") {
		if doors[door] == 0 {
			t.Errorf("kernel/kerneltest has no function that hands out a %s: this test looks for a name that is gone", door)
		}
	}
}

// controlling names the types that control noise: sessions, draws and hooks.
var controlling = []string{"Session", "Draw", "TestHook"}

// controls returns the type by which a function hands out control of the noise, "factor" if it
// takes a factor of the noise, and "" if it does neither.
func controls(fn *ast.FuncDecl) string {
	if fn.Type.Results == nil {
		return ""
	}
	factor := slices.ContainsFunc(fn.Type.Params.List, func(p *ast.Field) bool {
		return slices.ContainsFunc(p.Names, func(name *ast.Ident) bool { return name.Name == "factor" })
	})
	if factor {
		return "factor"
	}
	for _, r := range fn.Type.Results.List {
		star, ok := r.Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		if s, ok := star.X.(*ast.SelectorExpr); ok && slices.Contains(controlling, s.Sel.Name) {
			return s.Sel.Name
		}
	}
	return ""
}

// asksForTests reports a function that panics outside of tests before it does anything but say that
// it is a helper.
func asksForTests(fn *ast.FuncDecl) bool {
	for _, s := range fn.Body.List {
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		call, ok := e.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "forTests" {
			return true
		}
	}
	return false
}

func firstIsTB(fn *ast.FuncDecl) bool {
	if len(fn.Type.Params.List) == 0 {
		return false
	}
	of := fn.Type.Params.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok { // a testing.T is one
		of = star.X
	}
	s, ok := of.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "testing" && (s.Sel.Name == "TB" || s.Sel.Name == "T")
}

// Only kerneltest opens a session whose noise is controlled.
func TestOneDoorToControlledNoise(t *testing.T) {
	for _, f := range files(t) {
		if f.folder == "kernel" || under(f.folder, "kernel/kerneltest", "internal/attacks") {
			continue
		}
		f.selectors(f.localName(module+"/kernel", "kernel"), func(name string, at token.Pos) {
			if strings.HasSuffix(name, "ForTest") {
				t.Errorf("%s: kernel.%s: use kernel/kerneltest, which asks for a testing.TB", f.at(at), name)
			}
		})
	}
}

// Only what papers print measures the table of all blocks' estimates: nobody else has to trust it.
func TestOnlyLiteralPools(t *testing.T) {
	pools := 0
	for _, f := range files(t) {
		if f.test {
			continue
		}
		f.selectors(f.localName(module+"/kernel/blocks", "blocks"), func(name string, at token.Pos) {
			if name != "Pool" {
				return
			}
			if pools++; !under(f.folder, "literal") {
				t.Errorf("%s: blocks.Pool: only literal algorithms pool estimates", f.at(at))
			}
		})
	}
	if pools == 0 {
		t.Error("nothing calls blocks.Pool: this test looks in the wrong place")
	}
}

// A panic on a goroutine that nobody watches ends the process, and what a fit has spent is lost
// with it: so what computes is started by the package parallel alone.
func TestGoroutinesAreWatched(t *testing.T) {
	for _, f := range files(t) {
		if f.test || under(f.folder, "parallel", "experiments") {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: a goroutine: wanted one of the package parallel, which brings its panic back", f.at(g.Pos()))
			}
			return true
		})
		f.selectors(f.localName("sync", "sync"), func(name string, at token.Pos) {
			if name == "WaitGroup" {
				t.Errorf("%s: sync.WaitGroup: wanted the package parallel, which brings panics back", f.at(at))
			}
		})
	}
}
