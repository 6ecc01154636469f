package main

import (
	"os"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	const text = "// Package p.\npackage p\n\n/* a\nb */\nvar s = `x\ny`\n\nfunc f() { // two\n\tg(1,\n\t\t2)\n}\n"
	if n := codeLines([]byte(text)); n != 7 {
		t.Errorf("got %d lines of Go, want 7", n)
	}
	if n := assemblyLines("// add adds.\n\nTEXT ·add(SB), 4, $0-8 // no frame\n\tRET\n"); n != 2 {
		t.Errorf("got %d lines of assembly, want 2", n)
	}
}

func TestExported(t *testing.T) {
	const text = "package p\n\nconst A, b = 1, 2\n\ntype T struct{ F int }\n\ntype u int\n\nfunc (*T) M() {}\n\nfunc (u) M() {}\n\nfunc F() {}\n"
	if n, err := exported([]byte(text)); n != 4 || err != nil {
		t.Errorf("got %d names, %v; want A, T, T.M and F", n, err)
	}
}

// TestTables: every promise reaches the kernel's core, and the page has a place for the tables.
func TestTables(t *testing.T) {
	var out strings.Builder
	if err := run("../..", false, &out); err != nil {
		t.Fatal(err)
	}
	packages, err := list("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := measure(packages); err != nil {
		t.Fatal(err)
	}
	core := len(reached(packages, promises[0]))
	for _, p := range promises {
		if n := len(reached(packages, p)); core < 7 || n < core && p.within[0] == "kernel" {
			t.Errorf("%s reaches %d packages, the core has %d", p.what, n, core)
		}
		assembly, seen := 0, map[string]bool{}
		for _, q := range reached(packages, p) {
			assembly, seen[q.folder] = assembly+q.assembly, q.code > 0
		}
		if assembly < 200 {
			t.Errorf("%s: %d lines of assembly: macros of headers are read too", p.what, assembly)
		}
		for _, folder := range p.also {
			if !seen[folder] {
				t.Errorf("%s: %s holds no code", p.what, folder)
			}
		}
		if !strings.Contains(out.String(), "| "+p.what+" |") {
			t.Errorf("there is no row of %s", p.what)
		}
	}
	tools := map[string]bool{}
	for _, q := range unreached(packages) {
		tools[q.folder] = true
	}
	if !tools["internal/madeup"] || !tools["internal/sizes"] || tools["kernel"] || tools["cmd/gauze"] || tools["estimate/general"] {
		t.Errorf("no program reaches %v", tools)
	}
	page, err := os.ReadFile("../../docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, after, found := strings.Cut(string(page), tablesStart); !found || !strings.Contains(after, tablesEnd) {
		t.Error("docs/ARCHITECTURE.md has no place for the tables")
	}
}
