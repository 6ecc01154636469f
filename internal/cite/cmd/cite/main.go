// Command cite rewrites the files made of the Source tags. Run it with go generate.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gauze-dp/gauze/internal/cite"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cite:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	files, err := cite.Generate(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// moduleRoot returns the nearest folder above that holds go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("wanted a go.mod in this folder or above: run it inside the repository")
		}
		dir = up
	}
}
