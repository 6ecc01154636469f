//go:build noserver

package main

// serveCommand says that this program was built without the server, whose libraries are an eighth
// of it: the wheels of Python run `gauze` on rows of their own alone.
func serveCommand() command {
	return command{
		use: "serve", short: "the server: not in this build", least: 0, most: 2,
		run: func(*env, []string) error {
			return wrong("serve", "a program with a server", "one that was built without it", "go install github.com/gauze-dp/gauze/cmd/gauze@latest")
		},
	}
}
