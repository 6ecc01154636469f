// Command cite rewrites the files made of the Source tags. Run it with go generate, which does so
// in internal/cite.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gauze-dp/gauze/internal/cite"
)

const root = "../.."

func main() {
	files, err := cite.Generate(root)
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cite:", err)
		os.Exit(1)
	}
}
