package scale

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// The tables, and the runs of each program unless -runs says: many of a small one, by which a
// difference between the programs would show, and few of a large one.
var releasedOf = []struct{ rows, runs int }{{200_000, 6}, {10_000_000, 2}}

// distanceRows are the Monte Carlo rows of a distance: it is known to a part in a hundred or so.
const distanceRows = 50_000

// The programs whose releases are compared.
var programs = []string{"gauze fit", "gauze-beam fit"}

// compared are the methods, on the kinds of tables that drawn draws.
var compared = []method{
	{name: "gaussian", rows: "one", components: 1},
	{name: "general", rows: "two", components: 2},
	{name: "separated", rows: "two", components: 2},
	{name: "univariate", rows: "two", components: 2, columns: 1},
	{name: "black-box", rows: "two", components: 2},
	{name: "axis-aligned", rows: "across", components: 2},
}

// A twin is a method's releases by both programs, from the same files.
type twin struct {
	method
	n        int
	costs    [2][]whole   // of every command of a program
	released [2][]float64 // distances of a program's releases from the truth
	within   [2][]float64 // of two of one program
	between  []float64
	far      int // of the ways to part the releases in halves: those with halves as far apart
	ways     int
	silent   [2]int // commands that ended in no release
}

// releases makes the page of releases.
func releases(ctx context.Context, o engine.Options) error {
	began, tables, seed := time.Now(), slices.Clone(releasedOf), max(1, o.Seed)
	if o.Rows != nil {
		tables = tables[:0]
		for _, n := range o.Rows {
			tables = append(tables, releasedOf[0])
			tables[len(tables)-1].rows = n
		}
	}
	if tables[0].rows < files {
		return fmt.Errorf("wanted at least %d rows, got %d: %w", files, tables[0].rows, engine.ErrUsage)
	}
	folder, err := os.MkdirTemp("", "gauze-scale-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if folder, err = filepath.Abs(folder); err != nil { // gauze-beam is built in a folder of its own
		return err
	}
	commands, err := bothPrograms(ctx, folder)
	if err != nil {
		return err
	}
	var all []twin
	for _, t := range tables {
		if err := enough(folder, t.rows); err != nil {
			return err
		}
		for _, kind := range []string{"one", "two", "across"} {
			own, err := twinsOf(ctx, o, commands, folder, kind, t.rows, cmp.Or(o.Runs, t.runs), seed)
			if err != nil {
				return err
			}
			fmt.Fprintf(o.Stderr, "%d rows, %s: %+v, %v\n", t.rows, kind, own, time.Since(began).Round(time.Second))
			all = append(all, own...)
		}
	}
	return publish(o, releasesPage(o, all, seed, time.Since(began)), "releases")
}

// twinsOf compares the programs on a kind of table, so that the files of one lie there at a time.
func twinsOf(ctx context.Context, o engine.Options, commands [2][]string, folder, kind string, n, runs int, seed uint64) (all []twin, err error) {
	own := slices.DeleteFunc(slices.Clone(compared), func(m method) bool {
		return m.rows != kind || o.Methods != nil && !slices.Contains(o.Methods, m.name)
	})
	if len(own) == 0 {
		return nil, nil
	}
	truth, err := drawn(kind, seed)
	if err != nil {
		return nil, err
	}
	pattern, err := writeDrawn(ctx, filepath.Join(folder, kind), truth, n, seed)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(filepath.Dir(pattern))
	for _, m := range own {
		t, err := m.twins(ctx, commands, folder, pattern, truth, runs)
		if err != nil {
			return nil, err
		}
		t.n = n
		all = append(all, t)
	}
	return all, nil
}

// bothPrograms builds them, and says how each is started.
func bothPrograms(ctx context.Context, folder string) (commands [2][]string, err error) {
	gauze, beam := filepath.Join(folder, "gauze"), filepath.Join(folder, "gauze-beam")
	if err := build(ctx, ".", gauze, "github.com/gauze-dp/gauze/cmd/gauze"); err != nil {
		return commands, err
	}
	if err := build(ctx, beamFolder, beam, ".", "GOWORK=off"); err != nil {
		return commands, err
	}
	return [2][]string{{gauze}, alone(beam)}, nil
}

// twins fits by both programs in turns, and compares all releases with each other and with the
// truth.
func (m method) twins(ctx context.Context, commands [2][]string, folder, pattern string, truth *model.Mixture, runs int) (twin, error) {
	t := twin{method: m}
	if m.columns == 1 {
		var err error
		if truth, err = first(truth); err != nil {
			return t, err
		}
	}
	var models [2][]*model.Mixture
	for range runs {
		for i, start := range commands {
			w, got, err := fitOnce(ctx, start, folder, pattern, m, truth.Dim())
			if err != nil {
				return t, fmt.Errorf("%s: %s: %w", m.name, programs[i], err)
			}
			t.costs[i] = append(t.costs[i], w)
			if got == nil {
				t.silent[i]++
				continue
			}
			models[i] = append(models[i], got)
		}
	}
	return t, t.compare(models, truth)
}

// fitOnce runs a whole command and reads what it released, if it did.
func fitOnce(ctx context.Context, start []string, folder, pattern string, m method, width int) (whole, *model.Mixture, error) {
	out := filepath.Join(folder, "release.json")
	args := append(slices.Clone(start), "fit", pattern, "--epsilon", strconv.Itoa(epsilon), "--delta", fmt.Sprint(delta), "--columns", strings.Join(model.DefaultColumns(width), ","),
		"--method", m.name, "--components", strconv.Itoa(m.components), "--shards", folder, "--progress", "none", "--out", out, "--force")
	w, err := timedCommand(ctx, args)
	const noRelease = 3 // the exit code of a fit that ends so
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == noRelease {
		return w, nil, nil
	} else if err != nil {
		return w, nil, err
	}
	got, err := release.ReadFile(out)
	if err != nil {
		return w, nil, err
	}
	return w, got.Model, nil
}

// compare takes all distances.
func (t *twin) compare(models [2][]*model.Mixture, truth *model.Mixture) error {
	all := slices.Concat(models[0], models[1])
	side := func(i int) int { return min(1, i/max(1, len(models[0]))) }
	apart := make([][]float64, len(all))
	for i, a := range all {
		away, err := madeup.TotalVariation(truth, a, distanceRows)
		if err != nil {
			return err
		}
		t.released[side(i)] = append(t.released[side(i)], away)
		apart[i] = make([]float64, len(all))
		for j, b := range all[:i] {
			tv, err := madeup.TotalVariation(a, b, distanceRows)
			if err != nil {
				return err
			}
			apart[i][j], apart[j][i] = tv, tv
			if side(i) != side(j) {
				t.between = append(t.between, tv)
			} else {
				t.within[side(i)] = append(t.within[side(i)], tv)
			}
		}
	}
	t.far, t.ways = parted(apart, len(models[0]))
	return nil
}

// parted counts the ways to part releases into so many and the others, and those of them in which
// the parts are as far from each other, on average, as the first so many are from the others. If
// programs differ in nothing but noise each way is as likely to be the farthest as any other.
func parted(apart [][]float64, many int) (far, ways int) {
	n := len(apart)
	distance := func(part uint) (sum float64) {
		for i := range n {
			for j := range i {
				if part>>i&1 != part>>j&1 {
					sum += apart[i][j]
				}
			}
		}
		return sum
	}
	const rounding = 1e-9 // sums of the same distances in another order
	own := uint(1)<<many - 1
	least := distance(own) * (1 - rounding)
	for part := range uint(1) << n {
		if bits.OnesCount(part) != many || 2*many == n && part&1 == 0 { // a half, and the other half
			continue
		}
		ways++
		if distance(part) >= least {
			far++
		}
	}
	return far, ways
}

// releasesPage says how near releases are to each other, and what they cost.
func releasesPage(o engine.Options, all []twin, seed uint64, took time.Duration) *engine.Page {
	p := &engine.Page{}
	p.Title("The same release, up to its noise")
	p.Header(engine.Header{Command: "`" + releasesCommand(o, seed) + "`", Runs: releasedRuns(all) + " of each program, in turns", Seed: fmt.Sprintf("%d, of the problems and the rows; noise has none", seed), Commit: o.Commit})
	p.Text(fmt.Sprintf("It took %v on %g cores. `gauze fit` and `gauze-beam fit`, whose workers Prism starts, at ε = %d and δ = %g, of the same rows of %d columns in %d CSV files, %d digits each. "+
		"Tables are drawn: *one* Gaussian, *two* of them, both with correlations, or two without (*across*). Columns have units from 1/1000 to 1000 and lie a hundred of them from 0; two components lie %g standard deviations from each other in the first column, "+
		"up to three units in the others, and the smaller has .2 to .4 of the rows. `univariate` has the first column of *two*.",
		took.Round(time.Second), cores, epsilon, float64(delta), drawnColumns, files, drawnDigits, drawnGap))
	p.Heading("Distances")
	p.Text("Total variation, by Monte Carlo but in one column: of two releases of one program, which is what their noise does; of two releases of which each program made one; and of releases to the mixture behind the rows, part of which is the rows' own error and is the same for all.")
	t := engine.Table{Head: []string{"rows", "method", "table", "two of `gauze fit`", "two of `gauze-beam fit`", "one of each", "parted as far", "`gauze fit` to the truth", "`gauze-beam fit` to the truth"}}
	for _, w := range all {
		t.Add(engine.Rows(w.n), w.name, w.rows, spreadOf(w.within[0]), spreadOf(w.within[1]), spreadOf(w.between), fmt.Sprintf("%d of %d", w.far, w.ways), spreadOf(w.released[0]), spreadOf(w.released[1]))
	}
	p.Table(t)
	p.Text("Medians, with the least and the most in brackets. *Parted as far*: of all ways to part a method's releases into as many as each program made, those in which the mean distance from one part to the other is at least that from program to program, which is one of them. " +
		"If the programs differ in nothing but noise, all numbers from the first to the last are equally likely.")
	p.Heading("Costs")
	p.Text("Of whole commands, reading included: user and system seconds, and the most memory, what was mapped of files included.")
	c := engine.Table{Head: []string{"rows", "method", "program", "processor s", "memory, MB", "no release"}}
	for _, w := range all {
		for i, name := range programs {
			c.Add(engine.Rows(w.n), w.name, "`"+name+"`", w.cost(i, func(w whole) float64 { return w.processor }),
				w.cost(i, func(w whole) float64 { return w.memory / 1e6 }), w.silent[i])
		}
	}
	p.Table(c)
	return p
}

// releasedRuns says how many runs there are of which tables.
func releasedRuns(all []twin) string {
	var out []string
	for i, t := range all {
		if i == 0 || t.n != all[i-1].n {
			out = append(out, fmt.Sprintf("%d (%s rows)", len(t.costs[0]), engine.Rows(t.n)))
		}
	}
	return strings.Join(out, " and ")
}

// cost is what a program's commands cost.
func (t twin) cost(program int, value func(whole) float64) string {
	var out []float64
	for _, own := range t.costs[program] {
		out = append(out, value(own))
	}
	return spreadOf(out)
}

// releasesCommand is what made a page.
func releasesCommand(o engine.Options, seed uint64) string {
	command := fmt.Sprintf("go run ./experiments scale -seed %d", seed)
	if o.Rows != nil {
		command += " -n " + strings.ReplaceAll(strings.Trim(fmt.Sprint(o.Rows), "[]"), " ", ",")
	}
	if o.Runs > 0 {
		command += fmt.Sprintf(" -runs %d", o.Runs)
	}
	if o.Methods != nil {
		command += " -methods " + strings.Join(o.Methods, ",")
	}
	return command + " releases"
}

// spreadOf is spread, of what may have no value, or one.
func spreadOf(v []float64) string {
	switch len(v) {
	case 0:
		return "-"
	case 1:
		return three(v[0])
	}
	return spread(v)
}
