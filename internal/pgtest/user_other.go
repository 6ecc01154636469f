//go:build !unix

package pgtest

import (
	"os/exec"
	"testing"
)

func otherUser(testing.TB) func(*exec.Cmd) { return func(*exec.Cmd) {} }
