package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	remote "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	"golang.org/x/sync/errgroup"

	"github.com/gauze-dp/gauze/kernel/sharded"
)

func init() {
	register.DoFn2x0[string, func(string)](&worker{})
	register.Emitter1[string]()
	register.Function1x0(done)
}

// A beamed scheduler runs a pipeline for each sum. Its elements are the program, the store's folder
// and the name of a piece of work, and nothing else: Beam, its logs and its network learn when a
// fit measures, and how many shards it has.
type beamed struct{ folder string }

// between parts what an element says.
const between = "\n"

// Run has Beam start workers. Elements are reshuffled, or the one that made them would do them all;
// and they come out again, because Prism (2.77) spins while a bundle without outputs is worked on:
// a fifth of a fit's processor time.
func (b beamed) Run(ctx context.Context, items []string) error {
	pipeline, scope := beam.NewPipelineWithRoot()
	elements := make([]string, len(items))
	for i, item := range items {
		elements[i] = build() + between + b.folder + between + item
	}
	worked := beam.ParDo(scope, &worker{}, beam.Reshuffle(scope, beam.CreateList(scope, elements)))
	beam.ParDo0(scope, done, beam.Reshuffle(scope, worked))
	_, err := beam.Run(ctx, runner(), pipeline)
	return err
}

// A worker does all work of a bundle side by side. A runner may hand it over as one, as Prism does,
// which takes a part back only where none is done for a tenth of a second.
type worker struct{ all *errgroup.Group }

// slots are the cores of this process, which all of its workers share.
var slots = make(chan struct{}, runtime.GOMAXPROCS(0))

// StartBundle begins with no work.
func (w *worker) StartBundle(func(string)) { w.all = new(errgroup.Group) }

// ProcessElement has the work done that an element names, and returns at once.
func (w *worker) ProcessElement(element string, emit func(string)) {
	w.all.Go(func() error {
		slots <- struct{}{}
		defer func() { <-slots }()
		return work(element)
	})
	emit(element)
}

// FinishBundle waits for the work.
func (w *worker) FinishBundle(func(string)) error { return w.all.Wait() }

var (
	errElement = errors.New("gauze-beam: work that nobody asked for")
	errBuild   = errors.New("gauze-beam: work of another build of the program")
)

// labour is done by workers, which tests have fail.
var labour = do

// work does what an element names. Its errors are constants, and panics become one: Beam logs
// errors, with stacks.
func work(element string) (err error) {
	defer func() {
		if recover() != nil {
			err = errElement
		}
	}()
	program, rest, _ := strings.Cut(element, between)
	at := strings.LastIndex(rest, between) // a folder can have any name
	if at < 0 {
		return errElement
	}
	folder, item := rest[:at], rest[at+len(between):]
	if program != build() && !isGreeting(item) {
		return errBuild
	}
	store, leave, err := stores.open(folder)
	if err != nil {
		return errElement
	}
	defer leave()
	return labour(store, item)
}

func done(string) {}

// runner returns the runner of Beam's flag, or Prism.
func runner() string { return cmp.Or(*runners.Runner, prism) }

// Runners: prism is Beam's in this process, and here none of its, to compare with.
const (
	prism    = "prism"
	here     = "here"
	dataflow = "dataflow"
)

// scheduler has the work of a store done by the runner.
func scheduler(s store) sharded.Scheduler {
	if runner() == here {
		return alone{s}
	}
	return beamed{s.Folder()}
}

// ready initializes Beam, and keeps what it and Prism say of themselves from the terminal: in this
// order, since Beam then has log/slog write there.
func ready() {
	if !beam.Initialized() {
		beam.Init()
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetLogger(silent{})
	hooks.DisableHook(remote.DefaultRemoteLoggingHook) // by which workers would be heard again
}

type silent struct{}

// Log says nothing.
func (silent) Log(context.Context, log.Severity, int, string) {}
