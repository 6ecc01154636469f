// Command gauze fits Gaussian models to tables under differential privacy. `gauze help` says how.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/release"
	"github.com/spf13/cobra"
)

// How much the collector leaves standing: a part while rows are read, and then headroom, in bytes,
// which is little beside a large table and spares fits to small ones the collector. Headroom was
// chosen for a table of 80 MB to be 1.8 times as much at most.
const readingPercent, headroom = 50, 16 << 20

// collectAt sets that part, in percent of what is in use; GOGC overrides it.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

func main() {
	collectAt(readingPercent)
	dieLoudly()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once, should the first one find it in a long computation.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// dieLoudly makes a fault that no function can recover from, such as memory that is not to be had,
// end the program by a signal: Go's exit code for it, 2, would say that nothing was spent.
func dieLoudly() {
	noCore()
	debug.SetTraceback("crash")
}

// env is what a command may use of the outside.
type env struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	notes  []string      // said so far, with json
	spent  release.Spent // by a fit that is over
	// errors and outcomes as one JSON object on stderr; answers as JSON on stdout
	json bool
}

// run parses the arguments, runs the command and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e := &env{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, json: asksJSON(args)}
	root := newRoot(e)
	root.SetArgs(args)
	err := execute(e, root, args)
	if err == nil {
		return codeOK
	}
	f := failureOf(err)
	f.Notes = e.notes
	f.print(stderr, e.json)
	return f.Code
}

// execute runs the command. A panic is an error here, with what was spent by then; what it says may
// depend on a row, and is not repeated.
func execute(e *env, root *cobra.Command, args []string) (err error) {
	defer func() {
		if recover() == nil {
			return
		}
		if err = errInternal; e.spent != (release.Spent{}) {
			err = &gauze.RunError{Err: errInternal, Spent: e.spent}
		}
	}()
	if err := knownCommand(root, args); err != nil {
		return err
	}
	return root.ExecuteContext(e.ctx)
}

// errInternal is a fault of the program outside a fit, which has errors of its own for that.
var errInternal = errors.New("internal error")

// asksJSON looks for --json by itself, because an error in the flags is to be printed as JSON too.
func asksJSON(args []string) bool {
	for _, a := range args {
		switch a {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// note tells the person at the terminal something; with --json it waits for the one object that is
// printed, see outcome.Notes.
func (e *env) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !e.json {
		fmt.Fprint(e.stderr, text)
		return
	}
	for line := range strings.Lines(text) {
		e.notes = append(e.notes, strings.TrimPrefix(strings.TrimSpace(line), "note: "))
	}
}
