package tables

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// Names of values, of what a release says of means, spreads and correlations.
const (
	meanOff        = "mean_off"         // the largest, in standard deviations of the column
	ratioOff       = "sd_ratio_off"     // the largest |ratio - 1|
	correlationOff = "correlation_off"  // the largest
	nobody         = "columns_left_out" // columns whose spread is that of too few rows to be seen
	nearly         = "nats_below"       // of the non-private Gaussian's, per held-out row
	nearlyMost     = "nats_below_most"  // the same without the least likely rows of either
	none           = "no_release"
	free           = "refused"
	warned         = "warned"
	enough         = "enough" // n mu is at least enoughRows for each column
)

const (
	momentSplits, mixtureSplits = 6, 3
	// enoughRows times d is the n mu from which on an answer has to be there.
	enoughRows = 60
	// unseenRows/mu rows are too few to be seen, and a column whose standard deviation falls by a
	// part of fewRule without those farthest out is theirs: it is left out of the figures of means,
	// spreads and correlations, and counted.
	unseenRows, fewRule = 10, .2
	// leastLikely is the part of the held-out rows left out of nearlyMost: one row far out can rule
	// a mean of logarithms.
	leastLikely = .001
	// mostTraining rows are fitted where the number of components is left to the method: with more,
	// a study of all files would take an hour.
	mostTraining = 30_000
)

// Moments is the study of what releases of real tables say of means, spreads and correlations.
var Moments = &engine.Study[table]{
	Name: "moments", About: "all CSV files of a folder, in the place of experiments: means, spreads and correlations of releases of real tables",
	Seed: 1, Custom: folder,
	Lead: func(r *results) string {
		return fmt.Sprintf("Delta = %g. *One*: `--components 1`; *auto*: nothing is said, and at most %s rows are fitted. *Warned*: some flag is no routine. Errors are the median over the runs of the "+
			"largest over columns, the model as a whole against the rows that it was fitted to: means in standard deviations, |ratio - 1| of standard deviations, "+
			"correlations. Columns are left out whose standard deviation falls by a fifth without the %d/μ rows farthest out, which are too few to be seen; *few* "+
			"counts them. *Nats below*: how much less likely held-out rows are than under the Gaussian with the rows' own moments, in columns that vary, "+
			"standardised, both with eigenvalues no smaller than what rounding would give (a twelfth of the squared least difference of values); and the same "+
			"without the least likely thousandth of the rows of each.", r.Options.Budget.Delta, engine.Rows(mostTraining), unseenRows)
	},
	Head: func(*results) []string {
		return []string{"n·μ ≥ 60·d", "released", "exit 3", "refused", "warned", "mean (worst)", "sd (worst)", "correlation (worst)", "few", "nats below", "without the least likely", "k",
			"s per fit"}
	},
	Describe: func(_ *results, l *line, n int) []any {
		runs := l.Results[n]
		worst := func(name string) string {
			v := engine.Pick(runs, name)
			return fmt.Sprintf("%s (%s)", engine.Number(engine.Median(v)), engine.Number(engine.Quantile(v, 1)))
		}
		yes := "no"
		if engine.Total(runs, enough) > 0 {
			yes = "yes"
		}
		return []any{yes, engine.Count(runs), engine.Total(runs, none), engine.Total(runs, free), engine.Total(runs, warned), worst(meanOff), worst(ratioOff),
			worst(correlationOff), engine.Med(runs, nobody), engine.Med(runs, nearly), engine.Med(runs, nearlyMost),
			engine.Range(engine.Pick(runs, found)), engine.Seconds(runs)}
	},
	Shown: []string{meanOff, ratioOff, correlationOff, nearly, nearlyMost, found},
}

// A file is a table with the name of its file, up to the first dot.
type file struct {
	name string
	rows table
}

// opened are the files of folders, or those named, and what an experiment on them is called.
func opened(study string, names []string) (e engine.Experiment[table], all []file, err error) {
	var found []string
	for _, name := range names {
		if info, err := os.Stat(name); err != nil {
			return e, nil, err
		} else if !info.IsDir() {
			found = append(found, name)
			continue
		}
		for _, pattern := range []string{"*.csv", "*.csv.gz"} {
			in, err := filepath.Glob(filepath.Join(name, pattern))
			if err != nil {
				return e, nil, err
			}
			found = append(found, in...)
		}
	}
	if len(found) == 0 {
		return e, nil, fmt.Errorf("%s: no CSV files in %s: %w", study, strings.Join(names, " "), engine.ErrUsage)
	}
	for _, name := range found {
		rows, err := read(name)
		if err != nil {
			return e, nil, fmt.Errorf("%s: %w", name, err)
		}
		base, _, _ := strings.Cut(filepath.Base(name), ".")
		all = append(all, file{base, rows})
	}
	e.Name = filepath.Base(names[0])
	return e, all, nil
}

// folder is an experiment on the files of a folder, or on the files named.
func folder(names []string) (engine.Experiment[table], error) {
	e, all, err := opened("moments", names)
	e.Title, e.About = "Means, spreads and correlations of real tables", "Random splits, four fifths of the rows for the fit."
	e.Runs, e.Summary = momentSplits, goals
	e.Lines = func(o engine.Options) (out []*line, note string) {
		for _, f := range all {
			for _, by := range []string{one, auto} {
				for _, epsilon := range []float64{.5, 1, 3, 10} {
					out = append(out, f.rows.moments(o, f.name, by, epsilon))
				}
			}
		}
		return out, ""
	}
	return e, err
}

// What is asked of a table.
const one, auto = "one", "auto"

// moments is a table by a method at an epsilon.
func (t table) moments(o engine.Options, name, by string, epsilon float64) *line {
	r := gauze.Request{Relation: o.Relation, Budget: privacy.Budget{Epsilon: epsilon, Delta: o.Budget.Delta}}
	n, runs := len(t)*4/5, mixtureSplits
	if by == one {
		r.Components, runs = 1, momentSplits
	} else {
		n = min(n, mostTraining)
	}
	return &line{Cell: t, Name: fmt.Sprintf("%s/epsilon=%g", name, epsilon), By: by, Rows: []int{n}, Runs: runs, Params: r.Budget,
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			train, test := t.split(n, seed)
			total, err := privacy.Calibrate(r.Budget, privacy.Needs{})
			if err != nil {
				return engine.Outcome{}, err
			}
			fitted, err := engine.Fit(ctx, train, r)
			out := engine.Outcome{Seconds: fitted.Seconds, Values: engine.Values{}}
			out.Values[enough] = truth(float64(n)*total.Mu >= float64(enoughRows*len(t[0])))
			if err != nil || fitted.Release == nil {
				out.Note = fitted.Why
				out.Values[none], out.Values[free] = truth(strings.HasPrefix(fitted.Why, "no release")), truth(strings.HasPrefix(fitted.Why, "refused"))
				return out, err
			}
			out.Success, out.Values[found] = true, float64(len(fitted.Release.Model.Components))
			warnings, _, _ := engine.Warnings(fitted.Release)
			out.Values[warned] = truth(len(warnings) > 0)
			out.Note = strings.Join(warnings, " | ")
			return out, compare(out.Values, fitted.Release.Model, by == one, train, test, int(unseenRows/total.Mu))
		}}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// complete are the complete rows, by column.
func complete(rows *mat.Dense) [][]float64 {
	n, d := rows.Dims()
	cols := make([][]float64, d)
	for i := range n {
		row := rows.RawRowView(i)
		if slices.ContainsFunc(row, math.IsNaN) {
			continue
		}
		for j, x := range row {
			cols[j] = append(cols[j], x)
		}
	}
	return cols
}

// compare fills in how far the model's moments are from those of the rows that it was fitted to;
// and, where the model is one Gaussian, how likely other rows are.
func compare(out engine.Values, m *model.Mixture, single bool, train, test *mat.Dense, unseen int) error {
	cols := complete(train)
	s := engine.MomentsOf(cols)
	mean, sd, correlation := engine.Overall(m)
	var judged []int // columns that are
	out[meanOff], out[ratioOff], out[correlationOff], out[nobody] = 0, 0, 0, 0
	for a, col := range cols {
		switch {
		case s.SD[a] == 0:
			continue
		case engine.Without(slices.Sorted(slices.Values(col)), unseen).SD[0] < (1-fewRule)*s.SD[a]:
			out[nobody]++
			continue
		}
		judged = append(judged, a)
		out[meanOff] = math.Max(out[meanOff], math.Abs(mean[a]-s.Mean[a])/s.SD[a])
		out[ratioOff] = math.Max(out[ratioOff], math.Abs(sd[a]/s.SD[a]-1))
		for _, b := range judged[:len(judged)-1] {
			if sd[a] > 0 && sd[b] > 0 {
				out[correlationOff] = math.Max(out[correlationOff], math.Abs(correlation(a, b)-s.Correlation(a, b)))
			}
		}
	}
	if !single {
		return nil
	}
	return below(out, m, s, cols, complete(test))
}

// What releases are to say where there are as many rows as that.
const (
	goalRows                             = 15_000
	goalMean, goalRatio, goalCorrelation = .03, .15, .05
	goalNats                             = .3
)

// goals counts the fits that are as good as wanted.
func goals(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"asked", "fits with n·μ ≥ 60·d", "exit 3 of them", fmt.Sprintf("released from %s rows", engine.Rows(goalRows)),
		fmt.Sprintf("means within %g", goalMean), fmt.Sprintf("sds within %g", goalRatio), fmt.Sprintf("correlations within %g", goalCorrelation), "all three",
		fmt.Sprintf("within %g nats", goalNats)}}
	for _, by := range r.Contenders() {
		answers, empty, released, all := 0, 0, 0, 0
		within := map[string]int{}
		for _, l := range r.By(by) {
			for n, runs := range l.Results {
				for _, run := range runs {
					if run.Values[enough] > 0 && run.Values[free] == 0 {
						answers++
						empty += int(run.Values[none])
					}
					if !run.Success || n < goalRows {
						continue
					}
					released++
					good := true
					for name, most := range map[string]float64{meanOff: goalMean, ratioOff: goalRatio, correlationOff: goalCorrelation} {
						if run.Values[name] <= most {
							within[name]++
						} else {
							good = false
						}
					}
					if good {
						all++
					}
					if v, ok := run.Values[nearlyMost]; ok && v <= goalNats {
						within[nearlyMost]++
					}
				}
			}
		}
		t.Add(by, answers, empty, released, within[meanOff], within[ratioOff], within[correlationOff], all, within[nearlyMost])
	}
	p.Table(t)
}
