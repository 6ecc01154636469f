package archtest

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// fieldsTerms has words of a private dialect, and the term of the field to write instead.
var fieldsTerms = map[string]string{
	"allotment": "sub-budget",
	"alike":     "shared covariance, same scale",
	"asked":     "requested, measured",
	"attended":  "has support",
	"blur":      "inflate",
	"choice":    "exponential mechanism, selection",
	"closed":    "sealed",
	"doubt":     "uncertainty, prior variance",
	"explore":   "recursive partition",
	"far":       "outliers",
	"feigned":   "what is expected from noise alone",
	"frame":     "whitening, working coordinates, affine map",
	"gap":       "spacing, distance",
	"gone":      "dropped",
	"hazy":      "unreliable",
	"hook":      "test hook",
	"lattice":   "recording grid",
	"linefit":   "1-d mixture fit",
	"look":      "measure, inspect, refine",
	"lost":      "dropped",
	"marginal":  "column moments",
	"mend":      "fix",
	"near":      "neighbour count",
	"odds":      "1 / sampling rate",
	"outskirts": "outliers",
	"panel":     "row kernels",
	"plainer":   "prune, merge",
	"reduce":    "prune, merge",
	"rehearsal": "test hooks",
	"rings":     "query",
	"shell":     "goodness of fit by radius",
	"shown":     "measured, reported",
	"simplify":  "prune, merge",
	"spare":     "extra component",
	"stage":     "location and scale",
	"stray":     "outliers",
	"strength":  "signal-to-noise",
	"told":      "reported",
	"unkind":    "adversarial",
	"wing":      "dense",
	"worth":     "penalty, gain",
	"zoom":      "refinement",
}

// ordinary are exported names in which such a word has its ordinary meaning.
var ordinary = map[string]string{
	"ClosedForm":  "a formula",
	"TestHook":    "the term itself",
	"NewTestHook": "the term itself",
}

var wordOfName = regexp.MustCompile(`[A-Z]+[a-z0-9]*|^[a-z0-9]+`)

// Exported names are of the field's terms.
func TestExportedWords(t *testing.T) {
	seen := 0
	for _, f := range files(t) {
		if f.test {
			continue
		}
		check := func(id *ast.Ident) {
			if !id.IsExported() {
				return
			}
			seen++
			for _, w := range wordOfName.FindAllString(id.Name, -1) {
				w = strings.ToLower(w)
				say := fieldsTerms[w]
				if say == "" {
					say = fieldsTerms[strings.TrimSuffix(w, "s")]
				}
				if say != "" && ordinary[id.Name] == "" {
					t.Errorf("%s: %s: say %s instead of %q, or list the name with its ordinary meaning", f.at(id.Pos()), id.Name, say, w)
				}
			}
		}
		for _, d := range f.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(d.Name)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					checkSpec(s, check)
				}
			}
		}
	}
	if seen < 2000 {
		t.Errorf("only %d exported names were found: the walk is broken", seen)
	}
}

// checkSpec checks the names of a declaration, and those of a struct's or interface's fields.
func checkSpec(s ast.Spec, check func(*ast.Ident)) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, id := range s.Names {
			check(id)
		}
	case *ast.TypeSpec:
		check(s.Name)
		if !s.Name.IsExported() {
			return
		}
		ast.Inspect(s.Type, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok {
				for _, id := range field.Names {
					check(id)
				}
			}
			return true
		})
	}
}
