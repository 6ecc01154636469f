package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	mostFileLines     = 500
	mostFunctionLines = 80
)

// Files and functions that one can read in one go.
func TestSizes(t *testing.T) {
	for _, f := range files(t) {
		if f.test {
			continue
		}
		if n := strings.Count(f.text, "\n"); n > mostFileLines {
			t.Errorf("%s has %d lines, at most %d are wanted: split it by what it is about", f.name, n, mostFileLines)
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := f.set.Position(fn.End()).Line - f.set.Position(fn.Pos()).Line + 1; n > mostFunctionLines {
				t.Errorf("%s: %s has %d lines, at most %d are wanted", f.at(fn.Pos()), fn.Name.Name, n, mostFunctionLines)
			}
		}
	}
}

// mostCommentWidth is in columns, a tab counting four. A formula is broken too.
const mostCommentWidth = 100

// Comments that fit beside each other on a screen, and on a page.
func TestCommentWidth(t *testing.T) {
	for _, f := range files(t) {
		for i, line := range strings.Split(f.text, "\n") {
			line = strings.ReplaceAll(line, "\t", "    ")
			comment := strings.HasPrefix(strings.TrimSpace(line), "//") && !strings.HasPrefix(line, "//go:")
			if width := utf8.RuneCountInString(line); comment && width > mostCommentWidth {
				t.Errorf("%s:%d: a comment %d columns wide, at most %d are wanted", f.name, i+1, width, mostCommentWidth)
			}
		}
	}
}

// unwanted are marks that say a thing is not finished, and places that exist on one machine only.
var unwanted = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`), "finish it, or open an issue"},
	{regexp.MustCompile(`(^|[\s"'(=\x60])/(home|Users|work|root|tmp|mnt|var/folders)/[a-zA-Z0-9_.]`), "a path of one machine"},
	{regexp.MustCompile(`[A-Z]:\\Users\\`), "a path of one machine"},
}

func TestNoUnwantedText(t *testing.T) {
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		switch filepath.Ext(name) {
		case ".go", ".md", ".txt", ".json", ".bib", ".html", ".css", ".py", ".sh", ".mod", "":
		default:
			return nil
		}
		if entry.IsDir() || entry.Name() == "gauze" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, u := range unwanted {
				if found := u.pattern.FindString(line); found != "" {
					t.Errorf("%s:%d: %q: %s", name, i+1, found, u.why)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
