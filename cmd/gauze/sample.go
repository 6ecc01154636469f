package main

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/model/synthetic"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report"
)

// rowsFlags are --rows, --seed and --no-background.
type rowsFlags struct {
	set  *pflag.FlagSet
	rows int
	seed uint64
	// leave out the background of what is read
	noBackground bool
}

func (f *rowsFlags) registerBackground(flags *pflag.FlagSet) {
	flags.BoolVar(&f.noBackground, "no-background", false, "without the background: the components that stand for rows in no group")
}

// read reads a release, and says what becomes of its background.
func (f *rowsFlags) read(e *shell.Env, path string) (*release.Release, error) {
	r, err := readRelease(e, path)
	if err != nil {
		return nil, err
	}
	f.background(e, path, r)
	return r, nil
}

// background takes the background out of what was read, if it is not wanted, and says what becomes
// of it.
func (f *rowsFlags) background(e *shell.Env, path string, r *release.Release) {
	rest, share := r.Model.WithoutBackground()
	switch {
	case share == 0:
	case f.noBackground:
		r.Model = rest
		e.Note("note: the background of %s, %.2g%% of the rows, is left out\n", path, 100*share)
	case share >= report.LeastBackground: // less is a floor, and no finding
		e.Note("note: %s has a background of %.2g%% of the rows, which is in no group; --no-background leaves it out\n", path, 100*share)
	}
}

func (f *rowsFlags) register(flags *pflag.FlagSet, seedHelp string) {
	f.set = flags
	flags.IntVar(&f.rows, "rows", 0, "number of rows (required)")
	flags.Uint64Var(&f.seed, "seed", 0, seedHelp)
}

func (f *rowsFlags) check() error {
	switch {
	case !f.set.Changed("rows"):
		return shell.Wrong("--rows", "a number of rows", "nothing", "for instance --rows 1000")
	case f.rows < 0:
		return shell.Wrong("--rows", "a number that is not negative", f.rows, "for instance --rows 1000")
	}
	return nil
}

func (f *rowsFlags) rng() *rand.Rand {
	if f.set.Changed("seed") {
		return seeded(f.seed)
	}
	return unseeded()
}

func sampleCommand() shell.Command {
	f, by, missing := &rowsFlags{}, false, false
	return shell.Command{
		Use: "sample RELEASE --rows N [--seed S]", Short: "draw synthetic rows from a release, as CSV",
		Least: 1, Most: 1, Flags: func(flags *pflag.FlagSet) {
			f.register(flags, "seed, to draw the same rows again (default: none)")
			f.registerBackground(flags)
			flags.BoolVar(&by, "by", false, "of a release of groups: the columns that make them first")
			flags.BoolVar(&missing, "missing", false, "leave as many cells of numbers empty as the table's were")
		},
		Run: func(e *shell.Env, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			r, err := readAny(e, args[0])
			switch {
			case err != nil:
				return err
			case r.Groups != nil:
				from, head := ofGroups(r, by)
				if err := leaveGaps(from, missing); err != nil {
					return err
				}
				return writeRows(e, from, head, f.rows, f.rng())
			case by:
				return shell.Wrong("--by", "a release of groups", "one model", "leave it out")
			case r.Model == nil:
				return noModel(args[0])
			}
			from := []drawn{{synthetic.Part{Model: r.Model}, r}}
			if err := leaveGaps(from, missing); err != nil {
				return err
			}
			groups, _ := r.Model.Split()
			f.background(e, args[0], r)
			if own := &from[0]; own.Model != r.Model && missing { // left out
				all := own.Missing
				own.Missing = nil
				for _, k := range groups {
					own.Missing = append(own.Missing, all[k])
				}
			}
			from[0].Model = r.Model
			return writeRows(e, from, nil, f.rows, f.rng())
		},
	}
}

// leaveGaps leaves cells of numbers empty, each independently, with the probabilities of a row's
// component where they are released, or else those in the profiles of the releases. Within a
// component patterns of cells that are missing together are lost.
func leaveGaps(from []drawn, missing bool) error {
	if !missing {
		return nil
	}
	for i := range from {
		d := &from[i]
		gaps := make([]float64, d.Model.Dim())
		for j, name := range d.Model.Columns {
			at := slices.IndexFunc(d.of.Profile, func(c release.ColumnProfile) bool { return c.Name == name })
			if at < 0 {
				return shell.Wrong("--missing", "a release with a profile, as default fits have", "none of "+strconv.Quote(name), "fit again with --method general and rows enough for its profile, or leave --missing out")
			}
			if c := d.of.Profile[at]; 1-c.Cells > seenGaps*c.CellsNoise {
				gaps[j] = 1 - c.Cells
			}
		}
		notes := d.of.Diagnostics.Components
		for k := range d.Model.Components {
			own := slices.Clone(gaps)
			if k < len(notes) {
				for j, name := range d.Model.Columns {
					if share, measured := notes[k].Missing[name]; measured {
						own[j] = share
					}
				}
			}
			d.Missing = append(d.Missing, own)
		}
	}
	return nil
}

// seenGaps is the number of noise sds from which on missing cells are drawn: a share that may be
// zero counts as zero.
const seenGaps = 2
