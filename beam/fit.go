package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/beam/objects"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
	"github.com/gauze-dp/gauze/source/parsed"
	"github.com/gauze-dp/gauze/source/shards"
)

// A store is where workers find rows, and work: a folder that all of them see, or objects.
type store interface {
	sharded.Store
	parsed.Store
	Folder() string // its name, by which workers find it
	Forget() error  // closes what this process holds of it, for a worker
}

// find opens a store, for a worker.
func find(folder string) (store, error) {
	if objects.Are(folder) {
		return objects.Open(folder)
	}
	return shards.OpenStore(folder)
}

// workers are where the rows of a fit lie: in shards of a folder that they see, and read.
type workers struct {
	folder       string
	trustNetwork bool
	schedule     func(store) sharded.Scheduler
	store        store
}

// theirs are the flags by which a runner starts this program as a worker, and those with which it
// would not wait for one, though a sum is charged: which are not a person's.
var theirs = map[string]bool{"worker": true, "id": true, "logging_endpoint": true, "control_endpoint": true, "semi_persist_dir": true, "options": true,
	"async": true, "execute_async": true, "dry_run": true, "template_location": true, "update": true}

// Register adds the flags, Beam's among them.
func (w *workers) Register(flags *pflag.FlagSet) {
	flags.StringVar(&w.folder, "shards", "", "folder that all workers see, or gs://BUCKET/.. or s3://BUCKET/.., for the table as numbers and the sums of it; a private one is made in it, and removed (default that of temporary files)")
	flags.BoolVar(&w.trustNetwork, "trust-network", false, "start Prism although this machine has a network: whoever reaches its ports can have commands run here")
	flag.VisitAll(func(f *flag.Flag) {
		if flags.Lookup(f.Name) == nil && !theirs[f.Name] {
			own := pflag.PFlagFromGoFlag(f)
			own.Value = told{own.Value, f.Name}
			flags.AddFlag(own)
		}
	})
}

// told is a flag that is set through Beam's own flag set: it passes only those on to workers.
type told struct {
	pflag.Value
	name string
}

// Set tells Beam.
func (t told) Set(value string) error { return flag.Set(t.name, value) }

// Open makes the folder.
func (w *workers) Open(r *gauze.Request) (kernel.Room, func() error, error) {
	ready()
	if err := w.checkNetwork(); err != nil {
		return nil, nil, err
	}
	room, local, err := w.begin()
	if err != nil {
		return nil, nil, err
	}
	w.store = room
	stores.within(room.Folder())
	r.Engine = sharded.New(room, w.schedule(room))
	temporary, set := os.LookupEnv(temporaryFolder)
	program := *jobopts.WorkerBinary
	leave := func() error {
		stores.within("")
		*jobopts.WorkerBinary = program
		if os.Unsetenv(temporaryFolder); set {
			os.Setenv(temporaryFolder, temporary)
		}
		return room.Close()
	}
	if err := errors.Join(os.Setenv(temporaryFolder, local), sendNothing(local)); err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return room, leave, nil
}

// sendNothing has Beam send workers an empty file in place of this program, which is 70 MB for each
// sum, where they run the program of their own machine: see boot, and pool.
func sendNothing(folder string) error {
	if kind := strings.ToLower(*jobopts.EnvironmentType); kind != "external" && kind != "process" || *jobopts.WorkerBinary != "" {
		return nil
	}
	*jobopts.WorkerBinary = filepath.Join(folder, "nothing")
	return os.WriteFile(*jobopts.WorkerBinary, nil, 0o600)
}

// A room is a store on the side that fits.
type room interface {
	store
	kernel.Room
	io.Closer
}

// begin makes the store, and says which folder of this machine goes with it.
func (w *workers) begin() (r room, local string, err error) {
	if objects.Are(w.folder) {
		s, err := objects.New(w.folder)
		if err != nil {
			return nil, "", err
		}
		return s, s.Local(), nil
	}
	if strings.HasPrefix(strings.ToLower(runner()), dataflow) {
		return nil, "", &source.Error{Field: "--shards", Wanted: "objects, as in gs://BUCKET/shards, because workers of Dataflow see no folder of this machine", Got: strconv.Quote(w.folder),
			Hint: "name a bucket that only you and the workers can read"}
	}
	s, err := shards.NewStore(w.folder)
	if err != nil {
		return nil, "", err
	}
	return s, s.Folder(), nil
}

// temporaryFolder is the variable that says where temporary files are. Beam (2.77) leaves one there
// in every round, so it is the folder of a fit while it runs.
const temporaryFolder = "TMPDIR"

// Reader opens an input in this process.
func (w *workers) Reader(input string, stdin io.Reader, d source.Dialect) (source.Reader, error) {
	if !objects.Are(input) {
		return inputs.Reader(input, stdin, d)
	}
	paths, err := objects.Files(context.Background(), input)
	if err != nil {
		return nil, err
	}
	return source.OpenFiles(paths, written(d))
}

// pieceBytes are about as many as a worker parses of one large file. A guess.
const pieceBytes = 64 << 20

// fewProcessors are those with which a file in pieces takes longer than a whole one, and a third
// more of their time (docs/BEAM.md).
const fewProcessors = 2

// fewHands says that workers are of this machine, and too few to gain from pieces of a file: to
// write and read again what was parsed takes more than to parse it.
func fewHands() bool {
	return runtime.GOMAXPROCS(0) <= fewProcessors && (runner() == here || runner() == prism)
}

// Read has several files parsed by workers, each by one, or the pieces of a large one, if it is
// declared which columns are fitted, and not how their text is written. Any other input is read
// here.
func (w *workers) Read(ctx context.Context, input string, stdin io.Reader, schema *source.Schema) (*gauze.Input, error) {
	if err := w.greetAll(ctx); err != nil {
		return nil, err
	}
	paths, err := inputs.Files(input), error(nil)
	if objects.Are(input) {
		if paths, err = objects.Files(ctx, input); err != nil {
			return nil, err
		}
	}
	var rows source.Reader
	switch {
	case len(paths) > 1 && len(schema.Columns) > 0 && !schema.CSV.OfText():
		rows, err = parsed.Open(ctx, w.store, paths, file, w.schedule(w.store).Run)
	case objects.Are(input) && paths[0] != input:
		rows, err = source.OpenFiles(paths, written(schema.CSV))
	case objects.Are(input):
		rows, err = written(schema.CSV)(input)
	case len(paths) == 1 && paths[0] == input && len(schema.Columns) > 0 && !fewHands() && !schema.CSV.OfText():
		rows, err = parsed.Cut(ctx, w.store, input, pieceBytes, file, w.schedule(w.store).Run)
	}
	if rows == nil && err == nil {
		return gauze.Open(input, stdin, schema)
	}
	if err != nil {
		return nil, err
	}
	return gauze.FromReader(rows, schema)
}

// file opens a file of this machine, or an object.
func file(path string) (source.Reader, error) { return written(source.Dialect{})(path) }

// written returns a function that opens files in the dialect d.
func written(d source.Dialect) func(path string) (source.Reader, error) {
	return func(path string) (source.Reader, error) {
		if objects.Are(path) {
			return objects.File(path, d)
		}
		return inputs.Written(d)(path)
	}
}

// do does a piece of work of a store.
func do(store store, item string) error {
	switch {
	case isGreeting(item):
		return greet(store, item)
	case parsed.Is(item):
		return parsed.Work(store, item, file)
	}
	return sharded.Work(store, item)
}

// alone does all work in this process.
type alone struct{ store store }

// Run does the work side by side.
func (a alone) Run(ctx context.Context, items []string) error {
	return parallel.Each(ctx, len(items), func(i int) { _ = do(a.store, items[i]) })
}
