package tables

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner/em"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// Names of values, of what the default says of a table beside one Gaussian.
const (
	gauss      = "one_gaussian"   // nats per held-out row of `--components 1`
	under      = "below_one"      // by how much the default's are less
	underMost  = "below_one_most" // the same without the least likely rows of either
	nobodys    = "nobody"         // components that no row is near
	background = "background"     // weight of what is no component
)

const (
	fileRuns = 6
	// A row is near a component within nearSDs of its standard deviations.
	nearSDs = 3.0
	// mostEM rows are fitted without privacy, from few starts.
	mostEM, startsEM = 16_000, 2
)

// withoutPrivacy is EM on the rows, the best of some numbers of components on the held-out rows.
const withoutPrivacy = "EM without privacy"

var numbersEM = []int{1, 2, 3, 5, 8, 12, 20, 30}

// Files is the study of the default on tables as they are.
var Files = &engine.Study[table]{
	Name: "files", About: "all CSV files of a folder, in the place of experiments: the default beside one private Gaussian",
	Seed: 1, Custom: files,
	Lead: func(r *results) string {
		return fmt.Sprintf("Delta = %g; nothing else is said, and at most %s rows are fitted. Nats are those per held-out row, in columns that vary, standardised; every "+
			"component is widened by what rounding would give (a twelfth of the squared least difference of values). *Below one*: by how much they are less than those "+
			"of `--components 1` with the same budget on the same rows; the largest of the runs, and the largest without the least likely thousandth of the rows of each. *Nobody*: components, "+
			"background apart, with no row within %g of their standard deviations, of all. Overall moments as in `moments`.", r.Options.Budget.Delta, engine.Rows(mostTraining), nearSDs)
	},
	Head: func(*results) []string {
		return []string{"released", "nats", "least", "one private Gaussian", "least", "below one, most", "most rows", "nobody", "k", "background", "mean off", "sd off", "s per fit"}
	},
	Describe: func(_ *results, l *line, n int) []any {
		runs := l.Results[n]
		least := func(name string) string { return nats(engine.Quantile(engine.Pick(runs, name), 0)) }
		most := func(name string) string { return nats(engine.Quantile(engine.Pick(runs, name), 1)) }
		if l.By == withoutPrivacy {
			return []any{engine.Count(runs), nats(engine.Median(engine.Pick(runs, score))), least(score), "", "", "", "", "", engine.Range(engine.Pick(runs, found)), "", "", "", engine.Seconds(runs)}
		}
		return []any{engine.Rate(engine.Count(runs), len(runs)), nats(engine.Median(engine.Pick(runs, score))), least(score), nats(engine.Median(engine.Pick(runs, gauss))), least(gauss),
			most(under), most(underMost), engine.Rate(engine.Total(runs, nobodys), engine.Total(runs, found)), engine.Range(engine.Pick(runs, found)),
			engine.Med(runs, background), engine.Med(runs, meanOff), engine.Med(runs, ratioOff), engine.Seconds(runs)}
	},
	Shown: []string{score, gauss, under, underMost, nobodys, found, background, meanOff, ratioOff},
}

// files is an experiment on the files of a folder, or on the files named.
func files(names []string) (engine.Experiment[table], error) {
	e, all, err := opened("files", names)
	if err != nil {
		return e, err
	}
	e.Title, e.Runs, e.About = "The default on tables as they are", fileRuns, "Random splits, four fifths of the rows for the fit."
	e.Lines = func(o engine.Options) (out []*line, note string) {
		for _, f := range all {
			for _, epsilon := range []float64{.5, 1, 3, 10} {
				out = append(out, f.rows.beside(o, f.name, epsilon))
			}
			out = append(out, f.rows.learned(o, f.name))
		}
		return out, ""
	}
	return e, nil
}

// split is a random one of so many rows for a fit, and a quarter as many to judge it by.
func (t table) split(n int, seed uint64) (train, test *mat.Dense) {
	order := rand.New(rand.NewPCG(seed, 1)).Perm(len(t))
	n = min(n, len(t)*4/5)
	return t.pick(order[:n]), t.pick(order[n:min(len(t), n+(n+3)/4)])
}

// beside is a table by the default and by one Gaussian.
func (t table) beside(o engine.Options, name string, epsilon float64) *line {
	r := gauze.Request{Relation: o.Relation, Budget: privacy.Budget{Epsilon: epsilon, Delta: o.Budget.Delta}}
	return &line{Cell: t, Name: fmt.Sprintf("%s/epsilon=%g", name, epsilon), By: "default", Rows: []int{min(len(t)*4/5, mostTraining)}, Params: r.Budget,
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			train, test := t.split(n, seed)
			out := engine.Outcome{Values: engine.Values{}}
			total, err := privacy.Calibrate(r.Budget, privacy.Needs{})
			if err != nil {
				return out, err
			}
			one := r
			one.Components = 1
			plain, err := engine.Fit(ctx, train, one)
			if err != nil {
				return out, err
			}
			fitted, err := engine.Fit(ctx, train, r)
			if out.Seconds = fitted.Seconds; err != nil || fitted.Foreground == nil {
				out.Note = fitted.Why
				return out, err
			}
			s := scaleOf(train)
			out.Success, out.Values[found], out.Values[background] = true, float64(fitted.Foreground.K()), fitted.Background
			out.Values[nobodys] = s.nobody(fitted.Release, train)
			warnings, _, _ := engine.Warnings(fitted.Release)
			out.Note = strings.Join(warnings, " | ")
			ours, err := s.densities(fitted.Release.Model, test)
			if err != nil {
				return out, err
			}
			out.Values[score] = stat.Mean(ours, nil)
			if plain.Release != nil {
				theirs, err := s.densities(plain.Release.Model, test)
				if err != nil {
					return out, err
				}
				out.Values[gauss] = stat.Mean(theirs, nil)
				out.Values[under], out.Values[underMost] = out.Values[gauss]-out.Values[score], likely(theirs)-likely(ours)
			}
			return out, compare(out.Values, fitted.Release.Model, false, train, test, int(unseenRows/total.Mu))
		}}
}

// learned is a table without privacy.
func (t table) learned(o engine.Options, name string) *line {
	return &line{Cell: t, Name: name, By: withoutPrivacy, Rows: []int{min(len(t)*4/5, mostEM)}, Runs: 1,
		Make: func(ctx context.Context, n int, seed uint64) (out engine.Outcome, err error) {
			train, test := t.split(n, seed)
			s := scaleOf(train)
			rows := s.rows(train)
			out.Values = engine.Values{}
			for _, k := range numbersEM {
				if err := ctx.Err(); err != nil {
					return out, err
				}
				m, err := s.learn(rows, k, seed)
				if err != nil {
					continue // too many components for these rows
				}
				v, err := s.densities(m, test)
				if err != nil {
					return out, err
				}
				if mean := stat.Mean(v, nil); !out.Success || mean > out.Values[score] {
					out.Success, out.Values[score], out.Values[found] = true, mean, float64(k)
				}
			}
			return out, nil
		}}
}

// A scale is what columns are judged in: those that vary, their moments, and the variance of
// rounding.
type scale struct {
	vary               []int
	mean, sd, rounding []float64 // of all columns
}

func scaleOf(train *mat.Dense) (s scale) {
	for j, col := range complete(train) {
		mean, variance := stat.PopMeanVariance(col, nil)
		s.mean, s.sd, s.rounding = append(s.mean, mean), append(s.sd, math.Sqrt(variance)), append(s.rounding, 0)
		if variance > 0 {
			unit := leastDifference(col)
			s.vary, s.rounding[j] = append(s.vary, j), unit*unit/12
		}
	}
	return s
}

// judged is a component in the columns that vary, standardised, with what rounding adds.
func (s scale) judged(g model.Gaussian) (model.Gaussian, error) {
	out := model.Gaussian{Mean: make([]float64, len(s.vary))}
	cov := mat.NewSymDense(len(s.vary), nil)
	for i, a := range s.vary {
		out.Mean[i] = (g.Mean[a] - s.mean[a]) / s.sd[a]
		for j, b := range s.vary[:i+1] {
			cov.SetSym(i, j, g.Cov.At(a, b)/s.sd[a]/s.sd[b])
		}
		cov.SetSym(i, i, cov.At(i, i)+s.rounding[a]/s.sd[a]/s.sd[a])
	}
	var err error
	out.Cov, err = model.NewFull(cov)
	return out, err
}

// densities are the logarithms of those of the complete rows.
func (s scale) densities(m *model.Mixture, rows *mat.Dense) ([]float64, error) {
	var weights []float64
	var gs []model.Gaussian
	for i, g := range m.Components {
		in, err := s.judged(g)
		if err != nil {
			return nil, err
		}
		weights, gs = append(weights, m.Weights[i]), append(gs, in)
	}
	in, err := model.New(nil, weights, gs)
	if err != nil {
		return nil, err
	}
	scorer, err := model.NewScorer(in)
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, row := range s.rows(rows) {
		out = append(out, scorer.LogDensity(row))
	}
	return out, nil
}

// rows are the complete ones, in the columns that vary, standardised.
func (s scale) rows(rows *mat.Dense) (out [][]float64) {
	n, _ := rows.Dims()
	for i := range n {
		row := rows.RawRowView(i)
		if slices.ContainsFunc(row, math.IsNaN) {
			continue
		}
		z := make([]float64, len(s.vary))
		for k, a := range s.vary {
			z[k] = (row[a] - s.mean[a]) / s.sd[a]
		}
		out = append(out, z)
	}
	return out
}

// nobody counts components, background apart, that no row is near.
func (s scale) nobody(r *release.Release, train *mat.Dense) (none float64) {
	rows := s.rows(train)
	groups, _ := r.Model.Split()
	for _, i := range groups {
		g := r.Model.Components[i]
		in, err := s.judged(g)
		if err != nil || !slices.ContainsFunc(rows, func(row []float64) bool {
			return madeup.LogDensity(in, row) >= madeup.LogDensity(in, in.Mean)-nearSDs*nearSDs/2
		}) {
			none++
		}
	}
	return none
}

// learn is EM on rows that are standardised, back in the table's columns.
func (s scale) learn(rows [][]float64, k int, seed uint64) (*model.Mixture, error) {
	found, err := em.Learner{Starts: startsEM}.LearnMixture(rows, k, seed)
	if err != nil {
		return nil, err
	}
	d := len(s.mean)
	var weights []float64
	var gs []model.Gaussian
	for _, c := range found {
		g := model.Gaussian{Mean: slices.Clone(s.mean)}
		cov := mat.NewSymDense(d, nil)
		for i, a := range s.vary {
			g.Mean[a] += s.sd[a] * c.Mean[i]
			for j, b := range s.vary[:i+1] {
				cov.SetSym(a, b, s.sd[a]*s.sd[b]*floats.Dot(c.Root[i], c.Root[j]))
			}
		}
		if g.Cov, err = model.NewFull(cov); err != nil {
			return nil, err
		}
		weights, gs = append(weights, c.Weight), append(gs, g)
	}
	return model.New(nil, weights, gs)
}
