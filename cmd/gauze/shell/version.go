package shell

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/gauze-dp/gauze"
)

// Version returns the command that prints the program's version.
func Version() Command {
	return Command{Use: "version", Short: "print the version", Run: func(e *Env, _ []string) error { return e.version() }}
}

func (e *Env) version() error {
	if e.JSON {
		return e.Print(map[string]string{"version": gauze.Version, "program": gauze.Program(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintf(e.Stdout, "%s (%s, %s/%s)\n", gauze.Program(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// Print writes an answer to stdout, as JSON.
func (e *Env) Print(v any) error {
	encoder := json.NewEncoder(e.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
