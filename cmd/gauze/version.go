package main

import (
	"fmt"
	"runtime"

	"github.com/gauze-dp/gauze"
)

func versionCommand() command {
	return command{use: "version", short: "print the version", run: printVersion}
}

func printVersion(e *env, _ []string) error {
	if e.json {
		return printJSON(e, map[string]string{"version": gauze.Version, "program": gauze.Program(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintf(e.stdout, "%s (%s, %s/%s)\n", gauze.Program(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
