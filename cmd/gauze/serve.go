//go:build !noserver

package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/serve"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

func serveCommand() shell.Command {
	c := &serve.Command{}
	return shell.Command{
		Use: "serve [token add|list|revoke | backup | restore] [flags]", Short: "the server: analysts who never see a row", Least: 0, Most: 2, Spends: true,
		Flags: func(flags *pflag.FlagSet) {
			c.Register(flags)
			shell.Values(flags, "role", "custodian", "analyst")
		},
		Words: [][]string{{"token", "backup", "restore"}, {"add", "list", "revoke"}},
		Run: func(e *shell.Env, args []string) error {
			return c.Run(e.Ctx, args, e.Stdout, e.Stderr, e.JSON, time.Now)
		},
	}
}
