package archtest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every run of tests in .ci/run states its own -timeout, and all of it has a limit: a hang ends
// there, however long other runs may take.
func TestCIHasLimits(t *testing.T) {
	text, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "step ") || !strings.Contains(line, "go test ") {
			continue
		}
		if runs++; !strings.Contains(line, `go test -timeout "$limit" `) {
			t.Errorf("no -timeout: %s", line)
		}
	}
	if whole := regexp.MustCompile(`(?m)^  timeout .*"\$\{minutes\}m" .ci/run`); runs < 4 || !whole.Match(text) || !strings.Contains(string(text), "\nlimit=10m\n") {
		t.Errorf("%d runs of tests, and no limit of all of it", runs)
	}
}
