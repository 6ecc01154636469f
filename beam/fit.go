package main

import (
	"context"
	"flag"
	"io"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/engine/sharded"
	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
	"github.com/gauze-dp/gauze/source/parsed"
	"github.com/gauze-dp/gauze/source/shared"
)

// workers are where the rows of a fit lie: in shards of a folder that they see, and read.
type workers struct {
	folder       string
	trustNetwork bool
	schedule     func(*shared.Store) sharded.Scheduler
	store        *shared.Store
}

// harness are the flags by which a runner starts this program as a worker, which are not a
// person's.
var harness = map[string]bool{"worker": true, "id": true, "logging_endpoint": true, "control_endpoint": true, "semi_persist_dir": true, "options": true}

// Register adds the flags, Beam's among them.
func (w *workers) Register(flags *pflag.FlagSet) {
	flags.StringVar(&w.folder, "shards", "", "folder that all workers see, for the table as numbers and the sums of it; a private one is made in it, and removed (default that of temporary files)")
	flags.BoolVar(&w.trustNetwork, "trust-network", false, "start Prism although this machine has a network: whoever reaches its ports can have commands run here")
	flag.VisitAll(func(f *flag.Flag) {
		if flags.Lookup(f.Name) == nil && !harness[f.Name] {
			own := pflag.PFlagFromGoFlag(f)
			own.Value = told{own.Value, f.Name}
			flags.AddFlag(own)
		}
	})
}

// told is a flag that Beam is told: it hands on to workers what was set so, and nothing else.
type told struct {
	pflag.Value
	name string
}

// Set tells Beam.
func (t told) Set(value string) error { return flag.Set(t.name, value) }

// Open makes the folder.
func (w *workers) Open(r *gauze.Request) (kernel.Room, func() error, error) {
	if !beam.Initialized() {
		beam.Init()
	}
	if err := w.checkNetwork(); err != nil {
		return nil, nil, err
	}
	store, err := shared.New(w.folder)
	if err != nil {
		return nil, nil, err
	}
	w.store = store
	r.Engine = sharded.New(store, w.schedule(store))
	temporary, set := os.LookupEnv(temporaryFolder)
	return store, func() error {
		if os.Unsetenv(temporaryFolder); set {
			os.Setenv(temporaryFolder, temporary)
		}
		return store.Close()
	}, os.Setenv(temporaryFolder, store.Folder())
}

// temporaryFolder is the variable that says where temporary files are. Beam (2.77) leaves one there
// in every round, so it is the folder of a fit while it runs.
const temporaryFolder = "TMPDIR"

// Read has several files parsed by workers, each by one, if it is declared which columns are
// fitted. Any other input is read here.
func (w *workers) Read(ctx context.Context, input string, stdin io.Reader, schema *source.Schema) (*gauze.Input, error) {
	paths := inputs.Files(input)
	if len(paths) < 2 || len(schema.Columns) == 0 {
		return gauze.Open(input, stdin, schema)
	}
	rows, err := parsed.Open(ctx, w.store, paths, inputs.File, w.schedule(w.store).Run)
	if err != nil {
		return nil, err
	}
	return gauze.FromReader(rows, schema)
}

// do does a piece of work of a store.
func do(store *shared.Store, item string) error {
	if parsed.Is(item) {
		return parsed.Work(store, item, inputs.File)
	}
	return sharded.Work(store, item)
}

// alone does all work in this process.
type alone struct{ store *shared.Store }

// Run does the work side by side.
func (a alone) Run(ctx context.Context, items []string) error {
	return parallel.Each(ctx, len(items), func(i int) { _ = do(a.store, items[i]) })
}
