//go:build !noserver

package main

import (
	"time"

	"github.com/gauze-dp/gauze/cmd/gauze/serve"
)

func serveCommand() command {
	c := &serve.Command{}
	return command{
		use: "serve [token add|list|revoke | backup | restore] [flags]", short: "the server: analysts who never see a row", least: 0, most: 2, flags: c.Register, spends: true,
		run: func(e *env, args []string) error { return c.Run(e.ctx, args, e.stdout, e.stderr, e.json, time.Now) },
	}
}
