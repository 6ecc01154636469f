package learner_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// harmless are the packages that a learner may use: they keep nothing, show nothing, and nobody can
// replace what they do.
var harmless = map[string]bool{"cmp": true, "errors": true, "maps": true, "math": true, "math/bits": true, "math/cmplx": true,
	"math/rand/v2": true, "slices": true, "sort": true}

// TestImports: learners are handed raw rows, and work with nothing but these packages and what lies
// below this folder. With gonum any package of the process could have had the rows: blas64.Use
// replaces the arithmetic of all matrices.
func TestImports(t *testing.T) {
	const own, dense = "github.com/gauze-dp/gauze/learner", "github.com/gauze-dp/gauze/dense"
	seen := 0
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		seen++
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !harmless[imported] && imported != own && !strings.HasPrefix(imported, own+"/") && imported != dense && imported != dense+"/wing" {
				t.Errorf("%s imports %q, which is not known to keep nothing, to show nothing and to be what it is", name, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 3 {
		t.Errorf("%d files were read: this test looks in the wrong place", seen)
	}
}
