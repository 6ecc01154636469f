package estimatetest

import (
	"os"
	"testing"
)

// Golden compares got with the file, which it writes first if update.
func Golden(t *testing.T, file, got string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s changed; if that is meant, run this test with -update and review the diff. Got:\n%s", file, got)
	}
}
