package gauze

import (
	"strings"
	"testing"
)

// TestName: a build that knows no revision, as that of a test, says none.
func TestName(t *testing.T) {
	if got := programName("1.2.3"); !strings.HasPrefix(got, "gauze 1.2.3") || strings.Contains(got, "()") {
		t.Errorf("got %q", got)
	}
}
