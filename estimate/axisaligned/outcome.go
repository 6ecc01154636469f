package axisaligned

import (
	"math"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/partition"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// outcome turns the components into a model, heaviest first.
func (f *fit) outcome(r *privateem.Rounds, overall *program.Overall) estimate.Outcome {
	switch {
	case len(r.Components) > 0:
	case r.Outlier == nil:
		return f.Refuse("no component holds enough rows to be seen")
	default:
		f.Notes.Flag(flags.New(flags.OneComponent, "no component holds enough rows to be seen; one wide component describes the rows that were seen"))
		r.Outlier.Weight = 1
		r.Components, r.Outlier = []component.Gaussian{*r.Outlier}, nil
	}
	cs := program.Heaviest(r.Components)
	f.Notes.Flag(program.LeftOut(f.Problem.Components, len(cs))...)
	for i := range f.All {
		if f.constant(i) && r.Outlier == nil {
			f.Notes.ConstantColumns = append(f.Notes.ConstantColumns, i)
		}
	}
	out := program.NewDraft(f.All, f.Notes)
	if pairs := r.Correlated(); len(pairs) > 0 {
		out.Notes.Flag(correlated(pairs))
	}
	background, outside := r.Beside()
	for i := range cs {
		cs[i].Weight *= 1 - outside
	}
	for _, j := range overall.Agree(append(slices.Clone(cs), background...), toldMisfit) {
		out.Notes.Flag(flags.New(flags.NotGaussian, "column %v is far from Gaussian within components; they were moved and widened to match its mean and sd", flags.Ref{j}).In(j))
	}
	add := func(weight float64, g component.Gaussian, note estimate.ComponentNote) {
		variances := make([]float64, f.All)
		for i := range variances {
			variances[i] = g.Cov.At(i, i)
			if value, is := f.point(i, g.Mean[i], math.Sqrt(variances[i])); is && !note.Background {
				g.Mean[i], variances[i] = value, 0
			}
		}
		cov, err := program.OfVariances(variances, r.Form == query.SphericalForm)
		out.Add(weight, g.Mean, cov, err, note)
	}
	for _, g := range cs {
		add(g.Weight, g, program.GaussianNote(g, 1))
	}
	for _, wide := range background {
		add(wide.Weight, wide, estimate.ComponentNote{EffectiveRows: wide.Rows, Background: true})
	}
	share, noise := r.LeftOut()
	where := "they lie far from all components"
	if len(background) > 0 {
		where += "; a component marked as background describes them"
	}
	if len(out.Notes.ConstantColumns) > 0 {
		out.Notes.Flag(flags.New(flags.ConstantColumn, "constant columns: up to about %.0f rows (%.1f%%) may differ from the released value without being seen", unseenSDs*noise*f.Rows, 100*unseenSDs*noise).
			In(out.Notes.ConstantColumns...).Of(0, noise))
	}
	out.LeavesOut(estimate.Undescribed{Share: share, Noise: noise, Where: where})
	outcome := out.Outcome()
	outcome.Missing = f.gaps
	return outcome
}

// toldMisfit is the part of a column's sd by which a mean or an sd has to be off to be reported. A
// guess.
const toldMisfit = .05

// constant reports a column in which all boxes have one value.
func (f *fit) constant(i int) bool {
	return !slices.ContainsFunc(f.found, func(b partition.Box) bool { return !b.Atom[i] || b.Center[i] != f.found[0].Center[i] })
}

// point returns the value of column i of a component that has a single value there.
func (f *fit) point(i int, mean, sd float64) (value float64, is bool) {
	if f.constant(i) {
		return f.found[0].Center[i], true
	}
	for _, b := range f.found {
		if b.Atom[i] && partition.IsPoint(b.Center[i], sd) && partition.IsPoint(b.Center[i], math.Abs(mean-b.Center[i])) {
			return b.Center[i], true
		}
	}
	return mean, false
}

// unseenSDs of the noise of a count may be rows. A guess.
const unseenSDs = 4.0

// toldPairs are named at most. A guess.
const toldPairs = 3

// correlated returns the flag of the pairs.
func correlated(pairs []privateem.Pair) estimate.Flag {
	var columns []int
	for _, p := range pairs {
		columns = append(columns, p.I, p.J)
	}
	slices.Sort(columns)
	var format []string
	var args []any
	for _, p := range pairs[:min(len(pairs), toldPairs)] {
		format, args = append(format, "columns %v and %v (about %.1f)"), append(args, flags.Ref{p.I}, flags.Ref{p.J}, p.Rho)
	}
	text := "correlated within components: " + strings.Join(format, ", ")
	if more := len(pairs) - toldPairs; more > 0 {
		text, args = text+" and %d pairs more", append(args, more)
	}
	return flags.New(flags.Correlated, text+": axis-aligned components cannot show it; use --method general", args...).In(slices.Compact(columns)...)
}
