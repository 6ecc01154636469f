// Gauze-beam fits tables whose rows are read by workers that Apache Beam starts: Prism in this
// process, or a runner that Beam's own flags name.
//
//	gauze-beam fit 'visits/*.csv' --epsilon 1 --delta 1e-8 --columns age,bmi --shards /scratch
//
// It is a program of its own, so that gauze stays small. Persons, groups, ledgers and reports are
// for gauze alone. What Beam is told, docs/PRIVACY.md says.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/summary"
)

// The exit codes of gauze.
const (
	codeOK        = 0
	codeFailed    = 1
	codeInput     = 2
	codeNoRelease = 3
)

func main() {
	o, args := flagged(flag.CommandLine), os.Args[1:]
	fits := len(args) > 1 && args[0] == "fit"
	if fits {
		o.input, args = args[1], args[2:]
	}
	if err := flag.CommandLine.Parse(args); err != nil {
		os.Exit(codeInput)
	}
	beam.Init() // does not return in a worker
	quiet()
	if !fits || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "gauze-beam fit INPUT --epsilon E --delta D [flags]; flags come after the input")
		os.Exit(codeInput)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(o.run(ctx, os.Stdin, os.Stdout, os.Stderr))
}

// run fits, and says how it went.
func (o *options) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
	result, err := o.fit(ctx, stdin, stdout)
	var ran *gauze.RunError
	switch {
	case errors.As(err, &ran):
		fmt.Fprintf(stderr, "%v\nspent: epsilon %.4g, delta %.3g\n", err, ran.Spent.Epsilon, ran.Spent.Delta)
		return codeFailed
	case err != nil:
		fmt.Fprintln(stderr, err)
		return codeInput
	}
	spent := fmt.Sprintf("spent: epsilon %.4g, delta %.3g", result.Spent.Epsilon, result.Spent.Delta)
	if none := result.NoRelease; none != nil {
		fmt.Fprintf(stderr, "no release: %s; %s\n%s\n", none.Reason, none.Advice, spent)
		return codeNoRelease
	}
	for _, line := range summary.Notes(result.Release) {
		fmt.Fprintln(stderr, line)
	}
	fmt.Fprintf(stderr, "released: %s\n%s\n", summary.Of(result.Release), spent)
	return codeOK
}
