package main

import (
	"flag"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/engine/sharded"
	"github.com/gauze-dp/gauze/source/shared"
)

// workers are where the rows of a fit lie: in shards of a folder that they see, and read.
type workers struct {
	folder       string
	trustNetwork bool
	schedule     func(*shared.Store) sharded.Scheduler
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
