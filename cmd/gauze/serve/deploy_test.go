package serve

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// What is deployed asks for what there is, and gives the server the time that it needs to stop.
func TestDeployed(t *testing.T) {
	find := func(file, pattern string) string {
		text, err := os.ReadFile("../../../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindStringSubmatch(string(text))
		if found == nil {
			t.Fatalf("%s has no line %s", file, pattern)
		}
		return found[1]
	}
	parsed := func(args string) *Command {
		c, set := &Command{}, pflag.NewFlagSet("serve", pflag.ContinueOnError)
		c.Register(set)
		if err := set.Parse(strings.Fields(args)); err != nil || set.NArg() > 0 {
			t.Errorf("gauze serve %s: %v", args, err)
		}
		return c
	}
	unit := parsed(find("gauze.service", `(?m)^ExecStart=\S+/gauze serve (.*)$`))
	stop, err := time.ParseDuration(find("gauze.service", `(?m)^TimeoutStopSec=(.*)$`) + "s")
	if err != nil || stop <= unit.server.Grace {
		t.Errorf("systemd waits %v, %v; fits may go on for %v", stop, err, unit.server.Grace)
	}
	parsed(find("Containerfile", `(?m)^CMD \["serve"(.*)\]$`))
}
