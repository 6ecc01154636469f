package archtest

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A layer says which folders of this module the code of a folder may import, subfolders included.
// The longest folder that fits a package is its layer. A package may always import what lies below
// itself, but for the package kernel.
type layer struct {
	folder string
	may    []string
	why    string
}

var layers = []layer{
	{"dense", nil, "plain arithmetic on small matrices, for what is handed raw rows or estimates from them: nothing of it can be replaced from outside"},
	{"dense/symmetric", []string{"dense"}, "what estimators do with covariances that were released, by gonum: no row passes through it"},
	{"parallel", nil, "it starts goroutines and brings their panics back"},
	{"kernel/privacy", nil, "the accounting is checked by reading this folder alone"},
	{"kernel/query", []string{"kernel/privacy", "kernel/internal/rowkernels"}, "a query is data; it sees neither rows nor noise"},
	{"kernel/query/papers", []string{"kernel/privacy", "kernel/query", "kernel/internal/rowkernels"}, "a query is data; it sees neither rows nor noise"},
	{"kernel/internal/rowkernels", nil, "arithmetic on rows that knows nothing else"},
	{"kernel/internal/noise", nil, "a sampler is checked by reading this folder alone"},
	{"kernel/internal/engine", []string{"kernel/query", "parallel"}, "an engine computes exact aggregates and draws no noise"},
	{"kernel/sharded", []string{"kernel/query", "kernel/internal/engine", "parallel"}, "an engine computes exact aggregates and draws no noise; it writes down what estimators ask"},
	{"kernel/internal/core", []string{"kernel/privacy", "kernel/query", "kernel/internal/engine", "kernel/internal/noise"}, "the core knows no mechanism but sums: the others are brought to it"},
	{"kernel/internal/agree", []string{"kernel/internal/core", "kernel/internal/noise"}, "what tests of agreement share stands on the core, and knows no mechanism"},
	{"kernel", mechanism, "what estimators see: the core, and the mechanisms that the default methods use"},
	{"kernel/pure", slices.Concat(mechanism, []string{"kernel", "kernel/internal/agree", "kernel/blocks", "kernel/query/papers"}), "only literal algorithms use it: a mechanism stands on the core"},
	{"kernel/blocks", slices.Concat(mechanism, []string{"kernel/internal/agree", "dense", "parallel"}), "a mechanism stands on the core"},
	{"kernel/people", []string{"kernel", "kernel/privacy", "kernel/query", "kernel/internal/noise", "kernel/internal/engine"}, "it takes rows in, and hands on one of each person; what a group's plan costs is arithmetic on the plan and on what queries state"},
	{"kernel/kerneltest", []string{"kernel", "kernel/internal/core", "kernel/internal/engine", "kernel/internal/agree", "kernel/internal/noise", "kernel/privacy", "kernel/query", "internal/stattest"}, "for tests, and for the audit, which observes fits to rows that it made up"},
	{"model", []string{"model", "dense", "dense/symmetric"}, "a model is public, and used by everything else"},
	{"learner", []string{"learner", "dense"}, "a learner is handed raw rows: it knows nothing that could keep or show them"},
	{"parts", []string{"dense", "dense/symmetric", "parallel", "kernel", "kernel/privacy", "kernel/query", "learner/kmeans", "model", "parts"},
		"parts of estimators see data only through a session; k-means knows points and nothing else"},
	{"estimate/catalog", slices.Concat(products, []string{"estimate", "estimate/program", "estimate/learners", "kernel/privacy"}), "the list of methods knows the methods and the table of their errors, and what papers print is listed apart"},
	{"estimate/estimatetest", []string{"dense", "kernel", "kernel/privacy", "kernel/query", "kernel/blocks", "kernel/kerneltest", "model", "estimate", "estimate/learners", "learner", "internal/madeup"}, "tests only"},
	{"estimate/learners", []string{"kernel", "kernel/blocks", "estimate", "learner", "learner/em"},
		"it is the list of what black boxes run on blocks of rows, and knows no estimator"},
	{"estimate/program", slices.Concat(session, []string{"estimate"}), "it is what every estimator shares that knows estimate's own types, and it knows no estimator"},
	{"estimate/recursive", slices.Concat(session, []string{"estimate", "estimate/program"}), "it finds where components are, for the estimators of mixtures, and knows none"},
	{"estimate/gaussian", slices.Concat(session, []string{"estimate", "estimate/program"}), "it fits one distribution, and knows no estimator of mixtures"},
	{"estimate/blackbox", slices.Concat(estimators, []string{"kernel/blocks", "estimate/learners"}), "the black-box reduction names the learners that the kernel runs on blocks of rows"},
	{"estimate/general", append(estimators[:len(estimators):len(estimators)], "estimate/gaussian", "estimate/recursive"), "where there is one component, it is one Gaussian; else places are found by a recursive partition"},
	{"estimate/axisaligned", append(estimators[:len(estimators):len(estimators)], "estimate/gaussian"), "where there is one component, it is one Gaussian"},
	{"estimate", slices.Concat(estimators, []string{"learner"}), "estimators see data only through a session, and know no other but that of one Gaussian: shared code goes to parts, and to program " +
		"if it knows estimate's own types"},
	{"literal/kmssu22", slices.Concat(literals, []string{"learner", "learner/spectral"}), "it names the learners that the kernel runs on blocks of rows"},
	{"literal/kssu19", slices.Concat(literals, []string{"estimate/learners", "learner", "learner/spectral"}), "sample-and-aggregate names the learners that the kernel runs"},
	{"literal/ppe", slices.Concat(literals, []string{"estimate/learners", "learner", "learner/pearson", "learner/spectral"}), "a literal algorithm is a program over the kernel and knows no practical one"},
	{"literal", append(literals[:len(literals):len(literals)], "estimate/catalog", "estimate/learners"), "a literal algorithm is a program over the kernel and knows no practical one"},
	{"source", []string{"dense", "internal/words"}, "rows come in here and are handed on by the front door"},
	{"source/piped", []string{"source"}, "a format knows what a reader is, and no other format"},
	{"source/inputs", []string{"source", "source/parquet", "source/piped", "source/postgres", "source/sqlite"}, "it finds an input's format by its name, and knows nothing of fits"},
	{"source/lines", nil, "it splits text, and knows nothing else"},
	{"source/parquet", []string{"source"}, "a format knows what a reader is, and no other format"},
	{"source/parsed", []string{"parallel", "source", "source/shards"}, "it has files parsed by workers, whatever opens them, and knows nothing of fits"},
	{"source/postgres", []string{"parallel", "source"}, "a format knows what a reader is, and no other format"},
	{"source/shards", []string{"source"}, "it is room for numbers, of one process or of workers too, and knows neither tables nor fits"},
	{"source/sqlite", []string{"source"}, "a format knows what a reader is, and no other format"},
	{"release", []string{"dense", "internal/fill", "internal/words", "kernel/privacy", "model"}, "a release is made of released values: it never sees a session or a table"},
	{"release/check", []string{"kernel/privacy", "kernel/query"}, "what a sensitivity follows from is the shape of a query: it sees neither a session nor a table"},
	{"release/signature", nil, "a signature is of bytes, whatever they say"},
	{"report", []string{"internal/fill", "internal/words", "release", "model", "kernel/privacy"}, "a report is made from a release: it never sees a session or a table"},
	{"ledger", []string{"kernel/privacy", "release"}, "a ledger counts budgets and sees no data"},
	{".", []string{"internal/fill", "internal/words", "source", "kernel", "kernel/people", "kernel/privacy", "learner", "literal", "model", "estimate", "estimate/catalog", "estimate/categories", "estimate/learners", "estimate/profile", "release", "ledger"},
		"the front door wires the layers; commands and the server stand on it"},
	{"audit", []string{".", "source", "internal/words", "parallel", "kernel", "kernel/privacy", "kernel/query", "kernel/kerneltest", "estimate", "release"},
		"the audit runs the front door on rows that it made up, and overhears it"},
	{"server", []string{"parallel", "kernel/privacy", "ledger", "release/signature", "server"}, "it wires the rooms of the server, listens and stops: its workers hand a fit to what runs it, and see neither rows nor who asked"},
	{"server/pages", []string{".", "internal/fill", "kernel/privacy", "estimate/catalog", "ledger", "model", "model/synthetic", "release", "report", "source", "server/api", "server/ask", "server/auth", "server/service", "server/store"}, "it reads forms and writes pages: what can be done, and what is shown to whom, is the service's"},
	{"server/store", []string{"kernel/privacy", "ledger", "release", "source"}, "it keeps what it is given, and decides nothing"},
	{"server/auth", []string{"kernel/privacy", "server/store"}, "who somebody is, here or by an issuer elsewhere, has nothing to do with data sets"},
	{"server/ask", []string{".", "kernel", "kernel/privacy", "model", "estimate", "estimate/catalog", "release", "ledger", "source", "server/store"}, "what is asked is public, and no input is opened for it"},
	{"server/rows", []string{".", "parallel", "kernel", "kernel/privacy", "ledger", "source", "source/inputs", "server/ask", "server/store"}, "the one room of the server that opens inputs"},
	{"server/service", []string{".", "kernel/privacy", "estimate", "estimate/catalog", "release", "report", "ledger", "source", "server/ask", "server/auth", "server/rows", "server/store"},
		"what can be done, and by whom, stands on the front door"},
	{"server/api", []string{"ledger", "server/ask", "server/auth", "server/service", "server/store"}, "it reads requests and writes answers"},
	{"cmd", []string{".", "cmd", "audit", "internal/words", "parallel", "source", "source/inputs", "source/shards", "kernel", "kernel/privacy", "model", "model/synthetic", "estimate", "estimate/catalog", "literal", "release", "report", "ledger", "server"},
		"commands stand on the front door"},
	{"beam", []string{".", "cmd/gauze/fit", "cmd/gauze/shell", "kernel", "kernel/sharded", "parallel", "source", "source/inputs", "source/parquet", "source/parsed", "source/shards"}, "it hands out names of work, and stands on the front door"},
	{"experiments", slices.Concat(products, []string{".", "audit", "source", "kernel", "kernel/privacy", "model", "model/flags", "estimate", "estimate/catalog", "literal", "learner", "release", "report/overall", "internal/madeup", "experiments/engine", "experiments/families"}),
		"an experiment sees data as a user does"},
	{"examples", []string{".", "kernel/privacy", "source"}, "examples are used from outside"},
	{"examples/own", []string{".", "estimate", "kernel", "kernel/blocks", "kernel/pure", "kernel/privacy", "kernel/query", "learner/em", "literal/aal21", "literal/paper", "model", "source"},
		"an estimator, a list decoder or a space of one's own is a program over the kernel, written outside"},
	{"internal/cite", []string{"internal/cite"}, "a tool for the source tree"},
	{"internal/sizes", nil, "a tool for the source tree"},
	{"internal/mutants", []string{"internal/cite"}, "a tool for the source tree"},
	{"internal/madeup", []string{"model", "estimate", "internal/madeup"}, "made-up data with known truth, for tests and experiments"},
	{"internal/fill", nil, "it fills templates with what it is handed, and knows nothing"},
	{"internal/words", nil, "it writes counts, and knows nothing"},
	{"internal/stattest", nil, "statistics for tests, of no use to anything else"},
	{"internal/archtest", nil, "tests only"},
	{"internal/attacks", nil, "tests only"},
	{"internal/pgtest", nil, "tests only"},
	{"internal/transcript", nil, "tests only"},
}

// mechanism is what a mechanism may use: the core, and what that stands on.
var mechanism = []string{"kernel/privacy", "kernel/query", "kernel/internal/core", "kernel/internal/engine", "kernel/internal/noise"}

// session is what can be built on a session, estimators what an estimator may import, literals what
// one that runs as printed may, and products are the estimators that people use.
var (
	session    = []string{"dense", "dense/symmetric", "parallel", "kernel", "kernel/privacy", "kernel/query", "model", "parts"}
	estimators = append(session[:len(session):len(session)], "estimate", "estimate/program")
	literals   = append(estimators[:len(estimators):len(estimators)], "literal/paper", "internal/words",
		"kernel/pure", "kernel/blocks", "kernel/query/papers")
	products = []string{"estimate/axisaligned", "estimate/blackbox", "estimate/gaussian", "estimate/general", "estimate/knowncov", "estimate/profile", "estimate/univariate"}
)

// exact are the folders whose subfolders a layer's permission does not include.
var exact = map[string]bool{"source": true, "kernel": true, "kernel/query": true, "estimate": true, "learner": true, "literal": true, "dense": true, ".": true}

// layerOf is the layer of a folder, or nil.
func layerOf(folder string) *layer {
	var best *layer
	for i, l := range layers {
		fits := under(folder, l.folder) || l.folder == "." && folder == ""
		if fits && (best == nil || len(l.folder) > len(best.folder)) {
			best = &layers[i]
		}
	}
	return best
}

func (l layer) allows(folder, imported string) bool {
	if folder != "" && folder != "kernel" && under(imported, folder) { // the kernel's list is short
		return true
	}
	for _, m := range l.may {
		within := under(imported, m) && m != "."
		if exact[m] && (m != l.folder || m == "estimate") {
			within = imported == m || m == "." && imported == ""
		}
		if within {
			return true
		}
	}
	return false
}

func TestLayers(t *testing.T) {
	for _, f := range files(t) {
		l := layerOf(f.folder)
		if l == nil {
			t.Errorf("%s: the folder %q is in no layer: add it to the list in internal/archtest, with what it may import", f.name, f.folder)
			continue
		}
		for _, imported := range f.imports {
			if fault := layerFault(f, l, imported); fault != "" {
				t.Error(fault)
			}
		}
	}
}

// layerFault says what is wrong with an import of one of our packages; tests may use more than what
// they test.
func layerFault(f *file, l *layer, imported string) string {
	folder, our := ours(imported)
	switch {
	case !our:
		return ""
	case under(folder, "kernel/internal") && !under(f.folder, "kernel"):
		return fmt.Sprintf("%s imports %s: rows and noise belong to the kernel", f.name, folder)
	case f.test:
		return ""
	case under(folder, "kernel/kerneltest") && under(f.folder, "estimate/estimatetest"):
		return "" // it hands the testing.TB on that it asks for
	case under(folder, "kernel/kerneltest") && under(f.folder, "audit", "experiments"):
		return "" // what seeds noise panics outside of tests; the audit observes, and experiments count reads
	case under(folder, "internal/stattest") && under(f.folder, "kernel/kerneltest"):
		return ""
	case under(folder, "kernel/kerneltest", "internal/stattest", "internal/canceltest", "model/modeltest", "estimate/estimatetest"):
		return fmt.Sprintf("%s imports %s: seeded noise and exact answers are for tests, and nothing else may be able to reach them", f.name, folder)
	case under(folder, "internal/madeup") && !under(f.folder, "internal/madeup", "estimate/estimatetest", "experiments"):
		return fmt.Sprintf("%s imports %s: made-up data are for tests and experiments", f.name, folder)
	case !l.allows(f.folder, folder):
		return fmt.Sprintf("%s imports %q: %q may import only %s (%s)", f.name, folder, l.folder, strings.Join(l.may, ", "), l.why)
	}
	return ""
}

// A ban keeps packages of others out of folders.
type ban struct {
	folders []string // none: everywhere
	except  []string
	never   []string // with what lies below them
	why     string
}

var (
	anywhere = []string(nil)
	library  = []string{"dense", "parallel", "kernel", "model", "parts", "learner", "estimate", "literal", "release", "report", "source", "ledger", "."}
)

var bans = []ban{
	{[]string{"dense", "parts", "estimate", "literal"}, []string{"estimate/estimatetest"}, []string{"os", "net", "log", "io/fs", "io/ioutil", "syscall", "crypto/rand", "reflect", "unsafe"},
		"an estimator sees data only through a session, and entropy is the kernel's"},
	{[]string{"dense", "kernel", "model", "learner", "parts", "estimate"}, nil, []string{module + "/literal"}, "what people use runs without what papers print: the front door joins the two lists"},
	{[]string{"parts", "estimate", "release"}, nil, []string{module + "/kernel/pure", module + "/kernel/query/papers"}, "only what papers print uses pure mechanisms and releases a popular estimate: nobody else has to read them"},
	{[]string{"kernel", "model"}, nil, []string{"os", "net", "log", "io/fs", "io/ioutil", "syscall"}, "the kernel and the models touch nothing outside"},
	{[]string{"learner"}, nil, []string{"os", "net", "log", "io", "syscall", "crypto", "reflect", "sync", "runtime", "time", "context", "fmt"},
		"a learner is handed raw rows: it takes numbers and returns numbers"},
	{[]string{"dense", "kernel", "learner"}, []string{"dense/symmetric"}, []string{"gonum.org"}, "any package of the process can replace gonum's arithmetic: where rows are, and sensitivities, ours runs"},
	{anywhere, nil, []string{"math/rand"}, "math/rand (v1) has a global generator; noise comes from the kernel, simulation uses math/rand/v2 with a seed"},
	{[]string{"kernel"}, []string{"kernel/internal/noise"}, []string{"math/rand/v2", "crypto/rand"}, "noise has one origin, kernel/internal/noise"},
	{[]string{"parts", "release", "report", "source", "ledger", "."}, nil, []string{"math/rand/v2"}, "nothing is random here"},
	{anywhere, []string{"server", "cmd", "experiments/server", "beam/objects/fake"}, []string{"net/http"}, "only the server, the commands, who attacks the server, and what tests take for a bucket speak HTTP"},
	{anywhere, []string{"beam"}, []string{"github.com/apache/beam"}, "what hands work to Beam is a module of its own, so that the default build stays small"},
	{anywhere, []string{"ledger", "source", ".", "examples", "server/store"}, []string{"database/sql"}, "databases are for the ledger, for sources, and for whoever hands an answer to the front door"},
	{anywhere, []string{"ledger", "source", "examples"}, []string{"modernc.org/sqlite", "github.com/jackc/pgx"}, "databases are for the ledger and for sources"},
	{anywhere, []string{"cmd", "beam"}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}, "a library has no flags"},
	{anywhere, nil, []string{"C", "plugin"}, "the build is pure Go"},
	{anywhere, []string{"source/shards"}, []string{"unsafe"}, "nothing may walk around the types that protect rows; one file sees memory as numbers, for tables on disk"},
	{anywhere, nil, []string{"github.com/apache/arrow-go", "github.com/prometheus", "github.com/jackc/pgx/v5/stdlib", "github.com/jackc/pgx/v5/pgxpool"}, "they are megabytes of a program for what a few hundred lines here do"},
	{anywhere, []string{"internal/fill"}, []string{"text/template", "html/template"}, "they look methods up by name, so that the linker keeps every method of every type: 6 MB; templates are filled by internal/fill"},
	{library, nil, []string{"log", "log/slog"}, "library code returns errors; it never logs"},
}

func (b ban) applies(folder string) bool {
	return (b.folders == nil || under(folder, b.folders...)) && !under(folder, b.except...)
}

func (b ban) forbids(imported string) bool {
	if imported == "math/rand/v2" { // it lies below math/rand by its path only
		for _, n := range b.never {
			if n == imported {
				return true
			}
		}
		return false
	}
	return under(imported, b.never...)
}

func TestBans(t *testing.T) {
	for _, f := range files(t) {
		if f.test {
			continue
		}
		for _, b := range bans {
			for _, imported := range f.imports {
				if b.applies(f.folder) && b.forbids(imported) {
					t.Errorf("%s imports %s: %s", f.name, imported, b.why)
				}
			}
		}
	}
}

// What hands work to Beam is a module of its own, of which the program knows nothing.
func TestGauzeKnowsNoBeam(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/gauze")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil || !bytes.Contains(out, []byte(module+"/cmd/gauze/fit\n")) || bytes.Contains(out, []byte("apache/beam")) {
		t.Errorf("%v: cmd/gauze depends on Beam, or not on what fits", err)
	}
}

// The rules themselves: what they let through and what they stop.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		name, text string
		wrong      bool
	}{
		{"kernel/kernel.go", "kernel/privacy", false},
		{"kernel/internal/core/session.go", "release", true},
		{"kernel/internal/core/session.go", "estimate", true},
		{"kernel/query/x.go", "kernel", true},
		{"kernel/privacy/x.go", "kernel/query", true},
		{"model/x.go", "kernel/privacy", true},
		{"parts/component/x.go", "kernel/query", false},
		{"parts/component/x.go", "kernel/internal/engine", true},
		{"parts/component/x.go", "source", true},
		{"estimate/gaussian/x.go", "estimate", false},
		{"estimate/gaussian/x.go", "estimate/general", true},
		{"estimate/general/x.go", "estimate/gaussian", false},
		{"estimate/general/x.go", "estimate/univariate", true},
		{"estimate/general/x.go", "estimate/program", false},
		{"estimate/univariate/x.go", "estimate/gaussian", true},
		{"estimate/univariate/x.go", "estimate/program", false},
		{"literal/kssu19/x.go", "estimate/program", false},
		{"estimate/program/x.go", "estimate/general", true},
		{"estimate/program/x.go", "kernel/sharded", true},
		{"parts/component/x.go", "estimate/program", true},
		{"estimate/catalog/x.go", "estimate/gaussian", false},
		{"estimate/catalog/x.go", "literal", true},
		{"estimate/catalog/x.go", "literal/kssu19", true},
		{"literal/x.go", "literal/kssu19", false},
		{"fit.go", "literal", false},
		{"fit.go", "literal/kssu19", true},
		{"release/x.go", "kernel/privacy", false},
		{"release/x.go", "kernel", true},
		{"report/x.go", "kernel", true},
		{"fit.go", "kernel", false},
		{"fit.go", "kernel/kerneltest", true},
		{"estimate/estimatetest/x.go", "kernel/kerneltest", false},
		{"estimate/estimatetest/x.go", "estimate/general", true},
		{"estimate/general/x.go", "estimate/estimatetest", true},
		{"estimate/general/x_test.go", "estimate/estimatetest", false},
		{"estimate/general/x.go", "internal/madeup", true},
		{"estimate/general/x_test.go", "internal/madeup", false},
		{"cmd/gauze/x.go", "internal/madeup", true},
		{"experiments/studies/x.go", "internal/madeup", false},
		{"fit_test.go", "kernel/kerneltest", false},
		{"cmd/gauze/x.go", "kernel/kerneltest", true},
		{"cmd/gauze-audit/x.go", "kernel/kerneltest", true},
		{"source/x.go", "kernel/kerneltest", true},
		{"kernel/people/x.go", "kernel/kerneltest", true},
		{"audit/x.go", "kernel/kerneltest", false},
		{"fit_test.go", "kernel/internal/noise", true},
		{"cmd/gauze/x.go", "kernel/sharded", true},
		{"cmd/gauze/x.go", "", false},
		{"report/x.go", "", true},
		{"source/x.go", "internal/stattest", true},
		{"kernel/blocks/blocks.go", "learner", true},
		{"kernel/internal/core/x.go", "kernel", true},
		{"kernel/internal/core/x.go", "kernel/query/papers", true},
		{"kernel/internal/engine/x.go", "kernel/internal/noise", true},
		{"kernel/internal/engine/x.go", "kernel/internal/core", true},
		{"kernel/sharded/x.go", "kernel/internal/noise", true},
		{"kernel/query/x.go", "kernel/internal/engine", true},
		{"kernel/query/x.go", "kernel/internal/noise", true},
		{"kernel/query/papers/x.go", "kernel/internal/engine", true},
		{"kernel/query/papers/x.go", "kernel/internal/noise", true},
		{"kernel/spacings.go", "kernel/query/papers", true},
		{"kernel/spacings.go", "kernel/blocks", true},
		{"kernel/pure/x.go", "kernel", false},
		{"kernel/internal/agree/x.go", "kernel/blocks", true},
		{"estimate/gaussian/x.go", "kernel/pure", true},
		{"estimate/gaussian/x.go", "kernel/query/papers", true},
		{"estimate/gaussian/x.go", "kernel/blocks", true},
		{"literal/ppe/x.go", "kernel/pure", false},
		{"estimate/blackbox/x.go", "kernel/blocks", false},
		{"kernel/blocks/blocks.go", "kernel/pure", true},
		{"estimate/general/x.go", "literal/kssu19", true},
		{"parts/component/x.go", "literal/kssu19", true},
		{"literal/kssu19/x.go", "estimate/univariate", true},
		{"literal/aal21/x.go", "literal/paper", false},
		{"learner/spectral/x.go", "learner", false},
		{"learner/spectral/x.go", "kernel", true},
		{"learner/spectral/x.go", "model", true},
		{"learner/spectral/x.go", "dense", false},
		{"learner/spectral/x.go", "dense/symmetric", true},
		{"kernel/blocks/x.go", "dense/symmetric", true},
		{"estimate/general/x.go", "dense/symmetric", false},
		{"literal/kssu19/x.go", "learner/spectral", false},
		{"estimate/univariate/x.go", "learner/spectral", true},
	} {
		imported := module
		if c.text != "" {
			imported += "/" + c.text
		}
		f, err := parse(c.name, fmt.Sprintf("package p\n\nimport _ %q\n", imported))
		if err != nil {
			t.Fatal(err)
		}
		if got := layerFault(f, layerOf(f.folder), imported); (got != "") != c.wrong {
			t.Errorf("%s importing %q: got %q, want a fault: %v", c.name, c.text, got, c.wrong)
		}
	}
	banned := func(folder, imported string) bool {
		for _, b := range bans {
			if b.applies(folder) && b.forbids(imported) {
				return true
			}
		}
		return false
	}
	for _, c := range []struct {
		folder, imported string
		want             bool
	}{
		{"kernel/internal/noise", "crypto/rand", false}, {"estimate/gaussian", "os", true}, {"estimate/gaussian", "net/http", true},
		{"", "log", true}, {"cmd/gauze", "net/http", false}, {"report", "net/http", true}, {"source", "database/sql", false},
		{"release", "database/sql", true}, {"cmd/gauze", "math", false},
		{"learner/spectral", "os", true}, {"learner/spectral", "fmt", true}, {"learner/spectral", "math", false}, {"learner", "math/rand/v2", false},
		{"estimate/blackbox", module + "/kernel/pure", true}, {"dense", "gonum.org/v1/gonum/mat", true}, {"dense/symmetric", "gonum.org/v1/gonum/mat", false}, {"kernel/blocks", "gonum.org/v1/gonum/mat", true},
	} {
		if got := banned(c.folder, c.imported); got != c.want {
			t.Errorf("%q importing %q: banned %v, want %v", c.folder, c.imported, got, c.want)
		}
	}
}
