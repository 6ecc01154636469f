package gauze

import (
	"os"
	"strings"
	"testing"
)

// Every method has its lines in docs/METHODS.md.
func TestMethodsAreDescribed(t *testing.T) {
	page, err := os.ReadFile("docs/METHODS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range Methods().All() {
		if !strings.Contains(string(page), "`"+m.Name()+"`") {
			t.Errorf("docs/METHODS.md says nothing of %s", m.Name())
		}
	}
}
