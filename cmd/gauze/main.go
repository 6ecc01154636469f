// Command gauze fits Gaussian models to tables under differential privacy. `gauze help` says how.
package main

import (
	"embed"
	"os"
	"time"

	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

func main() {
	fit.Collect(os.Getenv, fit.Reading)
	ctx := shell.Begin()
	os.Exit(program().Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// helpFiles are what `gauze help` says, a file for each command.
//
//go:embed help
var helpFiles embed.FS

func program() *shell.Program {
	return &shell.Program{
		Name: "gauze", Short: "Gaussian models of sensitive tables, under differential privacy", Help: helpFiles,
		Commands: []shell.Command{
			newFit().Entry(), newDescribe().Entry(), planCommand(), sampleCommand(), compareCommand(), scoreCommand(), simulateCommand(),
			reportCommand(), pcaCommand(), verifyCommand(), ledgerCommand(), fit.StartAudit(), serveCommand(), papersCommand(), demoCommand(), shell.Version(),
		},
	}
}

// newDescribe returns `gauze describe`, all in this process, or on a server.
func newDescribe() *fit.Command {
	return &fit.Command{Request: fit.Request{Profile: true}, Rows: &fit.Memory{}, Server: &fit.Remote{}, Now: time.Now, Getenv: os.Getenv}
}

// newFit returns `gauze fit`, all in this process, or on a server.
func newFit() *fit.Command {
	return &fit.Command{Rows: &fit.Memory{}, Server: &fit.Remote{}, Now: time.Now, Getenv: os.Getenv}
}
