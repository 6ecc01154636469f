// Command sizes prints how large the project is, as tables: what there is to read for each promise,
// and what each layer holds. The figures inform; no test holds them below a number.
//
//	go run ./internal/sizes                print them
//	go run ./internal/sizes -root DIR      of another checkout
//	go run ./internal/sizes -write         into docs/ARCHITECTURE.md
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/gauze-dp/gauze"

func main() {
	root := flag.String("root", ".", "the checkout to measure")
	write := flag.Bool("write", false, "write the tables into docs/ARCHITECTURE.md")
	flag.Parse()
	if err := run(*root, *write, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}

func run(root string, write bool, out io.Writer) error {
	packages, err := list(root)
	if err != nil {
		return err
	}
	if err := measure(packages); err != nil {
		return err
	}
	var text bytes.Buffer
	toTrust(&text, packages)
	byLayer(&text, packages)
	words, err := wordsOfDocs(root)
	if err != nil {
		return err
	}
	fmt.Fprintf(&text, "\nThe pages in `docs` and in the root have %d words.\n", words)
	if !write {
		_, err := out.Write(text.Bytes())
		return err
	}
	return replace(filepath.Join(root, "docs", "ARCHITECTURE.md"), text.String())
}

// A pkg is one package of the module, as `go list -json` tells it, and what it holds.
type pkg struct {
	Dir, ImportPath                             string
	GoFiles, SFiles, HFiles                     []string
	TestGoFiles, XTestGoFiles                   []string
	Imports, Deps                               []string
	folder                                      string // from the root; "." for the root package
	code, assembly, tests, exported, importedBy int
}

func list(root string) ([]*pkg, error) {
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,SFiles,HFiles,TestGoFiles,XTestGoFiles,Imports,Deps", "./...")
	cmd.Dir = root
	// One processor, so that the figures do not depend on who measures.
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOWORK=off")
	cmd.Stderr = os.Stderr
	listed, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var packages []*pkg
	for in := json.NewDecoder(bytes.NewReader(listed)); ; {
		p := &pkg{}
		switch err := in.Decode(p); {
		case errors.Is(err, io.EOF):
			return beam(root, packages)
		case err != nil:
			return nil, err
		}
		p.folder, _ = ours(p.ImportPath)
		packages = append(packages, p)
	}
}

// beam appends the packages of the module of workers, whose own requirements need not be there:
// what they import of ours is what their files say.
func beam(root string, packages []*pkg) ([]*pkg, error) {
	for _, folder := range []string{"beam/objects", "beam"} {
		p := &pkg{Dir: filepath.Join(root, folder), ImportPath: module + "/" + folder, folder: folder}
		names, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				p.TestGoFiles = append(p.TestGoFiles, filepath.Base(name))
				continue
			}
			p.GoFiles = append(p.GoFiles, filepath.Base(name))
			tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return nil, err
			}
			for _, i := range tree.Imports {
				p.Imports = append(p.Imports, strings.Trim(i.Path.Value, `"`))
			}
		}
		for _, q := range packages {
			if slices.Contains(p.Imports, q.ImportPath) {
				p.Deps = append(append(p.Deps, q.ImportPath), q.Deps...)
			}
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// ours returns the folder of an import path of this module.
func ours(imported string) (folder string, yes bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

const tablesStart, tablesEnd = "<!-- sizes: go run ./internal/sizes -write -->", "<!-- end of sizes -->"

// replace writes text between the marks of a page.
func replace(page, text string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(old), tablesStart)
	_, after, ended := strings.Cut(rest, tablesEnd)
	if !found || !ended {
		return fmt.Errorf("%s: want the marks %q and %q", page, tablesStart, tablesEnd)
	}
	return os.WriteFile(page, []byte(before+tablesStart+"\n\n"+text+"\n"+tablesEnd+after), 0o644)
}
