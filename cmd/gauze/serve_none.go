//go:build noserver

package main

import "github.com/gauze-dp/gauze/cmd/gauze/shell"

// serveCommand says that this program was built without the server, whose libraries are a tenth
// of it: the wheels of Python run `gauze` on rows of their own alone.
func serveCommand() shell.Command {
	return shell.Command{
		Use: "serve", Short: "the server: not in this build", Least: 0, Most: 2,
		Run: func(*shell.Env, []string) error {
			return shell.Wrong("serve", "a program with a server", "one that was built without it", "go install github.com/gauze-dp/gauze/cmd/gauze@latest")
		},
	}
}
