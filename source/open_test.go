package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenWithoutFormats: a program that imports no formats reads CSV, and is told what to import
// for all else; an error shows no password.
func TestOpenWithoutFormats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("a;b\n1;2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for input, stdin := range map[string]string{path: "", "-": "a,b\n1,2\n"} {
		table, err := Open(input, strings.NewReader(stdin), Named([]string{"a"}))
		if err != nil {
			t.Fatal(err)
		}
		table.Close()
	}
	for _, input := range []string{"x.parquet", "postgres://u:secret@h/d?table=t", "sqlite:x.db?table=t", "*.parquet", ""} {
		_, err := Open(input, nil, Named([]string{"a"}))
		var said *Error
		if !errors.As(err, &said) || !strings.Contains(said.Hint, "source/inputs") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", input, err)
		}
	}
}
