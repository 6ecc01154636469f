package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"testing"
)

// A constant that affects utility alone says which experiment or source chose it, or that it is a
// guess.
func TestUtilityConstants(t *testing.T) {
	utility := regexp.MustCompile(`(?i)utility (constant|only)`)
	origin := regexp.MustCompile(`(?i)guess|chosen|fitted|measured|\[[A-Z]{2,}[0-9]*\]`)
	found := 0
	for _, f := range files(t) {
		if f.test || !under(f.folder, "estimate", "parts") {
			continue
		}
		for _, d := range f.tree.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST || !utility.MatchString(g.Doc.Text()) {
				continue
			}
			if found++; !origin.MatchString(g.Doc.Text()) {
				t.Errorf("%s: say where these constants come from, or that they are guesses: %q", f.name, g.Doc.Text())
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d were found: the pattern is broken", found)
	}
}
