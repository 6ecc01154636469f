// Command experiments measures Gauze: how many rows its methods need, how far from the truth they
// end, what they cost, beside what can be had without privacy and what the papers print.
//
//	go run ./experiments                     # lists the studies and their experiments
//	go run ./experiments single              # all of one study: writes docs/experiments/single
//	go run ./experiments single kappa rank   # some of its experiments
//	go run ./experiments single -resume kappa  # goes on after an interruption
//	go run ./experiments single -quick       # a few runs of each, printed: does it work?
//	go run ./experiments separated -only '5/*/C6sph' -n 3000,4500 -runs 20 \
//	    -methods separated,general -v d1
//
// A part of an experiment (-only, -n, -runs, -methods, -quick, another budget) is printed and not
// written, unless -out says where. Every run is a line of results/EXPERIMENT.jsonl beside the
// pages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/gauze-dp/gauze/experiments/audit"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/expected"
	"github.com/gauze-dp/gauze/experiments/files"
	"github.com/gauze-dp/gauze/experiments/server"
	"github.com/gauze-dp/gauze/experiments/studies"
	"github.com/gauze-dp/gauze/experiments/tableone"
	"github.com/gauze-dp/gauze/experiments/unkind"
)

// A study is experiments of one kind.
type study interface {
	Title() (name, about string)
	Names() []string
	Run(ctx context.Context, o engine.Options, names []string) error
}

// all returns the studies.
func all() (out []study) {
	for _, s := range studies.All {
		out = append(out, s)
	}
	return append(out, unkind.Study, unkind.Ablations, files.Study, files.Columns, tableone.Study, expected.Study, audit.Study, server.Study)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

const usage = "usage: go run ./experiments STUDY [flags] [experiment..]\n"

// run lists the studies, or runs one.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		list(out)
		return nil
	}
	if strings.HasPrefix(args[0], "-") {
		_, _, err := engine.Parse(args, usage)
		if err == nil {
			err = errors.New("the study comes before its flags: go run ./experiments lists them")
		}
		return err
	}
	for _, s := range all() {
		if name, _ := s.Title(); name != args[0] {
			continue
		}
		o, names, err := engine.Parse(args[1:], usage)
		if err != nil {
			return err
		}
		o.Commit = engine.Commit()
		return s.Run(ctx, o, names)
	}
	return fmt.Errorf("no study %q: go run ./experiments lists them", args[0])
}

func list(out io.Writer) {
	fmt.Fprint(out, usage+"\n")
	for _, s := range all() {
		name, about := s.Title()
		fmt.Fprintf(out, "%-10s %s\n", name, about)
		if names := s.Names(); len(names) > 0 {
			fmt.Fprintf(out, "           %s\n", strings.Join(names, ", "))
		}
	}
}
