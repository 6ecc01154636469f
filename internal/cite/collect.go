package cite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Citations are what the Go files of a module say about sources.
type Citations struct {
	Tags []Tag // of all files but tests, in the order of files and lines
	// Shows say which tests would fail if a numbered statement did: their Shows tags.
	Shows []Tag
	// Mentions are the places, file:line, where a comment names a key in running text, by key;
	// tests included.
	Mentions map[string][]string
}

// Collect reads all Go files under root.
//
// Failures: a file that does not parse, a tag without a key, and a tag that stands outside a doc
// comment, where no reader of the documentation would find it. All of them are returned, each with
// its place.
func Collect(root string) (c Citations, faults []error) {
	c.Mentions = map[string][]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != root && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		from, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		faults = append(faults, c.collectFile(filepath.ToSlash(from), text)...)
		return nil
	})
	if err != nil {
		faults = append(faults, err)
	}
	return c, faults
}

// collectFile adds one file, which lies at that place under the root.
func (c *Citations) collectFile(file string, text []byte) (faults []error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, text, parser.ParseComments)
	if err != nil {
		return []error{err}
	}
	folder := path.Dir(file)
	if folder == "." {
		folder = ""
	}
	docs := docsOf(tree)
	for _, comment := range tree.Comments {
		at := fmt.Sprintf("%s:%d", file, files.Position(comment.Pos()).Line)
		for _, m := range mention.FindAllStringSubmatch(comment.Text(), -1) {
			c.Mentions[m[1]] = append(c.Mentions[m[1]], at)
		}
		parse, into := parseDoc, &c.Tags
		if strings.HasSuffix(file, "_test.go") {
			parse, into = parseShows, &c.Shows
		}
		found, err := parse(comment.Text())
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", at, err))
		}
		symbol, isDoc := docs[comment]
		if len(found) > 0 && !isDoc {
			faults = append(faults, fmt.Errorf("%s: a tag outside a doc comment: move it to that of a function, type, constant, variable or package", at))
			continue
		}
		for _, tag := range found {
			tag.Package, tag.Symbol, tag.File = folder, symbol, file
			*into = append(*into, tag)
		}
	}
	return faults
}

// docsOf names the symbol of each doc comment of a file.
func docsOf(tree *ast.File) map[*ast.CommentGroup]string {
	docs := map[*ast.CommentGroup]string{tree.Doc: "package"}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			docs[d.Doc] = funcName(d)
		case *ast.GenDecl:
			for i := len(d.Specs) - 1; i >= 0; i-- {
				switch s := d.Specs[i].(type) {
				case *ast.TypeSpec:
					docs[s.Doc], docs[d.Doc] = s.Name.Name, s.Name.Name
				case *ast.ValueSpec:
					docs[s.Doc], docs[d.Doc] = s.Names[0].Name, s.Names[0].Name
				}
			}
		}
	}
	return docs
}

// funcName returns Name, or Receiver.Name.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	receiver := d.Recv.List[0].Type
	for {
		switch t := receiver.(type) {
		case *ast.StarExpr:
			receiver = t.X
		case *ast.IndexExpr:
			receiver = t.X
		case *ast.Ident:
			return t.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}
