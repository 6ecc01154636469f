// Package scale is what tables cost that are larger than memory, or than a machine: passes over the
// rows, bytes, seconds and memory, measured up to a hundred million rows, and what follows from
// them for a thousand million on one machine and on many.
//
//	go run ./experiments scale rows   # writes rows.md: eight minutes on two cores
//	go run ./experiments scale -n 12800,64000,640000 rows   # does it work? printed
//	go run ./experiments scale scan   # writes scan.md: three minutes
//	go run ./experiments scale -n 1000000 scan   # does it work? printed
//	go run ./experiments scale releases   # writes releases.md: eight minutes of the processor
//	go run ./experiments scale -n 200000 releases   # does it work? printed
//	go run ./experiments scale flink spark   # writes flink.md and spark.md: Java 17 and Maven
//
// It writes files of ten million rows and shards of a hundred million into the folder for temporary
// files, 11 GB at most at a time, and removes them.
package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// Study is the study.
var Study = study{}

type study struct{}

func (study) Title() (name, about string) {
	return "scale", "what a thousand million rows cost: passes, bytes, seconds and memory, to a hundred million rows here"
}

func (study) Names() []string { return []string{"rows", "scan", "releases", "flink", "spark"} }

// without are the pages that are made without Java: those of a study of which none is named.
var without = []string{"rows", "scan", "releases"}

// The numbers of rows: the least and the most of whole commands, and what methods are measured at.
var sizes = []int{1_000_000, 10_000_000, 100_000_000}

// Run makes the pages that are named. Of rows -n are three numbers of rows in place of the study's,
// each a multiple of the one before, and -methods some of the methods; of the others -n are the
// tables' rows, and -runs the scans by each.
func (study) Run(ctx context.Context, o engine.Options, names []string) error {
	if task := os.Getenv(child); task != "" {
		return fit(ctx, task, o.Stdout)
	}
	if o.Rows == nil && o.Methods == nil && o.Out == "" {
		o.Out = filepath.Join(filepath.FromSlash(engine.Pages), "scale")
	}
	pages := map[string]func(context.Context, engine.Options) error{"rows": rows, "scan": scans, "releases": releases, "flink": serverScans("flink"), "spark": serverScans("spark")}
	if len(names) == 0 {
		names = without
	}
	for _, name := range names {
		if pages[name] == nil {
			return fmt.Errorf("scale: wanted some of %q, got %q: %w", study{}.Names(), name, engine.ErrUsage)
		}
	}
	for _, name := range names {
		if err := pages[name](ctx, o); err != nil {
			return fmt.Errorf("scale: %w", err)
		}
	}
	return nil
}

// rows makes the page of tables.
func rows(ctx context.Context, o engine.Options) error {
	s := scaling{sizes: sizes, seed: max(1, o.Seed), began: time.Now(), methods: methods}
	if o.Rows != nil {
		s.sizes = o.Rows
	}
	if len(s.sizes) != 3 || s.sizes[2]%s.sizes[1] != 0 || s.sizes[1]%files != 0 || s.sizes[0]%files != 0 {
		return fmt.Errorf("wanted three numbers of rows, the third a multiple of the second, and all of %d, got %v: %w", files, s.sizes, engine.ErrUsage)
	}
	if o.Methods != nil {
		s.methods = slices.DeleteFunc(slices.Clone(methods), func(m method) bool { return !slices.Contains(o.Methods, m.name) })
	}
	if err := s.measure(ctx, o.Stderr); err != nil {
		return err
	}
	page := s.page(o)
	if _, err := o.Stdout.Write(page.Bytes()); err != nil || o.Out == "" {
		return err
	}
	return errors.Join(os.MkdirAll(o.Out, 0o777), page.Save(o.Out, "rows"))
}

// A method is one that is measured, on a kind of rows.
type method struct {
	name, rows string
	components int
	columns    int  // the first so many; 0: all
	short      bool // at the least number of rows, because it takes long
}

var methods = []method{
	{name: "gaussian", rows: "one", components: 1},
	{name: "auto", rows: "one"}, // the default, which is not told that there is but one
	{name: "general", rows: "apart", components: clusters},
	{name: "general", rows: "near", components: clusters},
	{name: "separated", rows: "apart", components: clusters},
	{name: "axis-aligned", rows: "apart", components: clusters},
	{name: "univariate", rows: "apart", components: clusters, columns: 1},
	{name: "black-box", rows: "apart", components: clusters, short: true},
}

// A scaling is what is measured.
type scaling struct {
	sizes   []int
	seed    uint64
	methods []method
	began   time.Time
	took    time.Duration

	whole    []whole    // commands, by their rows
	reports  []measured // of methods
	schedule scheduling
	disk     float64 // bytes a second
}

// measure measures all, kind of rows after kind, so that the files of one lie there at a time.
func (s *scaling) measure(ctx context.Context, said *os.File) error {
	folder, err := os.MkdirTemp("", "gauze-scale-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := enough(folder, s.sizes[2]); err != nil {
		return err
	}
	program := filepath.Join(folder, "gauze")
	if err := build(ctx, ".", program, "github.com/gauze-dp/gauze/cmd/gauze"); err != nil {
		return err
	}
	for _, kind := range []string{"one", "apart", "near"} {
		own := slices.DeleteFunc(slices.Clone(s.methods), func(m method) bool { return m.rows != kind })
		if len(own) == 0 {
			continue
		}
		pattern := map[int]string{}
		for _, n := range s.sizes[:2] {
			if pattern[n], err = write(ctx, folder, kind, n, s.seed); err != nil {
				return err
			}
		}
		for _, m := range own {
			for _, n := range s.sizes[:2] {
				if m.short && n == s.sizes[1] {
					continue
				}
				r, err := s.counted(ctx, m, pattern[n], n)
				if err != nil {
					return err
				}
				fmt.Fprintf(said, "%s, %s, %d rows: %+v\n", m.name, m.rows, n, r.passes)
				s.reports = append(s.reports, r)
			}
		}
		if kind == "one" {
			if pattern[s.sizes[2]], err = repeat(folder, kind, s.sizes[1], s.sizes[2]); err != nil {
				return err
			}
			if err := s.commands(ctx, program, folder, pattern, said); err != nil {
				return err
			}
			if s.disk, err = disk(folder, min(1<<30, s.sizes[2]*columns*number)); err != nil {
				return err
			}
			s.schedule = schedule(ctx, folder, pattern[s.sizes[0]])
		}
		if err := os.RemoveAll(filepath.Join(folder, kind)); err != nil {
			return err
		}
	}
	s.took = time.Since(s.began)
	return nil
}

// commands runs whole commands on all numbers of rows.
func (s *scaling) commands(ctx context.Context, program, folder string, pattern map[int]string, said *os.File) error {
	for _, n := range s.sizes {
		w, err := command(ctx, program, folder, pattern[n], n)
		if err != nil {
			return err
		}
		fmt.Fprintf(said, "gauze fit, %d rows: %+v\n", n, w)
		s.whole = append(s.whole, w)
	}
	return nil
}

// width is how many columns a method is handed.
func (m method) width() int {
	if m.columns > 0 {
		return m.columns
	}
	return columns
}
