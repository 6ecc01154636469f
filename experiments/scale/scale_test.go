package scale

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// A fit in a process of its own is one of this test's binary.
func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	if err := Study.Run(context.Background(), engine.Options{Stdout: os.Stdout}, nil); err != nil {
		panic(err)
	}
}

// What is measured of a fit is what it has to be, and a page shows it.
func TestPage(t *testing.T) {
	folder, s := t.TempDir(), scaling{sizes: []int{640, 12_800, 25_600}, seed: 1, disk: 1e9, schedule: scheduling{seconds: 1}}
	pattern, err := write(t.Context(), folder, "one", s.sizes[1], s.seed)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.counted(t.Context(), methods[0], pattern, s.sizes[1])
	if err != nil {
		t.Fatal(err)
	}
	// a look at which of two rows are nearer, and sums, of what lies in whole pieces
	if passed := r.passed(); r.Outcome != "released" || r.Rounds < 3 || passed < 1 || passed > float64(2*r.Rounds) || r.MovedBytes == 0 || !(r.Parsing > 0) || !(r.Taking > 0) || !(r.Fitting > 0) {
		t.Errorf("%+v, %g passes", r, passed)
	}
	refusal, err := s.counted(t.Context(), method{name: "black-box", components: clusters}, pattern, s.sizes[1])
	if err != nil || refusal.Outcome != refused {
		t.Errorf("%v: %+v", err, refusal)
	}
	s.reports, s.whole = []measured{r, refusal}, []whole{{640, 1, 1, 1e6}, {12_800, 21, 20, 1e6}}
	text := string(s.page(engine.Options{Commit: "none"}).Bytes())
	for _, said := range []string{"factor of at most 1.05; from 640 to 12.8k rows it changes by a factor of 1.05, and memory by 0 MB", "| gaussian", refused, "| 256 workers |", "2 times"} {
		if !strings.Contains(text, said) {
			t.Errorf("not on the page: %q\n%s", said, text)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") {
		t.Error(text)
	}
}

// Scans of a table stand together, each beside the local engine's of the same turn.
func TestScansPage(t *testing.T) {
	var all []scan
	for _, n := range []int{1000, 2000} {
		for turn := range 3 {
			for i, name := range by {
				all = append(all, scan{Rows: n, Files: 2, By: name, Turn: turn + 1, Processor: 1 + .25*float64(i), Wall: 2 + float64(i), Memory: 1e6 * float64(1+i)})
			}
		}
	}
	text := string(scansPage(engine.Options{Commit: "none", Rows: []int{1000, 2000}}, all, 0).Bytes())
	for _, said := range []string{"scale -n 1000,2000 scan`", "| local ", "| prism ", "1.5 (1.5 to 1.5)", "450 (450 to 450)", "2 (2 to 2)", "| 500000 "} {
		if !strings.Contains(text, said) {
			t.Errorf("not on the page: %q\n%s", said, text)
		}
	}
}

// An engine's job server stands beside it.
func TestServerPage(t *testing.T) {
	var all []scan
	for turn := range 3 {
		all = append(all, scan{Rows: 1000, Files: 1, By: by[0], Turn: turn, Processor: 1, Wall: 2, Memory: 1e6}, scan{Rows: 1000, Files: 1, By: "flink", Turn: turn, Processor: 1.25, Wall: 3.5, Memory: 2e6, ServerProcessor: 4 + float64(turn), ServerMemory: 7e8})
	}
	text := string(serverPage(engine.Options{Commit: "none"}, all, "flink", 0).Bytes())
	for _, said := range []string{"scale flink`", "by Flink", "| local ", "1.25 (1.25 to 1.25)", "1.5 (1.5 to 1.5)", "5 (4 to 6)", "700 (700 to 700)", "1.5 GB"} {
		if !strings.Contains(text, said) {
			t.Errorf("not on the page: %q\n%s", said, text)
		}
	}
}

// Repeated rows are those of the files, so often.
func TestRepeat(t *testing.T) {
	folder := t.TempDir()
	if _, err := write(t.Context(), folder, "apart", 2*files, 1); err != nil {
		t.Fatal(err)
	}
	pattern, err := repeat(folder, "apart", 2*files, 6*files)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := os.ReadDir(strings.TrimSuffix(pattern, "*.csv"))
	if len(all) != 3*files {
		t.Errorf("%d files", len(all))
	}
}

func TestUsage(t *testing.T) {
	if err := Study.Run(t.Context(), engine.Options{}, []string{"scan", "magic"}); !errors.Is(err, engine.ErrUsage) {
		t.Error(err)
	}
	for _, o := range []engine.Options{{Rows: []int{1}}, {Rows: []int{64, 128, 300}}, {Rows: []int{65, 128, 256}}} {
		if err := Study.Run(t.Context(), o, nil); !errors.Is(err, engine.ErrUsage) {
			t.Errorf("%v: %v", o.Rows, err)
		}
	}
	if clock(30) != "30 s" || clock(90) != "1.5 min" || clock(9000) != "2.5 h" || enough(t.TempDir(), 1<<50) == nil {
		t.Error("seconds, or disks, are not what they are")
	}
}

// Both programs fit the same small table, and a page shows what they released and cost. Building
// gauze-beam takes minutes, so .ci/run asks for this once the tests of that module have built it.
func TestReleases(t *testing.T) {
	if os.Getenv("GAUZE_LONG") == "" {
		t.Skip("builds gauze-beam; set GAUZE_LONG=1")
	}
	if err := exec.Command("unshare", "--map-root-user", "--net", "true").Run(); err != nil {
		t.Skip("no network of its own: ", err)
	}
	t.Chdir(filepath.Join("..", ".."))
	var page bytes.Buffer
	o := engine.Options{Rows: []int{20_011}, Runs: 2, Methods: []string{"gaussian", "univariate"}, Stdout: &page, Stderr: os.Stderr, Commit: "none"}
	if err := Study.Run(t.Context(), o, []string{"releases"}); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, said := range []string{"scale -seed 1 -n 20011 -runs 2 -methods gaussian,univariate releases`", " of 3 ", "2 (20.011k rows) of each", "| `gauze-beam fit` |"} {
		if !strings.Contains(text, said) {
			t.Errorf("not on the page: %q\n%s", said, text)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "%!") {
		t.Error(text)
	}
}

// Of releases in two places the parts that are farthest from each other are those of the places,
// and of releases in one all are as far.
func TestParted(t *testing.T) {
	apart := func(places ...float64) (out [][]float64) {
		for _, a := range places {
			out = append(out, nil)
			for _, b := range places {
				out[len(out)-1] = append(out[len(out)-1], math.Abs(a-b))
			}
		}
		return out
	}
	for _, c := range []struct {
		apart           [][]float64
		many, far, ways int
	}{
		{apart(0, .1, .2, 5, 5.1, 5.2), 3, 1, 10}, {apart(0, 5, .1, 5.1), 2, 3, 3}, {apart(1, 1, 1, 1), 2, 3, 3}, {apart(0, 1, 2), 2, 2, 3}, {apart(0, 0, 0, 4), 3, 1, 4},
	} {
		if far, ways := parted(c.apart, c.many); far != c.far || ways != c.ways {
			t.Errorf("%v, %d: %d of %d, want %d of %d", c.apart, c.many, far, ways, c.far, c.ways)
		}
	}
}

// A drawn table has its mixture's moments: the mean of 64,000 rows in five standard errors, which
// fails for one seed in 140,000.
func TestDrawn(t *testing.T) {
	const n = 64_000
	for _, kind := range []string{"one", "two", "across"} {
		truth, err := drawn(kind, 1)
		if err != nil {
			t.Fatal(err)
		}
		pattern, err := writeDrawn(t.Context(), filepath.Join(t.TempDir(), kind), truth, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		names, _ := filepath.Glob(pattern)
		sums, rows := make([]float64, drawnColumns), 0
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
				rows++
				for j, cell := range strings.Split(line, ",") {
					x, err := strconv.ParseFloat(cell, 64)
					if err != nil {
						t.Fatal(err)
					}
					sums[j] += x
				}
			}
		}
		if len(names) != files || rows != n {
			t.Fatalf("%d files with %d rows", len(names), rows)
		}
		mean := truth.Mean()
		for j, sum := range sums {
			variance := 0.
			for i, g := range truth.Components {
				variance += truth.Weights[i] * (g.Cov.At(j, j) + (g.Mean[j]-mean[j])*(g.Mean[j]-mean[j]))
			}
			if err := math.Sqrt(variance / n); math.Abs(sum/n-mean[j]) > 5*err {
				t.Errorf("%s: column %d has mean %g, want %g ± %g", kind, j, sum/n, mean[j], err)
			}
		}
	}
}
