// Package shell is what command lines are made of: commands as data, what they say and how they
// end. Gauze is one, and so is each program of a module of its own that fits as gauze does.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/release"
)

// A Program is a command line: its name and a line about it, its commands in the order in which
// help shows them, and what help says of it and of each, in files help/NAME.txt.
type Program struct {
	Name, Short string
	Commands    []Command
	Help        fs.ReadFileFS
}

// Begin makes a fault that no function can recover from, such as memory that is not to be had, end
// the program by a signal: Go's exit code for it, 2, would say that nothing was spent. The context
// is done once a signal asks the program to end; a second one ends it at once, should the first one
// find it in a long computation.
func Begin() context.Context {
	noCore()
	debug.SetTraceback("crash")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

// Env is what a command may use of the outside.
type Env struct {
	Ctx    context.Context
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Args   []string      // of the program, as they were given
	Spent  release.Spent // by a fit that is over
	// errors and outcomes as one JSON object on stderr; answers as JSON on stdout
	JSON  bool
	notes []string // said so far, with JSON
	typed []string // the words of the command line
}

// Typed returns the command line as it was typed, with more words behind it, for a POSIX shell.
func (e *Env) Typed(more ...string) string {
	all := append(slices.Clone(e.typed), more...)
	for i, word := range all {
		all[i] = words.Quoted(word)
	}
	return strings.Join(all, " ")
}

// Run parses the arguments, runs the command and returns the exit code.
func (p *Program) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e := &Env{Ctx: ctx, Stdin: stdin, Stdout: stdout, Stderr: stderr, Args: args, JSON: asksJSON(args)}
	err := p.Execute(e, args)
	if err == nil {
		return CodeOK
	}
	if ended := Ended(0); errors.As(err, &ended) {
		return int(ended)
	}
	f := failureOf(err)
	f.Notes = e.notes
	f.print(stderr, e.JSON)
	return f.Code
}

// Execute runs the command. A panic is an error here, with what was spent by then; what it says may
// depend on a row, and is not repeated.
func (p *Program) Execute(e *Env, args []string) (err error) {
	defer func() {
		if recover() == nil {
			return
		}
		if err = errInternal; e.Spent != (release.Spent{}) {
			err = &gauze.RunError{Err: errInternal, Spent: e.Spent}
		}
	}()
	root := p.root(e)
	if err := knownCommand(root, args); err != nil {
		return err
	}
	e.typed = append([]string{p.Name}, args...)
	root.SetArgs(args)
	return root.ExecuteContext(e.Ctx)
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

// Note tells the person at the terminal something; with JSON it waits for the one object that is
// printed, see Outcome.Notes.
func (e *Env) Note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !e.JSON {
		fmt.Fprint(e.Stderr, text)
		return
	}
	for line := range strings.Lines(text) {
		e.notes = append(e.notes, strings.TrimPrefix(strings.TrimSpace(line), "note: "))
	}
}
