package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// measure counts what the packages hold, and how many of them import each.
func measure(packages []*pkg) error {
	byPath := map[string]*pkg{}
	for _, p := range packages {
		byPath[p.ImportPath] = p
	}
	for _, p := range packages {
		for _, imported := range p.Imports {
			if other := byPath[imported]; other != nil {
				other.importedBy++
			}
		}
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return err
			}
			p.code += codeLines(text)
			names, err := exported(text)
			if err != nil {
				return err
			}
			p.exported += names
		}
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return err
			}
			p.tests += codeLines(text)
		}
		for _, name := range slices.Concat(p.SFiles, p.HFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return err
			}
			p.assembly += assemblyLines(string(text))
		}
	}
	return nil
}

// codeLines counts the lines that hold a token.
func codeLines(text []byte) int {
	set := token.NewFileSet()
	in := set.AddFile("", set.Base(), len(text))
	var s scanner.Scanner
	s.Init(in, text, nil, 0)
	lines, last := 0, 0
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return lines
		}
		first := in.Line(pos)
		if tok == token.SEMICOLON && literal == "\n" {
			continue // inserted by the scanner
		}
		end := first + strings.Count(literal, "\n")
		lines += end - max(first, last+1) + 1
		last = max(last, end)
	}
}

// assemblyLines counts the lines of assembly that hold more than a comment.
func assemblyLines(text string) (n int) {
	for line := range strings.Lines(text) {
		if code, _, _ := strings.Cut(line, "//"); strings.TrimSpace(code) != "" {
			n++
		}
	}
	return n
}

// exported counts the names that a file exports at package level, methods of exported types
// included.
func exported(text []byte) (n int, err error) {
	tree, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
				n++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							n++
						}
					}
				}
			}
		}
	}
	return n, nil
}

// receiver returns the name of a method's receiver type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// wordsOfDocs counts the words of the pages that people read: the root's and those of docs, those
// below it included.
func wordsOfDocs(root string) (words int, err error) {
	pages, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		return 0, err
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(name string, _ os.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, name := range pages {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		words += len(strings.Fields(string(text)))
	}
	return words, nil
}
