package main

import (
	"fmt"
	"runtime"

	"github.com/gauze-dp/gauze"
)

const versionUsage = `Print the version of gauze, and of what it was built with and for.

  gauze version`

func versionCommand() command {
	return command{use: "version", short: "print the version", long: versionUsage, run: printVersion}
}

func printVersion(e *env, _ []string) error {
	if e.json {
		return printJSON(e, map[string]string{"version": gauze.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintf(e.stdout, "gauze %s (%s, %s/%s)\n", gauze.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
