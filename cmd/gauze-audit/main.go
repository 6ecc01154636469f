// Command gauze-audit runs `gauze audit`, which starts it: gauze-audit audit --method M ... takes
// the same flags. It is a program of its own because it holds what overhears and replays noise.
package main

import (
	"os"

	"github.com/gauze-dp/gauze/cmd/gauze-audit/attack"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

func main() {
	ctx := shell.Begin()
	os.Exit(attack.Program().Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
